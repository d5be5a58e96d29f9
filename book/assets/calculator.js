// Live calculators: one script for all of them. Each page brings its own data and its own compiled model; this file
// reads the dials, solves, draws. No framework, nothing loaded. In Node it exports its pure parts for the tests.
(function (root) {
  "use strict";
  const S = root.rleconSpecial || (typeof require === "function" ? require("./special.js") : null);
  const NB = "\u00a0", MINUS = "\u2212", RAISED = "⁰¹²³⁴⁵⁶⁷⁸⁹";

  // --- numbers in words: the twin of rlecon.formatting.format_number -----------------------------------------------
  const COUNTS = [[1e12, "T"], [1e9, "B"], [1e6, "M"]];
  const SI = [[1e24, "Y"], [1e21, "Z"], [1e18, "E"], [1e15, "P"], [1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"],
    [1, ""], [1e-3, "m"], [1e-6, "μ"], [1e-9, "n"]];
  const DURATIONS = [[259200, 86400, "days"], [7200, 3600, "h"], [180, 60, "min"]];
  const SI_UNITS = { bytes: "B", "bytes/s": "B/s", flop: "FLOP", "flop/s": "FLOP/s" };
  const round = (x, digits) => Number(S.exponential(x, digits));
  const group = (text) => text.replace(/^(-?\d+)/, (d) => d.replace(/\B(?=(\d{3})+$)/g, ","));
  const power = (n) => "10" + (n < 0 ? "⁻" : "") + String(Math.abs(n)).replace(/\d/g, (d) => RAISED[d]);

  function number(x, digits, places) {
    if (x === 0) return "0";
    const rounded = round(x, digits), size = Math.abs(rounded);
    if (!(size >= 1e-4 && size < 1e9)) {
      const [mantissa, exponent] = S.exponential(x, digits).split("e");
      return (mantissa + NB + "×" + NB + power(Number(exponent))).replace("-", MINUS);
    }
    const decimals = places === undefined ? Math.max(0, digits - 1 - Math.floor(Math.log10(size) + 1e-12)) : places;
    return group(rounded.toFixed(decimals)).replace("-", MINUS);
  }
  function scaled(x, prefixes, digits) {
    const size = Math.abs(round(x, digits));
    for (const [factor, prefix] of prefixes) if (size >= factor) return [x / factor, prefix];
    return [x, ""];
  }
  function format(x, unit, digits) {
    unit = unit || ""; digits = digits || 3;
    const whole = Number.isInteger(x) && Math.abs(x) < 1e6;
    if (unit === "usd") {
      const [part, prefix] = scaled(x, COUNTS, digits), size = Math.abs(round(part, digits));
      const cents = !prefix && size >= 1 && size < 100 && digits >= 3 ? 2 : undefined;
      const text = whole && !prefix ? group(String(Math.abs(x))) : number(Math.abs(part), digits, cents);
      return (x < 0 ? MINUS : "") + "$" + text + (prefix ? NB + prefix : "");
    }
    if (unit === "%") return number(100 * x, digits) + NB + "%";
    if (unit === "x") return number(x, digits) + "×";
    if (unit === "seconds") {
      for (const [least, size, name] of DURATIONS) {
        if (Math.abs(x) >= least) return number(x / size, digits) + NB + name;
      }
      if (Math.abs(x) >= 1 || x === 0) return number(x, digits) + NB + "s";
      const [part, prefix] = scaled(x, SI, digits);
      return number(part, digits) + NB + prefix + "s";
    }
    if (SI_UNITS[unit]) {
      const [part, prefix] = scaled(x, SI, digits);
      return number(part, digits) + NB + prefix + SI_UNITS[unit];
    }
    let text;
    if (whole) text = group(String(x)).replace("-", MINUS);
    else {
      const [part, prefix] = unit ? scaled(x, COUNTS, digits) : [x, ""];
      text = number(part, digits) + (prefix ? NB + prefix : "");
    }
    return text + (unit ? NB + unit : "");
  }
  // A figure, or the words that stand for one that is no number.
  function figure(x, unit, digits) {
    if (x === null) return "unknown";
    if (!Number.isFinite(x)) return x === Infinity ? "without bound" : "undefined";
    if (unit === "whole" || unit === "GB") {
      const n = unit === "GB" ? x / 1e9 : x, even = n % 1 === 0.5 && Math.floor(n) % 2 === 0; // halves to even, as Python
      return group(String(even ? Math.floor(n) : Math.round(n))) + (unit === "GB" ? NB + unit : "");
    }
    return unit === "%" && digits === 0 ? S.show(100 * x) + NB + unit : format(x, unit, digits);
  }

  // --- what a reader types, and what an address brings ------------------------------------------------------------
  function parseNumber(text) {
    const bare = String(text).trim().replace(/[\s\u00a0_]/g, "").replace(/,(?=\d{3}(\D|$))/g, "").replace("−", "-");
    const found = /^([+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d{1,3})?)([kKMGBT]?)$/.exec(bare);
    if (!found) return NaN;
    return Number(found[1]) * ({ k: 1e3, K: 1e3, M: 1e6, G: 1e9, B: 1e9, T: 1e12 }[found[2]] || 1);
  }
  function admits(d, x) {
    const low = d.lowOpen ? x > d.low : x >= d.low, high = d.highOpen ? x < d.high : x <= d.high;
    return Number.isFinite(x) && low && high && (!d.whole || Number.isInteger(x));
  }
  // --- levers: the twin of rlecon.calculators.Lever ----------------------------------------------------------------
  const TESTS = { is: (x, y) => x === y, above: (x, y) => x !== null && x > y, "at most": (x, y) => x !== null && x <= y };
  function read(state, key) { // a setting, or a difference of settings
    return key.split(" - ").map((k) => state[k]).reduce((x, y) => x - y);
  }
  function refusal(lever, state) { // why it does not apply to these settings, or nothing
    const found = lever.refusals.find(([key, test, limit]) => TESTS[test](read(state, key), limit));
    return found ? found[3] : "";
  }
  function pulled(c, base, on) { // the reader's settings with the levers named in `on`
    const out = Object.assign({}, base);
    for (const lever of c.levers) {
      if (!on.has(lever.name)) continue;
      for (const key in lever.values) out[key] = lever.least.includes(key) ? Math.max(lever.values[key], out[key] || 0) : lever.values[key];
      for (const key in lever.halves) out[key] = Math.max(1, Math.floor(read(out, lever.halves[key]) / 2));
    }
    return out;
  }

  // --- the address: the reader's own settings, and the levers that are on -------------------------------------------
  // What an address asks for; what it cannot have is left out and said.
  function readAddress(c, query) {
    const state = Object.assign({}, c.defaults), asked = [], refused = [];
    for (const [key, text] of new URLSearchParams(query)) {
      const d = c.dials.find((x) => x.key === key), choice = c.choices.find((x) => x.key === key);
      if (d && text === "" && d.optional) state[key] = null;
      else if (d) {
        const x = parseNumber(text);
        if (text.length < 40 && admits(d, x)) state[key] = x; else refused.push(d.label + " must be " + d.allowed);
      } else if (choice) {
        if (choice.options.some((o) => o[0] === text)) state[key] = text;
        else refused.push(choice.label + " is not one of the choices");
      } else if (key === "lever" && c.levers.some((x) => x.name === text)) asked.push(text);
      else if (key === "lever") refused.push("the link names a lever that this calculator does not have");
      else if (key !== "show") refused.push("the link names a setting that this calculator does not have");
    }
    const on = new Set();
    for (const lever of c.levers.filter((x) => asked.includes(x.name))) {
      const why = refusal(lever, state), rival = c.levers.find((x) => on.has(x.name) && lever.family && x.family === lever.family);
      if (why) refused.push(lever.label + " is not on: " + why);
      else if (rival) refused.push(lever.label + " is not on: " + rival.label + " is, and only one of both can be");
      else on.add(lever.name);
    }
    return { state, levers: [...on], refused };
  }
  function writeAddress(c, state, levers) {
    const query = new URLSearchParams();
    for (const key in c.defaults) {
      if (state[key] !== c.defaults[key]) query.set(key, state[key] === null ? "" : String(state[key]));
    }
    for (const name of levers || []) query.append("lever", name);
    return "#" + c.name + (String(query) ? "?" + query : "");
  }

  // --- solving ------------------------------------------------------------------------------------------------------
  function quantities(c, state) {
    const q = Object.assign({}, c.fixed), unknown = [];
    for (const table of c.tables) {
      const row = table.rows[table.keys.map((k) => state[k]).join("|")];
      if (typeof row === "string") return { reason: row };
      Object.assign(q, row);
    }
    for (const d of c.dials) {
      const x = state[d.key];
      if (x !== null) Object.assign(q, { [d.quantity]: x }, d.also);
      else if (d.empty === null && d.quantity in q) continue;
      else if (d.empty !== null || d.unknown.length) {
        if (!(d.quantity in q)) unknown.push(...d.unknown);
        q[d.quantity] = d.empty === null ? 0 : d.empty;
      } else return { reason: d.missing || d.label + ": a number is needed" };
    }
    return { q, unknown };
  }
  function solve(c, q, unknown) {
    const out = c.solve(q, S), values = Object.assign({}, q, out.values);
    for (const name of unknown) values[name] = null;
    return { values, reason: out.reason };
  }
  function evaluate(c, state, change) {
    const { q, unknown, reason } = quantities(c, state);
    return reason ? { reason } : solve(c, Object.assign(q, change), unknown);
  }
  function spread(output, v) {
    if (!output.spread || v[output.name] === null) return null;
    const apart = output.apart ? v[output.apart] : 0, moving = v[output.name] - apart;
    const ends = output.spread.map((f) => apart + moving * v[f]);
    return ends.every(Number.isFinite) ? ends : null;
  }
  function sentence(c, text, v, state) {
    return text.replace(/\{=([\w.]+)\}/g, (_, key) => c.choices.find((x) => x.key === key).options.find((o) => o[0] === state[key])[1])
      .replace(/\{(\w+)(?:\|([^|}]*))?(?:\|(\d))?\}/g, (_, name, unit, digits) => figure(v[name], unit, digits === undefined ? 3 : Number(digits)));
  }
  function inWords(c, v, state) {
    const chosen = c.words.find((w) => w.holds(v));
    return chosen ? sentence(c, chosen.text, v, state) : "";
  }
  function notes(c, v, state) {
    const said = c.dials.filter((d) => state[d.key] === null && d.unknown.some((n) => v[n] === null)).map((d) => d.missing);
    const held = c.notes.filter((n) => Object.keys(n.when).every((k) => state[k] === n.when[k])
      && Object.keys(n.unless).every((k) => state[k] !== n.unless[k]) && n.holds(v)).map((n) => n.text);
    return said.concat(held).map((text) => sentence(c, text, v, state));
  }
  function curve(c, state, output, dial) {
    const { q, unknown, reason } = quantities(c, state);
    const xs = dial.stops.filter((x) => x !== null);
    return xs.map((x) => {
      if (reason) return { x, y: null };
      const { values, reason: why } = solve(c, Object.assign({}, q, { [dial.quantity]: x }, dial.also), unknown);
      const y = why === null && Number.isFinite(values[output.name]) ? values[output.name] : null;
      return { x, y, ends: y === null ? null : spread(output, values) };
    });
  }

  // --- the plot: twins of the functions in calculator_picture.py -----------------------------------------------------
  const BOX = { width: 360, height: 250, left: 54, right: 16, top: 32, bottom: 44 };
  function spell(x) {
    const size = Math.abs(x), sign = x < 0 ? MINUS : "";
    if (size === 0) return "0";
    if (size >= 1e15 || size < 1e-4) {
      const exponent = Math.floor(Math.log10(size) + 1e-9), mantissa = size / Math.pow(10, exponent);
      return sign + (Math.abs(mantissa - 1) < 1e-6 ? power(exponent) : S.show(mantissa, 3) + "×" + power(exponent));
    }
    for (const [factor, prefix] of [[1e12, "T"], [1e9, "B"], [1e6, "M"], [1e3, "k"]]) {
      if (size >= factor * (factor === 1e3 ? 10 : 1)) return sign + S.show(size / factor, 4) + NB + prefix;
    }
    return sign + (size < 1000 ? S.show(size, 4) : group(size.toFixed(0)));
  }
  function tick(x, unit) {
    if (unit === "%") return spell(Number((100 * x).toPrecision(12))) + NB + "%";
    return unit === "usd" || unit === "$" || unit === "$/h" ? "$" + spell(x) : spell(x);
  }
  function niceStep(span, most) {
    const raw = span / most, base = Math.pow(10, Math.floor(Math.log10(raw)));
    for (const m of [1, 2, 5, 10]) if (m * base >= raw * (1 - 1e-9)) return m * base;
    return 10 * base;
  }
  function axis(low, high, log) { // ends and ticks that a reader would choose
    if (log) {
      const a = Math.floor(Math.log10(low) * 2 + 1e-9) / 2, b = Math.max(Math.ceil(Math.log10(high) * 2 - 1e-9) / 2, a + 0.5);
      const ends = [Math.pow(10, a), Math.pow(10, b)], ticks = [], skip = Math.max(1, Math.ceil((b - a) / 5));
      for (let e = Math.floor(a); e <= Math.ceil(b); e++) {
        for (const m of b - a > 2 ? [1] : b - a > 1 ? [1, 3] : [1, 2, 5]) {
          const x = Number(m + "e" + e);
          if ((b - a <= 2 || e % skip === 0) && x >= ends[0] * (1 - 1e-9) && x <= ends[1] * (1 + 1e-9)) ticks.push(x);
        }
      }
      return { ends, ticks };
    }
    if (low >= 0 && low < 0.6 * high) low = 0;
    if (!(high > low)) high = low + (Math.abs(low) || 1);
    const step = niceStep(high - low, 5), first = Math.floor(low / step + 1e-9), last = Math.ceil(high / step - 1e-9);
    const ticks = [];
    for (let i = first; i <= last; i++) ticks.push(Number((i * step).toPrecision(12)));
    return { ends: [ticks[0], ticks[ticks.length - 1]], ticks };
  }
  function place(x, ends, log, from, to) {
    const f = log ? Math.log : (z) => z;
    return from + (to - from) * (f(x) - f(ends[0])) / (f(ends[1]) - f(ends[0]));
  }
  const unitOf = (o) => (o.unit === "seconds" ? " (s)"
    : ["usd", "%", "x", ""].includes(o.unit) || o.label.toLowerCase().includes(o.unit) ? "" : " (" + o.unit + ")");
  const px = (x) => x.toFixed(1);
  // Everything that the picture shows, as plain data: paths, ticks, the present point.
  function picture(points, output, dial, here) {
    const good = points.filter((p) => p.y !== null);
    const all = good.flatMap((p) => (p.ends ? [p.y, ...p.ends] : [p.y]));
    if (here.y !== null) all.push(here.y);
    const ylog = output.log && all.length > 0 && Math.min(...all) > 0;
    const yAxis = all.length ? axis(Math.min(...all), Math.max(...all), ylog) : axis(0, 1, false);
    const xs = points.map((p) => p.x), xEnds = [xs[0], xs[xs.length - 1]], xlog = dial.log && xEnds[0] > 0;
    const X = (x) => place(x, xEnds, xlog, BOX.left, BOX.width - BOX.right);
    const Y = (y) => place(y, yAxis.ends, ylog, BOX.height - BOX.bottom, BOX.top);
    const xTicks = axis(xEnds[0], xEnds[1], xlog).ticks.filter((x) => x >= xEnds[0] && x <= xEnds[1]);
    let line = "", pen = "M";
    for (const p of points) {
      if (p.y === null) { pen = "M"; continue; }
      line += pen + px(X(p.x)) + " " + px(Y(p.y)); pen = "L";
    }
    let band = "", run = [];
    const flush = () => {
      if (run.length > 1) {
        band += "M" + run.map((p) => px(X(p.x)) + " " + px(Y(p.ends[1]))).join("L") + "L"
          + run.slice().reverse().map((p) => px(X(p.x)) + " " + px(Y(p.ends[0]))).join("L") + "Z";
      }
      run = [];
    };
    for (const p of points) if (p.ends) run.push(p); else flush();
    flush();
    const inside = here.x !== null && here.x >= xEnds[0] && here.x <= xEnds[1];
    return {
      line, band, xTicks: xTicks.map((x) => [px(X(x)), tick(x, dial.unit)]),
      yTicks: yAxis.ticks.map((y) => [px(Y(y)), tick(y, output.unit)]),
      yLabel: output.label + unitOf(output) + (ylog ? ", log scale" : ""),
      xLabel: dial.label + (dial.unit && !["%", "$", "$/h"].includes(dial.unit) ? " (" + dial.unit + ")" : "") + (xlog ? ", log scale" : ""),
      point: inside && here.y !== null ? [px(X(here.x)), px(Y(here.y))] : null,
      rule: inside ? px(X(here.x)) : null,
    };
  }

  const pure = { format, figure, parseNumber, admits, refusal, pulled, readAddress, writeAddress, evaluate, spread, inWords, notes, curve,
    picture, axis, spell, tick };
  root.rleconPure = pure;
  if (typeof module === "object" && module.exports) { module.exports = pure; return; }

  // --- the page -----------------------------------------------------------------------------------------------------
  const SVG = "http://www.w3.org/2000/svg";
  function mount(box) {
    const c = root.rleconCalculators[box.dataset.name];
    const find = (selector) => box.querySelector(selector), all = (selector) => [...box.querySelectorAll(selector)];
    let state = Object.assign({}, c.defaults), shown = c.outputs[0], over = c.dials.find((d) => d.key === c.over);
    const bad = {}, rows = {};
    for (const d of c.dials) {
      const row = find('[data-key="' + d.key + '"]');
      rows[d.key] = { field: row.querySelector(".calc-number"), range: row.querySelector("[type=range]"),
        bad: row.querySelector(".calc-bad") };
    }
    const say = (text) => { find(".calc-note").textContent = text; };

    function nearest(d, x) {
      if (x === null) return Math.max(0, d.stops.indexOf(null));
      let best = 0, gap = Infinity;
      const f = d.log ? (z) => Math.log(Math.max(z, 1e-300)) : (z) => z;
      d.stops.forEach((s, i) => { if (s !== null && Math.abs(f(s) - f(x)) < gap) { gap = Math.abs(f(s) - f(x)); best = i; } });
      return best;
    }
    const inField = (d, x) => (x === null ? "" : String(Number((x * d.scale).toPrecision(12))));
    const spoken = (d, x) => (x === null ? d.emptySays : tick(x, d.unit) + (d.unit && !["%", "$", "$/h"].includes(d.unit) ? " " + d.unit : ""));
    function complain(d, text) {
      const row = rows[d.key];
      bad[d.key] = text; row.bad.textContent = text || ""; row.bad.hidden = !text;
      if (text) row.field.setAttribute("aria-invalid", "true"); else row.field.removeAttribute("aria-invalid");
    }
    function fill(except) { // fields and sliders from the state
      for (const d of c.dials) {
        const row = rows[d.key], x = state[d.key];
        if (row.field !== except) { row.field.value = inField(d, x); complain(d, ""); }
        if (row.range !== except) row.range.value = nearest(d, x);
        row.range.setAttribute("aria-valuetext", spoken(d, x));
      }
      for (const choice of c.choices) find('select[data-choice="' + choice.key + '"]').value = state[choice.key];
    }

    let pending = 0, later = 0, bill = null; // bill: what a page of a whole bill does beyond the dials
    // The state anew, by a preset, a link or a reset, with levers on.
    function begin(values, levers) { state = bill ? bill.begin(values, levers || []) : values; }
    const address = () => writeAddress(c, ...(bill ? bill.scenario() : [state, []]));
    function update() {
      const wrong = Object.values(bad).find(Boolean);
      const { values, reason } = wrong ? { reason: "Mend the marked field to see a result." } : evaluate(c, state);
      const words = reason !== null && reason !== undefined;
      box.classList.toggle("calc-refused", words);
      find(".calc-main-label").textContent = shown.label;
      find(".calc-big").textContent = words ? "no result" : figure(values[shown.name], shown.unit, shown.digits);
      const ends = words ? null : spread(shown, values);
      find(".calc-spread").textContent = ends ? format(ends[0], shown.unit, shown.digits) + " to " + format(ends[1], shown.unit, shown.digits) + ", 80" + NB + "%" : "";
      find(".calc-words").textContent = words ? reason : inWords(c, values, state);
      for (const button of all(".calc-output")) {
        const o = c.outputs.find((x) => x.name === button.dataset.output);
        button.querySelector(".calc-value").textContent = words ? "–" : figure(values[o.name], o.unit, o.digits);
        button.setAttribute("aria-pressed", String(o === shown));
      }
      draw(words ? null : values);
      if (bill) bill.after(state, words ? null : values);
      clearTimeout(later);
      later = setTimeout(() => {
        find(".calc-live").textContent = shown.label + ": " + find(".calc-big").textContent + ". " + find(".calc-words").textContent;
        table();
        try { history.replaceState(null, "", address()); } catch (e) { /* some viewers forbid it */ }
      }, 300);
    }
    function soon() { if (!pending) pending = requestAnimationFrame(() => { pending = 0; update(); }); }

    let points = [], drawn = "";
    function node(name, attributes, text) {
      const made = document.createElementNS(SVG, name);
      for (const key in attributes) made.setAttribute(key, attributes[key]);
      if (text !== undefined) made.textContent = text;
      return made;
    }
    function draw(values) {
      const asked = JSON.stringify([Object.assign({}, state, { [over.key]: 0 }), shown.name, over.key]);
      if (asked !== drawn) { points = curve(c, state, shown, over); drawn = asked; } // turning the plotted dial moves the point only
      const y = values && Number.isFinite(values[shown.name]) ? values[shown.name] : null;
      const p = picture(points, shown, over, { x: state[over.key], y });
      const svg = find("svg"), bottom = BOX.height - BOX.bottom, right = BOX.width - BOX.right;
      svg.querySelector(".calc-line").setAttribute("d", p.line);
      svg.querySelector(".calc-band").setAttribute("d", p.band);
      svg.querySelector(".calc-ylabel").textContent = p.yLabel;
      svg.querySelector(".calc-xlabel").textContent = p.xLabel;
      svg.querySelector(".calc-yticks").replaceChildren(...p.yTicks.flatMap(([at, text]) => [
        node("line", { class: "calc-grid", x1: BOX.left, x2: right, y1: at, y2: at }),
        node("text", { x: BOX.left - 8, y: at, dy: "0.35em", "text-anchor": "end" }, text)]));
      svg.querySelector(".calc-xticks").replaceChildren(...p.xTicks.flatMap(([at, text]) => [
        node("line", { class: "calc-tick", x1: at, x2: at, y1: bottom, y2: bottom + 5 }),
        node("text", { x: at, y: bottom + 18, "text-anchor": "middle" }, text)]));
      const point = svg.querySelector(".calc-point"), rule = svg.querySelector(".calc-rule");
      point.setAttribute("visibility", p.point ? "visible" : "hidden");
      rule.setAttribute("visibility", p.rule ? "visible" : "hidden");
      if (p.point) { point.setAttribute("cx", p.point[0]); point.setAttribute("cy", p.point[1]); }
      if (p.rule) { rule.setAttribute("x1", p.rule); rule.setAttribute("x2", p.rule); }
    }
    function table() {
      const body = find(".calc-curve-table tbody"), every = Math.ceil(points.length / 12);
      find(".calc-curve-table th:nth-child(1)").textContent = over.label;
      find(".calc-curve-table th:nth-child(2)").textContent = shown.label;
      body.replaceChildren(...points.filter((_, i) => i % every === 0).map((p) => {
        const row = document.createElement("tr");
        for (const text of [spoken(over, p.x), p.y === null ? "no result" : figure(p.y, shown.unit, shown.digits)]) {
          const cell = document.createElement("td"); cell.textContent = text; row.append(cell);
        }
        return row;
      }));
    }

    for (const d of c.dials) {
      const row = rows[d.key];
      row.range.addEventListener("input", () => {
        state[d.key] = d.stops[Number(row.range.value)];
        row.field.value = inField(d, state[d.key]); complain(d, "");
        row.range.setAttribute("aria-valuetext", spoken(d, state[d.key]));
        soon();
      });
      row.field.addEventListener("input", () => {
        const text = row.field.value;
        if (text.trim() === "" && d.optional) { state[d.key] = null; complain(d, ""); } else {
          const x = Number((parseNumber(text) / d.scale).toPrecision(15));
          if (admits(d, x)) { state[d.key] = x; complain(d, ""); }
          else complain(d, (text.trim() === "" ? "A number is needed: " : "“" + text.slice(0, 20) + "” cannot be: ") + d.allowed + ".");
        }
        if (!bad[d.key]) row.range.value = nearest(d, state[d.key]);
        soon();
      });
      row.field.addEventListener("keydown", (event) => { // arrows turn the dial from the field too
        const by = { ArrowUp: 1, ArrowDown: -1 }[event.key];
        if (!by) return;
        event.preventDefault();
        const i = Math.min(d.stops.length - 1, Math.max(0, nearest(d, state[d.key]) + by));
        state[d.key] = d.stops[i]; row.range.value = i; row.field.value = inField(d, state[d.key]); complain(d, ""); soon();
      });
    }
    for (const choice of c.choices) {
      find('select[data-choice="' + choice.key + '"]').addEventListener("change", (event) => { state[choice.key] = event.target.value; soon(); });
    }
    for (const button of all(".calc-output")) {
      button.addEventListener("click", () => { shown = c.outputs.find((o) => o.name === button.dataset.output); soon(); });
    }
    const overSelect = find(".calc-over");
    if (overSelect) overSelect.addEventListener("change", () => { over = c.dials.find((d) => d.key === overSelect.value); soon(); });
    all(".calc-preset").forEach((button, i) => button.addEventListener("click", () => {
      begin(Object.assign({}, c.defaults, c.presets[i].values)); say(""); fill(); soon();
    }));
    find(".calc-reset").addEventListener("click", () => { begin(Object.assign({}, c.defaults)); say(""); fill(); soon(); });
    async function copy(text, what) {
      try { await navigator.clipboard.writeText(text); say(what + " copied."); } catch (e) {
        const area = document.createElement("textarea");
        area.value = text; area.className = "calc-hidden"; box.append(area); area.select();
        const done = document.execCommand && document.execCommand("copy");
        area.remove(); say(done ? what + " copied." : "Copying is not allowed here. " + text);
      }
    }
    find(".calc-link").addEventListener("click", () => copy(location.href.split("#")[0] + address(), "Link"));
    find(".calc-csv").addEventListener("click", () => {
      const { q, unknown } = quantities(c, state), quote = (t) => '"' + String(t).replace(/"/g, '""') + '"';
      const lines = [[over.key, ...c.outputs.map((o) => o.name)].map(quote).join(",")];
      for (const p of points) {
        const { values, reason } = q ? solve(c, Object.assign({}, q, { [over.quantity]: p.x }, over.also), unknown) : { reason: "" };
        lines.push([p.x, ...c.outputs.map((o) => (reason === null && Number.isFinite(values[o.name]) ? values[o.name] : ""))].join(","));
      }
      const link = document.createElement("a");
      link.href = URL.createObjectURL(new Blob([lines.join("\n") + "\n"], { type: "text/csv" }));
      link.download = c.name + ".csv"; link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 1000);
    });

    function fromAddress(first) {
      const hash = location.hash.slice(1), cut = hash.indexOf("?");
      if ((cut < 0 ? hash : hash.slice(0, cut)) !== c.name) return;
      const { state: asked, levers, refused } = readAddress(c, cut < 0 ? "" : hash.slice(cut + 1));
      begin(asked, levers); fill();
      say(refused.length ? "Not taken from the link: " + [...new Set(refused)].join("; ") + "." : "");
      if (first) box.scrollIntoView({ block: "start" });
      soon();
    }
    box.rlecon = { get state() { return state; }, set(values) { state = Object.assign({}, c.defaults, values); say(""); fill(); update(); },
      begin(values) { begin(values); say(""); fill(); update(); }, copy, calculator: c };
    if (root.rleconBill && c.bars.length) bill = root.rleconBill(box);
    box.classList.add("calc-live-on");
    all("[disabled]").forEach((e) => e.removeAttribute("disabled"));
    fill(); // browsers keep what was in fields before a reload
    fromAddress(true);
    root.addEventListener("hashchange", () => fromAddress(false));
  }
  function start() { document.querySelectorAll(".calc[data-name]").forEach(mount); }
  if (document.readyState === "complete") start(); else document.addEventListener("DOMContentLoaded", start);
})(typeof globalThis === "object" ? globalThis : this);
