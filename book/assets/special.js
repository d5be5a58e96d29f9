// Twins of the special functions in rlecon/special.py: same names, same nodes, same number of steps.
// A page loads this file as a script; Node can `require` it. `show` writes a number into a message.
(function (root) {
  "use strict";
  const TINY_SPREAD = 1e-12, NEWTON_STEPS = 16, LOW_NODES = 24, HIGH_NODES = 48, SURE_NODES = 16, CAPPED_NODES = 32,
    END_NODES = 24, AGE_NODES = 9, KNEE_BOTTOM = -3,
    PEAK_BOTTOM = -8.5, PEAK_TOP = 6, PEAK_NODES = 96, BETA_NODES = 80, CHANNEL_NODES = 100;

  // (1 + 2t) exp(t^2) erfc(t) for t >= 0 as a Chebyshev series in (t - 3.75)/(t + 3.75): relative error below 1e-15.
  const ERFC = [1.1775789345674017, -0.004590054580646478, -0.08424913336651792, 0.05920993999819189,
    -0.026658668435305753, 0.009074997670705265, -0.002413163540417608, 0.0004907758365258086,
    -6.916973302501207e-05, 4.13902798607301e-06, 7.74038306619849e-07, -2.1886401049234397e-07,
    1.076499946567091e-08, 4.521959811218287e-09, -7.754400208831351e-10, -6.318088340886684e-11,
    2.86879501093067e-11, 1.9455868545777405e-13, -9.654696748433433e-13, 3.252548148148796e-14,
    3.347811948286861e-14, -1.8645628804187656e-15, -1.250795053068326e-15, 7.418235256676974e-17,
    5.068148904848072e-17];

  function scaledErfc(t) { // exp(t^2) erfc(t)
    const x = t > 1e300 ? 1 : (t - 3.75) / (t + 3.75);
    let a = 0, b = 0;
    for (let i = ERFC.length - 1; i > 0; i--) { const c = 2 * x * a - b + ERFC[i]; b = a; a = c; }
    return (x * a - b + ERFC[0]) / (1 + 2 * t);
  }

  function normal_cdf(x) {
    if (Number.isNaN(x)) return NaN;
    const t = Math.abs(x) * Math.SQRT1_2;
    const tail = t > 40 ? 0 : 0.5 * Math.exp(-x * x / 2) * scaledErfc(t);
    return x < 0 ? tail : 1 - tail;
  }

  function logTail(t) { return Math.log(0.5 * scaledErfc(t * Math.SQRT1_2)) - t * t / 2; } // log Pr(Z > t), t >= 0

  function normal_quantile(p) {
    if (!(p >= 0 && p <= 1)) return NaN;
    if (p === 0) return -Infinity;
    if (p === 1) return Infinity;
    if (p === 0.5) return 0;
    const tail = Math.min(p, 1 - p), target = Math.log(tail);
    // Newton on log Pr(Z > t), concave in t: from the right side it never overshoots.
    let t = Math.sqrt(Math.max(0, -2 * target - Math.log(4)));
    for (let i = 0; i < 60; i++) {
      const hazard = Math.SQRT1_2 * 2 / Math.sqrt(Math.PI) / scaledErfc(t * Math.SQRT1_2); // density over tail
      const step = (logTail(t) - target) / hazard;
      t = Math.max(0, t + step);
      if (Math.abs(step) <= 4e-16 * Math.max(t, 1e-8)) break;
    }
    return p < 0.5 ? -t : t;
  }

  const STIRLING = [1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360, 1 / 156, -3617 / 122400];
  function log_gamma(x) {
    if (!(x > 0)) return x === 0 ? Infinity : NaN;
    if (x === Infinity) return Infinity;
    let product = 1, y = x;
    while (y < 12) { product *= y; y += 1; }
    let series = 0;
    const inverse = 1 / (y * y);
    for (let i = STIRLING.length - 1; i >= 0; i--) series = series * inverse + STIRLING[i];
    return (y - 0.5) * Math.log(y) - y + 0.5 * Math.log(2 * Math.PI) + series / y - Math.log(product);
  }

  const DIGAMMA = [-1 / 12, 1 / 120, -1 / 252, 1 / 240, -1 / 132, 691 / 32760, -1 / 12];
  function digamma(x) {
    if (!(x > 0)) return x === 0 ? -Infinity : NaN;
    if (x === Infinity) return Infinity;
    let sum = 0, y = x;
    while (y < 12) { sum -= 1 / y; y += 1; }
    let series = 0;
    const inverse = 1 / (y * y);
    for (let i = DIGAMMA.length - 1; i >= 0; i--) series = (series + DIGAMMA[i]) * inverse;
    return sum + Math.log(y) - 0.5 / y + series;
  }

  function legendre(count) { // nodes and weights of Gauss-Legendre on [-1, 1]
    const x = new Array(count), w = new Array(count);
    for (let i = 0; i < count; i++) {
      let z = -Math.cos(Math.PI * (i + 0.75) / (count + 0.5)), slope = 1;
      for (let k = 0; k < 8; k++) {
        let a = 1, b = 0;
        for (let j = 0; j < count; j++) { const c = b; b = a; a = ((2 * j + 1) * z * b - j * c) / (j + 1); }
        slope = count * (z * a - b) / (z * z - 1);
        z -= a / slope;
      }
      x[i] = z; w[i] = 2 / ((1 - z * z) * slope * slope);
    }
    return { x, w };
  }
  const NODES = { [LOW_NODES]: legendre(LOW_NODES), [HIGH_NODES]: legendre(HIGH_NODES),
    [SURE_NODES]: legendre(SURE_NODES), [CAPPED_NODES]: legendre(CAPPED_NODES),
    [END_NODES]: legendre(END_NODES), [AGE_NODES]: legendre(AGE_NODES) };

  function length_location(mean, spread, cap) {
    spread = Math.max(spread, TINY_SPREAD);
    const target = Math.log(mean), half = spread * spread / 2;
    let location = target - half;
    if (cap === Infinity) return location;
    const logCap = Math.log(cap);
    for (let i = 0; i < NEWTON_STEPS; i++) {
      const body = Math.exp(location + half) * normal_cdf((logCap - location) / spread - spread);
      const tail = cap * normal_cdf((location - logCap) / spread);
      location = location - (Math.log(body + tail) - target) * (body + tail) / body;
    }
    return location;
  }

  function capped_square(location, spread, cap) {
    spread = Math.max(spread, TINY_SPREAD);
    const room = (Math.log(cap) - location) / spread;
    const body = Math.exp(2 * location + 2 * spread * spread) * normal_cdf(room - 2 * spread);
    return body + (cap === Infinity ? 0 : cap * cap * normal_cdf(-room));
  }

  function integral(n, share, location, spread, low, high, count) {
    const { x, w } = NODES[count], half = (high - low) / 2, middle = (high + low) / 2;
    let sum = 0;
    for (let i = 0; i < count; i++) {
      const z = middle + half * x[i];
      const chance = -Math.expm1(n * Math.log1p(-share * normal_cdf(-z)));
      sum += w[i] * chance * Math.exp(location + spread * z);
    }
    return spread * half * sum;
  }

  function reached_tokens(n, share, location, spread, cap) {
    spread = Math.max(spread, TINY_SPREAD);
    const end = (Math.log(cap) - location) / spread;
    const top = Math.min(end, spread + Math.sqrt(2 * Math.log(Math.max(n, 1)) + 60));
    const bottom = Math.min(-8.5, top);
    const knee = Math.min(Math.max(-normal_quantile(Math.min(1, -Math.expm1(-36 / n) / share)), KNEE_BOTTOM), top);
    const whole = -Math.expm1(n * Math.log1p(-share));
    return Math.exp(location + spread * bottom) * whole
      + integral(n, share, location, spread, bottom, knee, LOW_NODES)
      + integral(n, share, location, spread, knee, top, HIGH_NODES);
  }

  function peak_tokens(held, location, spread, cap) {
    spread = Math.max(spread, TINY_SPREAD);
    const bottom = -8.5, top = 6, nodes = 96;
    const end = Math.max(Math.min((Math.log(cap) - location) / spread, top), bottom);
    const value = (z) => normal_cdf(-z) * (held + Math.exp(location + spread * z));
    let best = -Infinity, at = bottom;
    for (let i = 0; i < nodes; i++) {
      const z = bottom + (end - bottom) * i / (nodes - 1), found = value(z);
      if (found > best) { best = found; at = z; }
    }
    const grown = Math.exp(location + spread * at), share = grown / (held + grown);
    const hazard = Math.exp(-at * at / 2) / Math.sqrt(2 * Math.PI) / normal_cdf(-at);
    const slope = spread * share - hazard;
    const bend = spread * spread * share * (1 - share) - hazard * (hazard - at);
    const better = value(Math.min(at - (bend < 0 ? slope / bend : 0), end));
    return better > best ? better : best;
  }

  function last_tokens(first, rest, wait, location, spread, cap) {
    if (!(rest > 0 && wait > 0)) return reached_tokens(first, 1, location, spread, cap);
    spread = Math.max(spread, TINY_SPREAD);
    const total = first + rest, ages = NODES[AGE_NODES];
    const end = (Math.log(cap) - location) / spread;
    const top = Math.min(end, spread + Math.sqrt(2 * Math.log(Math.max(total, 1)) + 48));
    const bottom = Math.min(-8.5, top);
    const young = rest * Math.min(1, Math.exp(location) / wait); // those that started within a median length
    const kink = Math.min(Math.max((Math.log(Math.max(cap - wait, 0)) - location) / spread, bottom), top);
    const until = Math.exp(location + spread * normal_quantile(Math.exp(-30 / first))) - wait;
    const alive = Math.min((Math.log(Math.max(until, 0)) - location) / spread, kink); // some of the first are
    const clear = Math.max(normal_quantile(Math.exp(-30 / young)), alive, KNEE_BOTTOM);
    const knee = Math.max(Math.min(clear, top - 1), bottom);
    const logEnded = (t) => {
      const z = (Math.log(t) - location) / spread;
      return z < 0 ? logTail(-z) : Math.log1p(-normal_cdf(-z));
    };
    const part = (z) => { // the integrand at z, times the node's length u
      const u = Math.exp(location + spread * z), reach = Math.min(wait, cap - u);
      let later = 0;
      for (let j = 0; j < AGE_NODES; j++) {
        const y = (1 + ages.x[j]) / 2;
        later += ages.w[j] * y * logEnded(u + reach * y * y);
      }
      const oldest = wait < cap - u ? logEnded(u + wait) : 0;
      return u * -Math.expm1(first * oldest + rest * later * reach / wait);
    };
    const sure = Math.min(knee, kink), capped = Math.max(knee, kink);
    const low = (sure - bottom) / 2, middle = (capped - sure) / 2, high = top - capped;
    let sum = 0, nodes = NODES[SURE_NODES];
    for (let i = 0; i < SURE_NODES; i++) sum += low * nodes.w[i] * part(bottom + low * (1 + nodes.x[i]));
    nodes = NODES[CAPPED_NODES];
    for (let i = 0; i < CAPPED_NODES; i++) sum += middle * nodes.w[i] * part(sure + middle * (1 + nodes.x[i]));
    nodes = NODES[END_NODES];
    for (let i = 0; i < END_NODES; i++) {
      const near = (1 - nodes.x[i]) / 2;
      sum += high * nodes.w[i] * near * part(top - high * near * near);
    }
    return Math.exp(location + spread * bottom) + spread * sum;
  }

  function longest_tokens(n, location, spread, cap) { return reached_tokens(n, 1, location, spread, cap); }

  function logAddExp(a, b) {
    const top = Math.max(a, b);
    return top === -Infinity || top === Infinity ? top : top + Math.log1p(Math.exp(-Math.abs(a - b)));
  }
  function expit(x) { return x >= 0 ? 1 / (1 + Math.exp(-x)) : Math.exp(x) / (1 + Math.exp(x)); }
  function entropyBits(p) { return p > 0 && p < 1 ? -(p * Math.log(p) + (1 - p) * Math.log1p(-p)) / Math.LN2 : 0; }

  // Mean of f(chance of a positive verdict) over a Beta distribution of p: a trapezoid sum in the logit of p.
  function betaMean(a, b, plus, minus, f) {
    const width = Math.sqrt(1 / a + 1 / b), reach = Math.asinh(9 + 40 / (Math.min(a, b) * width));
    const center = Math.log(a / b), logits = [], weights = [], stretch = [];
    let top = -Infinity;
    for (let i = -BETA_NODES; i <= BETA_NODES; i++) {
      const t = reach * i / BETA_NODES, logit = center + width * Math.sinh(t);
      const weight = a * logit - (a + b) * logAddExp(0, logit);
      top = Math.max(top, weight);
      logits.push(logit); weights.push(weight); stretch.push(Math.cosh(t));
    }
    let sum = 0, total = 0;
    for (let i = 0; i < logits.length; i++) {
      const weight = Math.exp(weights[i] - top) * stretch[i];
      total += weight;
      sum += weight * f(plus + (1 - plus - minus) * expit(logits[i]));
    }
    return sum / total;
  }

  function betaNodes(a, b) { // nodes in the logit of p and their weights, for means over a Beta distribution
    const width = Math.sqrt(1 / a + 1 / b), reach = Math.asinh(9 + 40 / (Math.min(a, b) * width));
    const center = Math.log(a / b), logits = [], weights = [], stretch = [];
    let top = -Infinity;
    for (let i = -BETA_NODES; i <= BETA_NODES; i++) {
      const t = reach * i / BETA_NODES, logit = center + width * Math.sinh(t);
      const weight = a * logit - (a + b) * logAddExp(0, logit);
      top = Math.max(top, weight);
      logits.push(logit); weights.push(weight); stretch.push(Math.cosh(t));
    }
    return { logits, weights: weights.map((w, i) => Math.exp(w - top) * stretch[i]) };
  }
  function betaMean(a, b, plus, minus, f) {
    const { logits, weights } = betaNodes(a, b);
    let sum = 0, total = 0;
    for (let i = 0; i < logits.length; i++) {
      total += weights[i];
      sum += weights[i] * f(plus + (1 - plus - minus) * expit(logits[i]));
    }
    return sum / total;
  }
  function mean_entropy(a, b, plus, minus) {
    const mean = a / (a + b);
    if (plus > 0 || minus > 0) return betaMean(a, b, plus, minus, entropyBits);
    return (digamma(a + b + 1) - mean * digamma(a + 1) - (1 - mean) * digamma(b + 1)) / Math.LN2;
  }
  function mean_flat_share(a, b, plus, minus, size) {
    if (plus > 0 || minus > 0) {
      return betaMean(a, b, plus, minus, (seen) => Math.pow(seen, size) + Math.pow(1 - seen, size));
    }
    let right = 1, wrong = 1;
    for (let k = 0; k < size; k++) { right *= (a + k) / (a + b + k); wrong *= (b + k) / (a + b + k); }
    return right + wrong;
  }
  function group_weight(p, size) {
    let total = 0;
    const whole = log_gamma(size + 1), q = 1 - p, xlogy = (x, y) => (x === 0 ? 0 : x * Math.log(y));
    for (let j = 1; j < Math.floor(size); j++) {
      const left = size - j;
      const chance = whole - log_gamma(j + 1) - log_gamma(left + 1) + xlogy(j - 1, p) + xlogy(Math.max(left - 1, 0), q);
      total += Math.exp(chance) * Math.sqrt(j * left) / size;
    }
    return total;
  }
  function peak_tokens(held, location, spread, cap) {
    spread = Math.max(spread, TINY_SPREAD);
    const end = Math.max(Math.min((Math.log(cap) - location) / spread, PEAK_TOP), PEAK_BOTTOM);
    const value = (z) => normal_cdf(-z) * (held + Math.exp(location + spread * z));
    let best = -Infinity, z = PEAK_BOTTOM;
    for (let i = 0; i < PEAK_NODES; i++) {
      const at = PEAK_BOTTOM + (end - PEAK_BOTTOM) * (i / (PEAK_NODES - 1)), found = value(at);
      if (found > best) { best = found; z = at; }
    }
    const grown = Math.exp(location + spread * z), share = grown / (held + grown), tail = normal_cdf(-z);
    const hazard = Math.exp(-z * z / 2 - Math.log(tail)) / Math.sqrt(2 * Math.PI);
    const slope = spread * share - hazard, bend = spread * spread * share * (1 - share) - hazard * (hazard - z);
    const better = value(Math.min(z - (bend < 0 ? slope / bend : 0), end));
    return better >= best ? better : best;
  }

  function gaussian_channel(p, spacing) {
    const right = Math.log(p), wrong = Math.log1p(-p), half = spacing * spacing / 2, width = 10 / CHANNEL_NODES;
    let sum = 0;
    for (let i = -CHANNEL_NODES; i <= CHANNEL_NODES; i++) {
      const z = i * width, shift = spacing * z;
      const one = p > 0 ? -p * logAddExp(right, wrong - shift - half) : 0;
      const zero = p < 1 ? -(1 - p) * logAddExp(wrong, right + shift - half) : 0;
      sum += Math.exp(-z * z / 2) / Math.sqrt(2 * Math.PI) * width * (one + zero);
    }
    return sum / Math.LN2;
  }

  function path_rollouts(start, target) {
    const { x, w } = NODES[HIGH_NODES], logit = (p) => Math.log(p / (1 - p));
    const low = logit(start), half = (logit(target) - low) / 2;
    let sum = 0;
    for (let i = 0; i < HIGH_NODES; i++) {
      const l = low + half * (1 + x[i]), p = expit(l);
      sum += w[i] * half * (l - low) / Math.LN2 * p * expit(-l) / entropyBits(p);
    }
    return sum;
  }

  // toExponential, but ties go to the even digit, as in Python.
  function exponential(x, digits) {
    const text = x.toExponential(digits - 1), all = x.toExponential(digits + 24).replace(/[-.]|e.*/g, "");
    if (!/^50*$/.test(all.slice(digits)) || Number(all[digits - 1]) % 2) return text;
    const kept = all.slice(0, digits), sign = x < 0 ? "-" : "";
    return sign + kept[0] + (digits > 1 ? "." + kept.slice(1) : "") + x.toExponential(digits + 24).replace(/^[^e]*/, "");
  }

  // A number as Python's format "%.<digits>g" writes it.
  function show(value, digits) {
    digits = digits || 4;
    const x = Number(value);
    if (!Number.isFinite(x)) return Number.isNaN(x) ? "nan" : x > 0 ? "inf" : "-inf";
    if (x === 0) return "0";
    const [mantissa, power] = exponential(x, digits).split("e"), exponent = Number(power);
    const cut = (text) => (text.includes(".") ? text.replace(/0+$/, "").replace(/\.$/, "") : text);
    if (exponent < -4 || exponent >= digits) {
      const size = String(Math.abs(exponent)).padStart(2, "0");
      return cut(mantissa) + "e" + (exponent < 0 ? "-" : "+") + size;
    }
    return cut(Number(mantissa + "e" + power).toFixed(Math.max(0, digits - 1 - exponent)));
  }

  const special = { normal_cdf, normal_quantile, log_gamma, digamma, length_location, capped_square, longest_tokens,
    reached_tokens, peak_tokens, last_tokens, mean_entropy, mean_flat_share, group_weight, gaussian_channel, path_rollouts, show, exponential };
  if (typeof module === "object" && module.exports) module.exports = special;
  else root.rleconSpecial = special;
})(typeof globalThis === "object" ? globalThis : this);
