// The whole bill: where a step goes, what to change first, what to beware of, and the run as a file, both ways.
(function (root) {
  "use strict";
  const P = root.rleconPure || (typeof require === "function" ? require("./calculator.js") : null);

  // --- what to change first: the twin of rlecon.sensitivity -----------------------------------------------------------
  function watched(v) { return ["usd_run", "gpu_hours_run", "usd_per_step"].find((n) => v[n] !== null && n in v) || "gpu_hours_per_step"; }
  function elasticities(c, state, v) {
    const output = watched(v), now = Math.log(v[output]), rows = [], { step, least, kink } = c.elasticity;
    for (const d of c.dials) {
      if (d.whole) continue;
      const names = state[d.key] === null && d.proxies.length ? d.proxies : [d.quantity];
      if (names.some((n) => !Number.isFinite(v[n]) || v[n] === 0)) continue;
      const sides = [1 - step, 1 + step].map((f) => {
        const change = {};
        for (const n of names) change[n] = v[n] * f;
        const { values, reason } = P.evaluate(c, state, change);
        return reason === null ? (Math.log(values[output]) - now) / Math.log1p(f - 1) : NaN;
      });
      const good = sides.filter(Number.isFinite);
      if (!good.length || Math.max(...good.map(Math.abs)) < least) continue;
      const row = { key: d.key, elasticity: good.reduce((a, b) => a + b) / good.length };
      if (good.length === 2 && Math.abs(sides[0] - sides[1]) > kink) { row.below = sides[0]; row.above = sides[1]; }
      rows.push(row);
    }
    return rows.sort((a, b) => Math.abs(b.elasticity) - Math.abs(a.elasticity));
  }
  function nextSettings(c, state, v) {
    const output = watched(v), rows = [];
    for (const key of c.turns) {
      const d = c.dials.find((x) => x.key === key), choice = c.choices.find((x) => x.key === key);
      const now = d ? (state[key] === null ? v[d.turned] : state[key]) : state[key];
      const others = d ? [now * 2, now / 2].filter((x) => P.admits(d, x)) : choice.options.map((o) => o[0]).filter((x) => x !== now);
      for (const next of others) {
        const other = Object.assign({}, state, { [key]: next });
        if (key !== "rollout.tensor_parallel" && "rollout.tensor_parallel" in other && other["rollout.tensor_parallel"] === null) {
          other["rollout.tensor_parallel"] = v.tensor_parallel;
        }
        const pools = ["hardware.rollout_gpus", "judge.gpus"].filter((k) => key === "hardware.gpus" && other[k] > 0);
        for (const k of pools) other[k] *= next / now;
        if (!pools.every((k) => Number.isInteger(other[k]))) continue;
        const { values, reason } = P.evaluate(c, other);
        if (reason !== null || !Number.isFinite(values[output])) continue;
        const row = { key, now, next, ratio: values[output] / v[output] };
        if (v[c.signal] > 0 && values[c.signal] > 0) row.perSignal = row.ratio * v[c.signal] / values[c.signal];
        rows.push(row);
      }
    }
    const rank = (r) => (r.perSignal === undefined ? r.ratio : r.perSignal);
    return rows.sort((a, b) => rank(a) - rank(b));
  }
  const share = (x) => (x > 0 && x < 0.01 ? "<\u00a01\u00a0%" : P.format(x, "%", 2));
  const label = (c, key) => (c.dials.find((d) => d.key === key) || c.choices.find((x) => x.key === key)).label;
  const worded = (c, key, x) => {
    const choice = c.choices.find((y) => y.key === key);
    return choice ? choice.options.find((o) => o[0] === x)[1] : String(x);
  };
  const signed = (x) => (x < 0 ? "\u2212" : "+") + Math.abs(x).toFixed(2);
  function elasticityText(c, r) {
    return [label(c, r.key), r.below === undefined ? signed(r.elasticity) : signed(r.below) + " down, " + signed(r.above) + " up"];
  }
  function settingText(c, r) {
    return [label(c, r.key) + ": " + worded(c, r.key, r.now) + " \u2192 " + worded(c, r.key, r.next),
      "\u00d7" + r.ratio.toFixed(2), r.perSignal === undefined ? "" : "\u00d7" + r.perSignal.toFixed(2)];
  }

  // --- levers, each alone ----------------------------------------------------------------------------------------------
  function leverAnswers(c, base) { // each alone: new dollars over old, or why not
    const now = P.evaluate(c, base), output = now.reason ? null : watched(now.values);
    return c.levers.map((lever) => {
      let why = P.refusal(lever, base);
      if (why) return { name: lever.name, why, ratio: null };
      const { values, reason } = P.evaluate(c, P.pulled(c, base, new Set([lever.name])));
      why = reason || "";
      return { name: lever.name, why, ratio: why || output === null ? null : values[output] / now.values[output] };
    });
  }

  // --- the run as a file ---------------------------------------------------------------------------------------------------
  function given(c, state) { // [key, TOML value] of everything that differs from the run file's defaults
    const out = [];
    for (const key of c.known) {
      const d = c.dials.find((x) => x.key === key), choice = c.choices.find((x) => x.key === key);
      if (d) { if (state[key] !== null && state[key] !== c.fileDefaults[key]) out.push([key, String(state[key])]); }
      else if (choice) {
        const x = state[key], bare = x === "true" || x === "false" || /^\d+$/.test(x);
        const open = choice.options.some((o) => o[0] === "default"); // then even the default is worth a line
        if (x !== "default" && (open || x !== String(c.fileDefaults[key]))) out.push([key, bare ? x : JSON.stringify(x)]);
      } else if (key in c.given) out.push([key, JSON.stringify(c.given[key])]);
    }
    return out;
  }
  function toFile(c, state) {
    let text = "", section = "";
    for (const [key, value] of given(c, state)) {
      const [table, name] = key.split(".");
      if (table !== section) { text += (text ? "\n" : "") + "[" + table + "]\n"; section = table; }
      text += name + " = " + value + "\n";
    }
    return text;
  }
  function toCommand(c, state) {
    return "rlecon estimate" + given(c, state).map(([k, x]) => " --set " + k + "=" + x.replace(/"/g, "")).join("");
  }
  // A strict part of TOML: tables, one value a line. Returns {state} or {error}; `left` names keys that are not shown here.
  function fromFile(c, text) {
    const state = Object.assign({}, c.defaults), seen = new Set(), left = [];
    for (const key in state) {
      if (key in c.fileDefaults) {
        const standard = c.fileDefaults[key], isDial = c.dials.some((d) => d.key === key);
        if (isDial) state[key] = standard; else if (standard !== null) state[key] = String(standard);
      }
      if (c.choices.some((x) => x.key === key && x.options.some((o) => o[0] === "default"))) state[key] = "default";
    }
    let section = "";
    const lines = text.split(/\r?\n/);
    if (lines.length > 500) return { error: "more than 500 lines: this is not a run file" };
    for (let i = 0; i < lines.length; i++) {
      const at = "line " + (i + 1) + ": ", line = lines[i].trim();
      if (!line || line.startsWith("#")) continue;
      let found = /^\[\s*([A-Za-z_]+)\s*\]\s*(#.*)?$/.exec(line);
      if (found) {
        section = found[1];
        if (!c.known.some((k) => k.startsWith(section + "."))) return { error: at + "no such table [" + section + "]" };
        if (seen.has("[" + section)) return { error: at + "the table [" + section + "] stands twice" };
        seen.add("[" + section);
        continue;
      }
      found = /^([A-Za-z_]+)\s*=\s*("[^"\\]*"|'[^']*'|[^\s"'#\[\]{}]+)\s*(#.*)?$/.exec(line);
      if (!found) return { error: at + "not read: give one `key = value` a line" };
      const key = section + "." + found[1], raw = found[2];
      if (!section) return { error: at + found[1] + " stands before any [table]" };
      if (!c.known.includes(key)) return { error: at + "no such key " + key };
      if (seen.has(key)) return { error: at + key + " stands twice" };
      seen.add(key);
      const quoted = /^["']/.test(raw), value = quoted ? raw.slice(1, -1) : raw;
      const d = c.dials.find((x) => x.key === key), choice = c.choices.find((x) => x.key === key);
      if (d) {
        const x = /^[+-]?\d[\d_]*(\.\d[\d_]*)?(e[+-]?\d+)?$/i.test(raw) ? Number(raw.replace(/_/g, "")) : NaN;
        if (!P.admits(d, x)) return { error: at + key + " must be " + d.fileAllowed };
        state[key] = x;
      } else if (choice) {
        const bare = choice.options.every((o) => /^(true|false|default|\d+)$/.test(o[0]));
        if (bare === quoted || !choice.options.some((o) => o[0] === value && o[0] !== "default")) {
          return { error: at + key + " must be one of " + choice.options.filter((o) => o[0] !== "default").map((o) => (bare ? o[0] : '"' + o[0] + '"')).join(", ") };
        }
        state[key] = value;
      } else if (!(key in c.given) || c.given[key] !== (quoted ? value : Number(value))) left.push(key);
    }
    const lacking = c.needed.filter((k) => !seen.has(k) && k in state);
    if (lacking.length) return { error: "not given: " + lacking.join(", ") };
    return { state, left };
  }

  const pure = { elasticities, nextSettings, elasticityText, settingText, leverAnswers, toFile, toCommand, fromFile };
  if (typeof module === "object" && module.exports) { module.exports = pure; return; }

  // --- the page --------------------------------------------------------------------------------------------------------------
  root.rleconBill = function (box) {
    const c = root.rleconCalculators[box.dataset.name], find = (s) => box.querySelector(s);
    const element = (name, text, className) => {
      const made = document.createElement(name);
      if (text !== undefined) made.textContent = text;
      if (className) made.className = className;
      return made;
    };
    let timer = 0;
    const file = find(".calc-file-text");
    if (file) {
      find(".calc-copy-file").addEventListener("click", () => box.rlecon.copy(toFile(c, box.rlecon.state), "Run file"));
      find(".calc-copy-command").addEventListener("click", () => box.rlecon.copy(toCommand(c, box.rlecon.state), "Command"));
      find(".calc-paste").addEventListener("click", () => {
        const { state, left, error } = fromFile(c, find(".calc-pasted").value);
        const message = find(".calc-paste-note");
        message.textContent = error || (left.length ? "Taken over, but for what this page does not show: " + left.join(", ") + "." : "Taken over.");
        message.classList.toggle("calc-bad", Boolean(error));
        if (!error) box.rlecon.begin(state);
      });
    }
    // What the reader has set without levers, the levers that are on, and the state that both make.
    let base = Object.assign({}, c.defaults), on = new Set(), last = base;
    const pulls = [...box.querySelectorAll(".calc-pull")];
    const named = (name) => c.levers.find((x) => x.name === name);
    const touched = (lever) => [...Object.keys(lever.values), ...Object.keys(lever.halves)];
    for (const button of pulls) {
      button.addEventListener("click", () => {
        const lever = named(button.dataset.lever);
        if (on.has(lever.name)) on.delete(lever.name);
        else if (P.refusal(lever, base)) return;
        else {
          for (const other of c.levers) if (lever.family && other.family === lever.family) on.delete(other.name);
          on.add(lever.name);
        }
        last = P.pulled(c, base, on);
        box.rlecon.set(last);
      });
    }
    function begin(state, levers) { // all anew
      base = Object.assign({}, state);
      on = new Set(levers);
      last = P.pulled(c, base, on);
      return Object.assign({}, last);
    }
    function follow(state) { // a setting that the reader moves is the reader's; a lever on it is off then
      for (const key in state) {
        if (state[key] === last[key]) continue;
        base[key] = state[key];
        for (const lever of c.levers.filter((x) => on.has(x.name) && touched(x).includes(key))) {
          on.delete(lever.name);
          for (const k of touched(lever)) base[k] = state[k];
        }
      }
      for (const lever of c.levers) if (P.refusal(lever, base)) on.delete(lever.name);
      last = P.pulled(c, base, on);
      return Object.keys(state).some((key) => state[key] !== last[key]);
    }
    function switches(v) {
      for (const button of pulls) button.setAttribute("aria-pressed", String(on.has(button.dataset.lever)));
      const before = v && on.size ? P.evaluate(c, base) : { reason: "none" };
      let text = on.size ? "The bill with all that are on stands above." : "None is on.";
      if (!before.reason) {
        const output = watched(before.values), o = c.outputs.find((x) => x.name === output);
        const words = (x) => P.figure(x, o ? o.unit : "", 2) + (output.startsWith("usd") ? "" : " GPU-hours");
        text = "All that are on, together: \u00d7" + (v[output] / before.values[output]).toFixed(2) + ", " + words(v[output]) + " instead of " + words(before.values[output]) + ".";
      }
      find(".calc-together").textContent = text;
    }
    function ratios() {
      const answers = leverAnswers(c, base);
      pulls.forEach((button, i) => {
        const { why, ratio } = answers[i], lever = named(button.dataset.lever), says = button.nextElementSibling;
        button.disabled = Boolean(why) && !on.has(lever.name);
        button.title = why || lever.words;
        says.textContent = why || (ratio === null || !Number.isFinite(ratio) ? "\u2013" : "\u00d7" + ratio.toFixed(2));
        says.classList.toggle("calc-why", Boolean(why));
      });
    }
    function slow(state, v) {
      if (pulls.length) ratios();
      const smooth = find(".calc-elasticities"), next = find(".calc-settings");
      if (smooth) {
        const row = (cells, act) => {
          const made = element("tr");
          cells.forEach((text, i) => {
            const cell = element("td", i === 0 && act ? undefined : text);
            if (i === 0 && act) {
              const button = element("button", text, "calc-turn");
              button.type = "button"; button.title = "Try it"; button.addEventListener("click", act); cell.append(button);
            }
            made.append(cell);
          });
          return made;
        };
        smooth.replaceChildren(...(v ? elasticities(c, state, v).slice(0, 5).map((r) => row(elasticityText(c, r))) : []));
        next.replaceChildren(...(v ? nextSettings(c, state, v).slice(0, 5).map((r) => row(settingText(c, r),
          () => box.rlecon.set(Object.assign({}, state, { [r.key]: r.next })))) : []));
      }
      if (file) file.textContent = toFile(c, state);
    }
    if (pulls.length) timer = setTimeout(ratios, 0); // after all that is disabled was set free
    function after(state, v) {
      if (follow(state)) { box.rlecon.set(last); return; } // half of the GPUs follows the GPUs
      if (pulls.length) switches(v);
      const total = v ? c.bars.reduce((sum, b) => sum + Math.max(0, v[b.name]), 0) : 0;
      const widest = v ? Math.max(...c.bars.map((b) => v[b.name])) : 1;
      box.querySelectorAll(".calc-bar").forEach((bar, i) => {
        const x = v ? v[c.bars[i].name] : 0;
        bar.classList.toggle("calc-zero", !(x > 0));
        bar.querySelector(".calc-bar-fill").style.width = (100 * Math.max(0, x) / widest).toFixed(2) + "%";
        bar.querySelector(".calc-bar-value").textContent = v ? P.figure(x, "seconds", 2) : "";
        bar.querySelector(".calc-bar-share").textContent = v && total > 0 ? share(x / total) : "";
      });
      find(".calc-remarks").replaceChildren(...(v ? P.notes(c, v, state) : []).map((text) => element("li", text)));
      clearTimeout(timer);
      timer = setTimeout(() => slow(state, v), 120);
    }
    const order = () => c.levers.map((x) => x.name).filter((name) => on.has(name));
    return { begin, after, scenario: () => [base, order()] };
  };
})(typeof globalThis === "object" ? globalThis : this);
