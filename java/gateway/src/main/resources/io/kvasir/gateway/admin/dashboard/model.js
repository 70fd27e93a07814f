/** What the page has seen: decisions of the last minutes, and what they come to. */

export const WINDOW_MS = 60_000;
const KEPT_MS = 120_000;
const MOST = 20_000;
const CHART_MS = 15_000;
const POINTS = 150;

export class Decisions {
  constructor() {
    this.seen = new Map();
    this.history = [];
    this.skewMs = null;
    this.last = [];
  }

  /** Takes an answer of /kvasir/decisions, newest first. */
  take(list, nowMs) {
    this.last = list;
    if (list.length > 0) {
      // The clocks of the gateway and of this machine may differ.
      const behind = nowMs - Date.parse(list[0].time);
      this.skewMs = this.skewMs === null ? Math.min(behind, 0) : Math.min(behind, this.skewMs);
    }
    for (const each of list) {
      const key = [each.request_id, each.leg, each.attempt, each.time].join(" ");
      each.atMs = Date.parse(each.time) + (this.skewMs ?? 0);
      each.key = key;
      this.seen.delete(key);
      this.seen.set(key, each);
    }
    for (const [key, each] of this.seen) {
      if (nowMs - each.atMs > KEPT_MS || this.seen.size > MOST) {
        this.seen.delete(key);
      }
    }
  }

  /** Adds a point to the chart: first tokens that came in the last seconds. */
  mark(nowMs) {
    const times = [];
    for (const each of this.seen.values()) {
      if (isTimed(each) && nowMs - each.atMs - each.first_token_ms < CHART_MS) {
        times.push(each.first_token_ms);
      }
    }
    times.sort((a, b) => a - b);
    this.history.push({ atMs: nowMs, p50: quantile(times, 0.5), p95: quantile(times, 0.95) });
    if (this.history.length > POINTS) {
      this.history.shift();
    }
  }

  /** Sums over the last minute: in all, by leg, and by worker and by rank. */
  summary(nowMs) {
    const all = sums();
    const legs = new Map();
    const ranks = new Map();
    for (const each of this.seen.values()) {
      if (nowMs - each.atMs > WINDOW_MS) {
        continue;
      }
      for (const place of [each.worker_id, each.worker_id + " " + each.dp_rank]) {
        if (!ranks.has(place)) {
          ranks.set(place, { leg: each.leg, ...sums() });
        }
        add(ranks.get(place), each);
      }
      legs.set(each.leg, (legs.get(each.leg) ?? 0) + 1);
      if (each.leg !== "prefill") {
        add(all, each);
      }
    }
    for (const of of [all, ...ranks.values()]) {
      of.times.sort((a, b) => a - b);
    }
    return { all, legs, ranks };
  }

  /** Pairs of the expected and the seen time of streamed answers. */
  pairs() {
    const pairs = [];
    for (const each of this.seen.values()) {
      if (isTimed(each) && each.expected_first_token_ms !== undefined) {
        pairs.push([each.expected_first_token_ms, each.first_token_ms]);
      }
    }
    return pairs.slice(-400);
  }
}

/** Whether its first token was seen when it came, and not at the end of its answer. */
function isTimed(decision) {
  return decision.first_token_ms !== undefined && decision.stream && decision.leg !== "prefill";
}

function sums() {
  return { count: 0, prompt: 0, cached: 0, times: [] };
}

function add(to, decision) {
  to.count++;
  if (decision.cached_tokens !== undefined && decision.prompt_tokens !== undefined) {
    to.prompt += decision.prompt_tokens;
    to.cached += decision.cached_tokens;
  }
  if (isTimed(decision)) {
    to.times.push(decision.first_token_ms);
  }
}

/** A quantile of sorted values; null if there are none. */
export function quantile(sorted, share) {
  return sorted.length === 0
    ? null
    : sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))];
}

const LABEL = /(\w+)="((?:[^"\\]|\\.)*)"/g;
const unescaped = (text) => text.replace(/\\(.)/g, (_, one) => (one === "n" ? "\n" : one));

/** The metrics kvasir_shadow_NAME of each model and router, by NAME; a quantile's is NAME:QUANTILE. */
export function shadows(text) {
  const all = new Map();
  for (const line of text.split("\n")) {
    const [, name, list, value] = /^kvasir_shadow_(\w+)\{(.*)\} (\S+)$/.exec(line) ?? [];
    if (name === undefined) {
      continue;
    }
    const labels = Object.fromEntries([...list.matchAll(LABEL)].map((each) => [each[1], unescaped(each[2])]));
    const key = JSON.stringify([labels.model, labels.router, labels.serves]);
    if (!all.has(key)) {
      all.set(key, { key, model: labels.model, router: labels.router, serves: labels.serves === "true" });
    }
    all.get(key)[name + (labels.quantile ? ":" + labels.quantile : "")] = Number(value);
  }
  return [...all.values()];
}

/** The sums of some metrics in Prometheus' text format, over all their labels. */
export function metrics(text, names) {
  const found = Object.fromEntries(names.map((name) => [name, 0]));
  for (const line of text.split("\n")) {
    if (line.startsWith("#")) {
      continue;
    }
    const end = line.search(/[{ ]/);
    const name = line.slice(0, end);
    if (Object.hasOwn(found, name)) {
      found[name] += Number(line.slice(line.lastIndexOf(" ") + 1));
    }
  }
  return found;
}
