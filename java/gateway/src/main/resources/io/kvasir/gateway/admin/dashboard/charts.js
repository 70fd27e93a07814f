import { quantile } from "./model.js";
import { element, ms, percent, setText } from "./view.js";

const SVG = "http://www.w3.org/2000/svg";

function shape(parent, name, attributes) {
  const node = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) {
    node.setAttribute(key, String(value));
  }
  parent.append(node);
  return node;
}

/** A time at an axis. */
const tick = (value) => (value >= 1e3 ? value / 1e3 + " s" : value + " ms");

function label(parent, x, y, text, anchor = "start") {
  shape(parent, "text", { x, y, "text-anchor": anchor }).textContent = text;
}

const LEFT = 72;
const RIGHT = 472;
const TOP = 8;
const BOTTOM = 156;

/** The next of 1, 2, 5, 10 ... */
function ceiling(value) {
  const power = 10 ** Math.floor(Math.log10(Math.max(value, 1e-3)));
  return [1, 2, 5, 10].map((step) => step * power).find((step) => step >= value * 0.999);
}

export function showCharts(decisions, ranks, nowMs) {
  showFirst(decisions.history, nowMs);
  showSeen(decisions.pairs(), ranks);
}

function showFirst(history, nowMs) {
  const known = history.filter((point) => point.p95 !== null);
  const chart = element("c-first");
  chart.replaceChildren();
  chart.toggleAttribute("hidden", known.length === 0);
  const last = known.at(-1);
  setText(
    element("d-first"),
    last && nowMs - last.atMs < 5e3
      ? "Streamed answers of the last 15 seconds: p50 " + ms(last.p50) + ", p95 " + ms(last.p95) + "."
      : "No first token of a streamed answer was seen in the last 15 seconds.",
  );
  const top = ceiling(Math.max(1, ...known.map((point) => point.p95)));
  const spanMs = 150e3;
  const x = (point) => RIGHT - ((nowMs - point.atMs) / spanMs) * (RIGHT - LEFT);
  const y = (value) => BOTTOM - (value / top) * (BOTTOM - TOP);
  for (const share of [0, 0.5, 1]) {
    shape(chart, "line", { class: "grid", x1: LEFT, x2: RIGHT, y1: y(share * top), y2: y(share * top) });
    label(chart, LEFT - 6, y(share * top) + 4, tick(share * top), "end");
  }
  label(chart, LEFT, BOTTOM + 18, "2.5 minutes ago");
  label(chart, RIGHT, BOTTOM + 18, "now", "end");
  for (const name of ["p95", "p50"]) {
    let path = "";
    let open = false;
    for (const point of history) {
      if (point[name] === null || nowMs - point.atMs > spanMs) {
        open = false;
        continue;
      }
      path += (open ? "L" : "M") + x(point).toFixed(1) + " " + y(point[name]).toFixed(1);
      open = true;
    }
    shape(chart, "path", { class: name, d: path });
  }
}

function showSeen(pairs, workers) {
  const chart = element("c-seen");
  chart.replaceChildren();
  chart.toggleAttribute("hidden", pairs.length === 0);
  if (pairs.length === 0) {
    const routers = [...new Set(workers.map((worker) => worker.router))].join(", ");
    setText(
      element("d-seen"),
      "No streamed answer with an expected time was seen: the router"
        + (routers ? " (" + routers + ")" : "") + " expects none, or had one rank to choose from.",
    );
    return;
  }
  const flat = pairs.flat().map((value) => Math.max(value, 0.1));
  const low = Math.floor(Math.log10(Math.min(...flat)));
  const high = Math.max(low + 1, Math.ceil(Math.log10(Math.max(...flat))));
  const share = (value) => (Math.log10(Math.max(value, 0.1)) - low) / (high - low);
  const x = (value) => LEFT + share(value) * (RIGHT - LEFT);
  const y = (value) => BOTTOM - share(value) * (BOTTOM - TOP);
  for (let power = low; power <= high; power++) {
    const value = 10 ** power;
    shape(chart, "line", { class: "grid", x1: LEFT, x2: RIGHT, y1: y(value), y2: y(value) });
    label(chart, LEFT - 6, y(value) + 4, tick(value), "end");
  }
  label(chart, LEFT, BOTTOM + 18, "expected " + tick(10 ** low));
  label(chart, RIGHT, BOTTOM + 18, tick(10 ** high), "end");
  shape(chart, "line", { class: "same", x1: LEFT, y1: BOTTOM, x2: RIGHT, y2: TOP });
  for (const [expected, seen] of pairs) {
    shape(chart, "circle", { class: "dot", cx: x(expected), cy: y(seen), r: 3 });
  }
  const ratios = pairs.map(([expected, seen]) => seen / Math.max(expected, 0.1)).sort((a, b) => a - b);
  const near = ratios.filter((ratio) => ratio >= 0.5 && ratio <= 2).length;
  setText(
    element("d-seen"),
    "Seen is " + quantile(ratios, 0.5).toFixed(2) + " times the expected at the median of "
      + pairs.length + " answers; " + percent(near, pairs.length) + " are within a factor of 2.",
  );
}
