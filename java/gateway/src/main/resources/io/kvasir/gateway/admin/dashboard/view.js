import { quantile } from "./model.js";

/* Whatever comes from the gateway is set as text or as a number, never as markup. */

export const element = (id) => document.getElementById(id);
const count = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });

export function setText(node, text) {
  if (node.textContent !== text) {
    node.textContent = text;
  }
}

function setClass(node, name) {
  if (node.className !== name) {
    node.className = name;
  }
}

export function percent(part, whole) {
  const share = (part * 100) / whole;
  return whole > 0 ? share.toFixed(share > 0 && share < 9.95 ? 1 : 0) + " %" : "-";
}

export function ms(value) {
  if (value === null || value === undefined) {
    return "-";
  }
  return value >= 10_000
    ? (value / 1e3).toFixed(1) + " s"
    : (value >= 10 ? count.format(value) : value.toFixed(1)) + " ms";
}

const clock = (atMs) => new Date(atMs).toLocaleTimeString("en-GB");

/** The words of the head change rarely, because screen readers read them out. */
export function showLink(state) {
  const link = element("link");
  let text = "live";
  let kind = "";
  if (state.failedSinceMs > 0) {
    text = "no answer since " + clock(state.failedSinceMs);
    text += state.answeredMs > 0 ? "; the values are older" : "";
    kind = "bad";
  } else if (state.paused) {
    text = "paused at " + clock(Date.now());
    kind = "warn";
  }
  setText(link, text);
  setClass(link, kind);
  document.body.classList.toggle("stale", state.failedSinceMs > 0);
}

export function showTotals(state, { all }) {
  const takes = state.workers.filter((worker) => worker.takes_requests).length;
  setText(element("t-workers"), takes + " of " + state.workers.length);
  const counts = state.counts;
  setText(element("t-running"), count.format(counts.kvasir_num_requests_running));
  setText(element("t-waiting"), count.format(counts.kvasir_num_requests_waiting));
  setText(element("t-rate"), state.rate === null ? "-" : state.rate.toFixed(1));
  const p50 = quantile(all.times, 0.5);
  setText(
    element("t-first"),
    p50 === null ? "-" : ms(p50) + " / " + ms(quantile(all.times, 0.95)),
  );
  setText(element("t-hits"), percent(all.cached, all.prompt));
  const models = new Map();
  for (const worker of state.ranks) {
    models.set(worker.model, worker.router);
  }
  setText(
    element("models"),
    [...models].map(([model, router]) => model + ", routed by " + router).join("; "),
  );
}

/** Keeps one row for each key, in order; cells are made once. */
function rows(body, items, make) {
  const old = new Map([...body.children].map((row) => [row.dataset.key, row]));
  let before = body.firstElementChild;
  for (const item of items) {
    let row = old.get(item.key);
    if (row === undefined) {
      row = document.createElement("tr");
      row.setAttribute("role", "row");
      row.dataset.key = item.key;
      make(row);
    } else {
      old.delete(item.key);
    }
    if (row === before) {
      before = row.nextElementSibling;
    } else {
      body.insertBefore(row, before);
    }
    item.show(row.children);
  }
  for (const row of old.values()) {
    row.remove();
  }
}

