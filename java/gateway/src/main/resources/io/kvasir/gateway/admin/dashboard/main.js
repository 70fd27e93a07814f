import { showCharts } from "./charts.js";
import { Decisions, metrics, shadows } from "./model.js";
import { showDecisions, showEvents, showLink, showRanks, showShadows, showTotals } from "./view.js";

const EVERY_MS = 1_000;
const TIMEOUT_MS = 5_000;

/** All metrics of a large fleet are long: they are read less often. */
const METRICS_EVERY_MS = 5_000;
const RUNNING = "kvasir_num_requests_running";
const WAITING = "kvasir_num_requests_waiting";
const REQUESTS = "kvasir_requests_total";

const state = {
  decisions: new Decisions(),
  ranks: [],
  workers: [],
  counts: null,
  shadows: [],
  rate: null,
  countedMs: 0,
  found: null,
  answeredMs: 0,
  failedSinceMs: 0,
  paused: false,
};
const pause = document.getElementById("pause");
const rankFilter = document.getElementById("f-ranks");
const idFilter = document.getElementById("f-id");

async function get(path) {
  const reply = await fetch(path, { cache: "no-store", signal: AbortSignal.timeout(TIMEOUT_MS) });
  if (!reply.ok) {
    throw new Error(path + " answers " + reply.status);
  }
  return reply;
}

const json = async (path) => (await get(path)).json();

async function readMetrics(nowMs) {
  if (nowMs - state.countedMs < METRICS_EVERY_MS) {
    return;
  }
  const text = await (await get("../metrics")).text();
  const counts = metrics(text, [RUNNING, WAITING, REQUESTS]);
  if (state.counts !== null && counts[REQUESTS] >= state.counts[REQUESTS]) {
    state.rate = ((counts[REQUESTS] - state.counts[REQUESTS]) * 1e3) / (nowMs - state.countedMs);
  }
  state.counts = counts;
  state.shadows = shadows(text);
  state.countedMs = nowMs;
}

async function readFound() {
  const id = idFilter.value.trim();
  state.found = id === "" ? null : await json("decisions?request-id=" + encodeURIComponent(id));
}

async function read() {
  const nowMs = Date.now();
  const [ranks, workers, decisions] = await Promise.all([
    json("ranks"),
    json("workers"),
    json("decisions"),
    readMetrics(nowMs),
    readFound(),
  ]);
  state.ranks = ranks;
  state.workers = workers;
  state.decisions.take(decisions, Date.now());
  state.decisions.mark(Date.now());
  state.answeredMs = Date.now();
  state.failedSinceMs = 0;
}

function show() {
  const nowMs = Date.now();
  const summary = state.decisions.summary(nowMs);
  showLink(state);
  showTotals(state, summary);
  showRanks(state, summary, rankFilter.value);
  showCharts(state.decisions, state.ranks, nowMs);
  showEvents(state.ranks);
  showShadows(state.shadows);
  showDecisions(state.found ?? state.decisions.last.slice(0, 40), state.found !== null);
}

async function step() {
  if (!state.paused && document.visibilityState === "visible") {
    try {
      await read();
    } catch {
      state.failedSinceMs ||= Date.now();
    }
    if (state.answeredMs > 0) {
      show();
    } else {
      showLink(state);
    }
  }
}

async function run() {
  for (;;) {
    const startMs = Date.now();
    await step();
    await new Promise((next) => setTimeout(next, Math.max(200, startMs + EVERY_MS - Date.now())));
  }
}

pause.addEventListener("click", () => {
  state.paused = !state.paused;
  pause.setAttribute("aria-pressed", String(state.paused));
  showLink(state);
});
rankFilter.addEventListener("input", () => state.answeredMs > 0 && show());
run();
