#!/usr/bin/env python3
"""Drives a fleet policy by name: examples/route.py [POLICY]. KVASIR is the command, or ./kvasir.

Worker 4 takes four times as long as the others for a prompt. Time is the nowMs of the lines. The
result says how many requests each worker was given in either half of the run.
"""
import collections, heapq, json, os, shlex, subprocess, sys

POLICY = sys.argv[1] if len(sys.argv) > 1 else "projected"
PROMPT_MS = {1: 50, 2: 50, 3: 50, 4: 200}
REQUESTS, INTERVAL_MS = 400, 60

command = shlex.split(os.environ.get("KVASIR", "./kvasir")) + ["route"]
kvasir = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def ask(op, **fields):
    kvasir.stdin.write(json.dumps({"op": op, **fields}) + "\n")
    kvasir.stdin.flush()
    answer = json.loads(kvasir.stdout.readline())
    return answer if "error" not in answer else sys.exit(f"{op}: {answer['error']}")


ask("configure", fleetRouter=POLICY)
for worker in PROMPT_MS:
    ask("add_rank", worker=worker)
free_ms, reports = dict.fromkeys(PROMPT_MS, 0), []
halves = [collections.Counter(), collections.Counter()]
for id in range(REQUESTS):
    now = id * INTERVAL_MS
    while reports and reports[0][0] <= now:
        at, routed, op, more = heapq.heappop(reports)
        ask(op, id=routed, nowMs=at, **more)
    worker = ask("route", id=id, tokens=[id] * 640, nowMs=now)["worker"]
    halves[2 * id // REQUESTS][worker] += 1
    first = free_ms[worker] = max(now, free_ms[worker]) + PROMPT_MS[worker]
    heapq.heappush(reports, (first, id, "tokens", {"count": 1}))
    heapq.heappush(reports, (first + 8, id, "tokens", {"count": 7}))
    heapq.heappush(reports, (first + 9, id, "finish", {}))
print(json.dumps({"policy": POLICY, "halves": halves}))