function cells(row, labels) {
  labels.forEach((label, i) => {
    const cell = document.createElement(i === 0 ? "th" : "td");
    cell.setAttribute("role", i === 0 ? "rowheader" : "cell");
    if (i === 0) {
      cell.scope = "row";
    } else if (label.startsWith("#")) {
      cell.className = "num";
    }
    const text = label.replace(/^#/, "");
    if (i > 0 && text !== "") {
      cell.dataset.label = text;
    }
    row.append(cell);
  });
}

function child(parent, tag, name) {
  const node = document.createElement(tag);
  node.className = name;
  parent.append(node);
  return node;
}

function workerState(rank, worker) {
  if (!rank.healthy) {
    return ["not healthy", "s-bad"];
  }
  if (worker?.state === "cordoned") {
    return [worker.active_requests > 0 ? "draining" : "cordoned", "s-warn"];
  }
  return worker?.takes_requests === false ? ["rests after failures", "s-bad"] : ["healthy", "s-good"];
}

const STREAM_CLASS = { live: "s-good", replaying: "s-warn", connecting: "s-warn" };

function showBar(cell, active, cached, size, words) {
  const [bar, text] = cell.children;
  bar.children[0].style.width = (active * 100) / size + "%";
  bar.children[1].style.width = (cached * 100) / size + "%";
  setText(text, words);
}

export function showRanks(state, { legs, ranks }, filter) {
  const workers = new Map(state.workers.map((worker) => [worker.worker_id, worker]));
  const wanted = filter.trim().toLowerCase();
  const most = Math.max(
    1,
    ...state.ranks.flatMap(({ ranks: all }) => all.map((rank) => Math.max(held(rank), active(rank)))),
  );
  const items = [];
  for (const worker of state.ranks) {
    const [word, kind] = workerState(worker, workers.get(worker.worker_id));
    for (const rank of worker.ranks) {
      const name = worker.worker_id + (worker.ranks.length > 1 ? " rank " + rank.dp_rank : "");
      const text = [name, word, worker.role, worker.model, rank.state ?? ""].join(" ");
      if (!text.toLowerCase().includes(wanted)) {
        continue;
      }
      // Of a worker with one row, also what its engine placed on ranks of its own.
      const place = worker.ranks.length === 1 ? "" : " " + rank.dp_rank;
      const sums = ranks.get(worker.worker_id + place);
      items.push({
        key: [worker.model, worker.role, worker.worker_id, rank.dp_rank].join(" "),
        show: (cell) => {
          setText(cell[0], name + (worker.role === "both" ? "" : " (" + worker.role + ")"));
          setText(cell[1], word);
          setClass(cell[1], kind);
          const used = active(rank);
          const cached = Math.max(0, held(rank) - used);
          const size = worker.kv_blocks;
          const known = rank.blocks === undefined ? [] : [count.format(cached) + " cached"];
          const words = [count.format(used) + " active", ...known];
          if (size === undefined) {
            words.push("size unknown");
          } else if (known.length === 0) {
            words.push("of " + count.format(size) + ", cached ones not followed");
          } else {
            words.push(count.format(Math.max(0, size - used - cached)) + " free");
          }
          showBar(cell[2], used, cached, Math.max(size ?? most, used + cached, 1), words.join(", "));
          setText(cell[3], rank.load ? count.format(rank.load.active_requests) : "-");
          setText(cell[4], rank.load ? count.format(rank.load.active_prefill_tokens) : "-");
          setText(cell[5], sums ? percent(sums.count, legs.get(sums.leg)) : "-");
          setText(cell[6], sums ? percent(sums.cached, sums.prompt) : "-");
          setText(cell[7], ms(sums ? quantile(sums.times, 0.95) : null));
          const stream = rank.state ?? "not followed";
          setText(cell[8], stream.replaceAll("_", " ") + (rank.untrusted ? ", untrusted" : ""));
          setClass(cell[8], rank.untrusted ? "s-bad" : rank.state ? (STREAM_CLASS[stream] ?? "s-bad") : "");
        },
      });
    }
  }
  rows(element("b-ranks"), items, (row) => {
    cells(row, ["", "", "", "#Requests", "#Queue", "#Routed", "#Hits", "#p95", "Events"]);
    const cell = row.children[2];
    cell.className = "wide";
    const bar = child(cell, "div", "bar");
    bar.setAttribute("aria-hidden", "true");
    child(bar, "i", "active");
    child(bar, "i", "cached");
    child(cell, "span", "sub");
  });
  element("no-ranks").hidden = items.length > 0;
  setText(
    element("no-ranks"),
    state.ranks.length > 0 ? "No rank matches the filter." : "No worker serves a model.",
  );
  showProblems(state.workers);
}

const held = (rank) => rank.blocks ?? 0;
const active = (rank) => rank.load?.active_blocks ?? 0;

function showProblems(workers) {
  const lines = workers.flatMap(({ worker_id: id, problems }) =>
    problems.map((problem) => id + ": " + problem),
  );
  for (const { worker_id: id, state, active_requests: requests } of workers) {
    if (state === "leaving") { // it has no ranks any more
      lines.push(id + ": draining, " + requests + " requests go on");
    }
  }
  const list = element("problems");
  while (list.children.length > lines.length) {
    list.lastElementChild.remove();
  }
  lines.forEach((line, i) => setText(list.children[i] ?? child(list, "li", ""), line));
}

export function showEvents(workers) {
  const items = [];
  for (const worker of workers) {
    const followed = worker.ranks.filter((rank) => rank.state !== undefined);
    if (followed.length === 0) {
      continue;
    }
    const sum = (name) => count.format(followed.reduce((all, rank) => all + (rank[name] ?? 0), 0));
    const live = followed.filter((rank) => rank.state === "live" && !rank.untrusted).length;
    items.push({
      key: [worker.model, worker.role, worker.worker_id].join(" "),
      show: (cell) => {
        setText(cell[0], worker.worker_id);
        setText(cell[1], live + " of " + followed.length + " live");
        setClass(cell[1], live === followed.length ? "s-good" : "s-bad");
        ["batches", "gaps", "replays", "restarts", "invalid_messages"].forEach((name, i) =>
          setText(cell[2 + i], sum(name)),
        );
        const cause = worker.exactness_cause;
        setText(cell[7], worker.exactness + (cause ? ": " + cause.replaceAll("_", " ") : ""));
      },
    });
  }
  rows(element("b-events"), items, (row) =>
    cells(row, ["", "Ranks", "#Batches", "#Gaps", "#Replays", "#Restarts", "#Invalid", "Routing"]),
  );
  element("no-events").hidden = items.length > 0;
}

const seconds = (value) => ms(value === undefined ? null : value * 1e3);

export function showShadows(routers) {
  const items = routers.map((each) => ({
    key: each.key,
    show: (cell) => {
      setText(cell[0], each.router + (each.serves ? " (serves)" : ""));
      setText(cell[1], each.model);
      setText(cell[2], count.format(each.placed_requests_total));
      setText(cell[3], percent(each.hit_tokens_total, each.prompt_tokens_total));
      setText(cell[4], percent(each.busiest_rank_share, 1));
      setText(cell[5], seconds(each["time_to_first_token_seconds:0.5"]));
      setText(cell[6], seconds(each["time_to_first_token_seconds:0.95"]));
    },
  }));
  rows(element("b-shadows"), items, (row) =>
    cells(row, ["", "", "#Requests", "#Hits", "#Busiest rank", "#p50", "#p95"]),
  );
  element("shadows").hidden = items.length === 0;
}

export function showDecisions(list, filtered) {
  const items = list.map((each) => ({
    key: [each.request_id, each.leg, each.attempt, each.time].join(" "),
    show: (cell) => {
      setText(cell[0], each.time.slice(11, 23));
      setText(cell[1].children[0], each.request_id);
      const part = each.leg === "whole" ? each.endpoint.replaceAll("_", " ") : each.leg + " leg";
      setText(cell[1].children[1], part + (each.attempt > 1 ? ", attempt " + each.attempt : ""));
      setText(cell[2], each.worker_id + (each.dp_rank === "any" ? "" : " rank " + each.dp_rank));
      setText(cell[3].children[0], each.reason);
      setText(cell[3].children[1], terms(each));
      const of = each.prompt_tokens === undefined ? "" : " of " + count.format(each.prompt_tokens);
      setText(cell[4], count.format(each.matched_tokens) + of);
      setText(cell[5], each.cached_tokens === undefined ? "-" : count.format(each.cached_tokens));
      setText(cell[6], ms(each.expected_first_token_ms));
      setText(cell[7], ms(each.first_token_ms));
      const bad = each.failure !== undefined || each.status >= 400;
      setText(cell[8], each.failure?.replaceAll("_", " ") ?? String(each.status ?? "in progress"));
      setClass(cell[8], bad ? "s-bad" : "");
    },
  }));
  rows(element("b-decisions"), items, (row) => {
    cells(row, ["", "", "", "", "#Matched", "#Cached", "#Expected", "#Seen", "Outcome"]);
    child(row.children[1], "span", "id");
    child(row.children[1], "span", "sub");
    child(row.children[3], "span", "");
    child(row.children[3], "span", "sub terms");
  });
  element("no-decisions").hidden = items.length > 0;
  setText(
    element("no-decisions"),
    filtered ? "No kept decision has this request id." : "No decision yet.",
  );
}

function terms(decision) {
  const named = Object.entries(decision.cost_terms ?? {}).filter(([, value]) => value !== 0);
  const of = decision.candidates > 0 ? ["of " + decision.candidates] : [];
  return [...of, ...named.map(([name, value]) => name + " " + value.toFixed(1))].join(", ");
}
