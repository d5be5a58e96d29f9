// The ledger of claims, by verdict and by chapter; the choice lives in the address: #ledger?verdict=open&chapter=tool-use
(function () {
  "use strict";
  const form = document.querySelector(".ledger-filter");
  if (!form) return;
  const clean = (text) => text.replace(/\s+/g, " ").trim();
  const rows = [], parts = [], titles = {};
  for (const heading of document.querySelectorAll(".bd-article h2.rubric")) {
    const box = heading.nextElementSibling, table = box && box.querySelector("table");
    if (!table) continue;
    const verdict = [...table.rows[0].cells].findIndex((cell) => clean(cell.textContent) === "verdict");
    if (verdict < 0) continue;
    const link = heading.querySelector("a[href*='.html']");  // the address names a chapter by its page
    const chapter = link ? link.getAttribute("href").replace(/\.html.*/, "").replace(/.*\//, "") : clean(heading.textContent);
    titles[chapter] = clean(heading.textContent);
    const tools = box.nextElementSibling, part = { nodes: [heading, box], rows: [] };
    if (tools && tools.classList.contains("table-tools")) part.nodes.push(tools);
    for (const row of table.tBodies[0].rows) {
      part.rows.push(row);
      rows.push({ row, chapter, verdict: clean(row.cells[verdict].textContent).replace(/ \(.*/, "") });
    }
    parts.push(part);
  }
  const selects = [...form.querySelectorAll("select")], said = form.querySelector("[role=status]");
  const keys = selects.map((select) => select.name);
  const chosen = Object.fromEntries(keys.map((key) => [key, ""]));
  const values = Object.fromEntries(keys.map((key) => [key, [...new Set(rows.map((r) => r[key]))]]));
  values.verdict.sort();
  const fits = (r, without) => keys.every((key) => key === without || !chosen[key] || r[key] === chosen[key]);

  function show() {
    for (const r of rows) r.row.hidden = !fits(r);
    for (const part of parts) for (const node of part.nodes) node.hidden = part.rows.every((row) => row.hidden);
    for (const select of selects) {
      const left = rows.filter((r) => fits(r, select.name));
      for (const option of select.options) {
        const n = left.filter((r) => !option.value || r[select.name] === option.value).length;
        const name = select.name === "chapter" && titles[option.value] || option.value || "all";
        option.textContent = `${name} (${n})`;
      }
      select.value = chosen[select.name];
    }
    said.textContent = `${rows.filter((r) => !r.row.hidden).length} of ${rows.length} claims shown`;
  }
  // What the address asks for, as far as there is such a verdict or chapter.
  function read() {
    const asked = new URLSearchParams((location.hash.match(/^#ledger\?(.*)$/) || ["", ""])[1]);
    for (const key of keys) chosen[key] = values[key].includes(asked.get(key)) ? asked.get(key) : "";
    show();
  }
  function write() {
    const asked = new URLSearchParams(keys.filter((key) => chosen[key]).map((key) => [key, chosen[key]]));
    const hash = String(asked) ? "#ledger?" + asked : "";
    history.replaceState(null, "", location.href.split("#")[0] + hash);
  }
  for (const select of selects) {
    for (const value of values[select.name]) select.append(new Option(value, value));
    select.disabled = false;
    select.addEventListener("change", () => { chosen[select.name] = select.value; show(); write(); });
  }
  window.addEventListener("hashchange", () => { if (/^#ledger\?/.test(location.hash)) read(); });
  read();
})();
