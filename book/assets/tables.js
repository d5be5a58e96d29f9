// Tables that can be sorted and taken away: buttons in the headings, and the rows as shown, as CSV.
// Without this script every table stands as it was written.
(function (root) {
  "use strict";
  const LEAST_ROWS = 6; // fewer rows are read at a glance
  const POWERS = "⁰¹²³⁴⁵⁶⁷⁸⁹";
  const COUNTS = { k: 1e3, M: 1e6, B: 1e9, T: 1e12 };
  const PREFIXES = { n: 1e-9, µ: 1e-6, μ: 1e-6, m: 1e-3, k: 1e3, M: 1e6, G: 1e9, T: 1e12, P: 1e15, E: 1e18, Z: 1e21, Y: 1e24 };
  const TIMES = { s: 1, min: 60, h: 3600, hour: 3600, hours: 3600, day: 86400, days: 86400, year: 31557600, years: 31557600 };

  // --- what a cell says -------------------------------------------------------------------------------------------
  function textOf(cell) {
    let from = cell;
    if (cell.querySelector(".math")) {
      from = cell.cloneNode(true);
      for (const m of from.querySelectorAll(".math")) m.replaceWith(m.dataset.tex || m.textContent);
    }
    return from.textContent.replace(/\s+/g, " ").trim();
  }
  function scale(unit, bytes) {
    const word = (unit.match(/^[^\s),;(]+/) || [""])[0];
    if (word in TIMES) return TIMES[word];
    if (word === "B" && bytes) return 1;
    if (word in COUNTS) return COUNTS[word];
    const si = word.match(/^([nµμmkMGTPEZY])(?:s|B|bit|bits|FLOPs?|W|Wh|Hz)(?:\/.*)?$/);
    return si ? PREFIXES[si[1]] : 1;
  }
  // The number that a cell begins with, in plain units: "$1.2 M", "147 kB", "62 to 100 x", "3.1 × 10⁻⁷"; else null.
  function numberIn(text, bytes) {
    const plain = text.replace(/\u2212/g, "-").replace(/\s+/g, " ").trim()
      .replace(/ ?× ?10(⁻?)([⁰¹²³⁴⁵⁶⁷⁸⁹]+)/g, (_, sign, digits) => "e" + (sign ? "-" : "") + [...digits].map((d) => POWERS.indexOf(d)).join(""));
    if (/^\d{4}-\d\d/.test(plain)) return null; // a date sorts as text
    const found = plain.match(/^[~≈<>≤≥±+]? ?(-?)\$?(\d[\d,]*(?:\.\d+)?(?:e-?\d+)?) ?(.*)$/);
    if (!found) return null;
    const later = found[3].match(/^(?:to|–|-) ?-?\$?[\d.,]+(?:e-?\d+)? ?(.*)$/); // a range's unit stands at its end
    const value = Number(found[2].replace(/,/g, "")) * scale(later ? later[1] : found[3], bytes);
    return found[1] ? -value : value;
  }
  const unknown = (text) => text === "" || /^[–—-]$/.test(text) || text === "unknown";
  const order = new Intl.Collator("en", { numeric: true, sensitivity: "base" }).compare;

  // Places of the cells in ascending (1) or descending (-1) order; what is unknown comes last either way.
  function sorted(texts, direction) {
    const bytes = texts.some((t) => /\d\s?[kMGT]B\b/.test(t)), known = texts.filter((t) => !unknown(t));
    const numbers = texts.map((t) => numberIn(t, bytes));
    const numeric = known.length > 0 && known.filter((t) => numberIn(t, bytes) !== null).length >= 0.8 * known.length;
    const missing = (i) => unknown(texts[i]) || (numeric && numbers[i] === null);
    return texts.map((_, i) => i).sort((a, b) => {
      if (missing(a) || missing(b)) return missing(a) - missing(b) || a - b;
      return direction * (numeric ? numbers[a] - numbers[b] : order(texts[a], texts[b])) || a - b;
    });
  }
  const quoted = (text) => (/[",\n]/.test(text) ? '"' + text.replace(/"/g, '""') + '"' : text);
  const csv = (rows) => rows.map((row) => row.map(quoted).join(",") + "\r\n").join("");
  root.rleconTables = { numberIn, sorted, csv };
  if (typeof document === "undefined") return;

  // --- the page ---------------------------------------------------------------------------------------------------
  function sortable(table) {
    const body = table.tBodies[0], heads = [...table.querySelectorAll("thead th")], written = [...body.rows];
    if (written.length < LEAST_ROWS || table.querySelector("[rowspan], [colspan]")) return;
    heads.forEach((head, column) => {
      const label = head.querySelector("p") || head;
      if (!label.textContent.trim() || label.querySelector("a")) return;
      const button = document.createElement("button");
      button.type = "button";
      button.className = "table-sort";
      button.title = "Sort by this column";
      button.append(...label.childNodes);
      label.append(button);
      button.addEventListener("click", () => {
        const next = { ascending: "descending", descending: "" }[head.getAttribute("aria-sort")] ?? "ascending";
        for (const h of heads) h.removeAttribute("aria-sort");
        if (next) head.setAttribute("aria-sort", next);
        const texts = written.map((row) => textOf(row.cells[column]));
        const places = next ? sorted(texts, next === "ascending" ? 1 : -1) : written.map((_, i) => i);
        body.append(...places.map((i) => written[i]));
      });
    });
  }
  function save(text, name) {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([text], { type: "text/csv" }));
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  }
  for (const m of document.querySelectorAll("table .math")) m.dataset.tex = m.textContent.trim().replace(/^\\\(|\\\)$/g, "");
  const page = (location.pathname.split("/").pop() || "index").replace(/\.html$/, "");
  document.querySelectorAll(".table-tools").forEach((tools, i) => {
    const table = tools.previousElementSibling.querySelector("table"), button = tools.querySelector("button");
    if (table.tBodies.length) sortable(table);
    button.disabled = false;
    button.addEventListener("click", () => {
      const rows = [...table.rows].filter((row) => !row.hidden).map((row) => [...row.cells].map(textOf));
      save(csv(rows), `${page}-table-${i + 1}.csv`);
    });
  });
})(typeof globalThis !== "undefined" ? globalThis : this);
