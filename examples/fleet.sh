#!/usr/bin/env bash
# Starts two engines with modelled steps and a gateway in front of them, sends the same prompt twice, and prints where
# each request went and why. Needs bash and curl, but no GPU and no container. All processes are stopped at the end.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
logs=$(mktemp -d)
pids=()

stop() {
  trap - EXIT
  for pid in "${pids[@]}"; do kill "$pid" 2>/dev/null || :; done
  for pid in "${pids[@]}"; do wait "$pid" 2>/dev/null || :; done
  rm -rf "$logs"
}
trap stop EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# start NAME ARGUMENT...: runs kvasir in the background; its standard error goes to $logs/NAME.
start() {
  "$root/kvasir" "${@:2}" 2>"$logs/$1" &
  pids+=($!)
}

# await NAME SED_SCRIPT: waits until the script prints something from the log of that name, and prints it.
await() {
  local found='' deadline=$((SECONDS + 60))
  while [ -z "$found" ]; do
    if [ "$SECONDS" -ge "$deadline" ]; then
      cat "$logs/$1" >&2
      return 1
    fi
    sleep 0.1
    found=$(sed -nE "$2" "$logs/$1")
  done
  printf '%s\n' "$found"
}

# ask ID: sends the prompt, and prints where it went.
ask() {
  curl -sS --fail -o /dev/null -D "$logs/head" "$api/v1/completions" \
    -H 'content-type: application/json' -H 'x-kvasir-explain: true' -H "x-request-id: $1" \
    -d "{\"model\":\"kvasir\",\"max_tokens\":8,\"prompt\":\"$prompt\"}"
  echo "request $1:"
  sed -nE 's/\r$//; s/^x-kvasir-([a-z-]+): /  \1: /p' "$logs/head"
}

"$root/kvasir" version >/dev/null # builds once, before several processes start

# Port 0 takes a free port, which the process announces.
for name in engine1 engine2; do
  start "$name" engine --flavor vllm --dp 2 --events map --device cpu --host 127.0.0.1 \
    --port 0 --events-port 0 --replay-port 0
done
describe='s|^kvasir: engine .*, (http://[^ ]+)/v1, events from port ([0-9]+), replay from ([0-9]+)$|'
describe+='\1,flavor=vllm,ranks=2,events=tcp://127.0.0.1:\2,replay=tcp://127.0.0.1:\3|p'
worker1=$(await engine1 "$describe")
worker2=$(await engine2 "$describe")
echo "worker: $worker1"
echo "worker: $worker2"

start gateway serve --host 127.0.0.1 --port 0 --admin-port 0 --access-log none \
  --worker "$worker1" --worker "$worker2"
api=$(await gateway 's|^kvasir: OpenAI API +(http://[^ ]+)/v1$|\1|p')
admin=$(await gateway 's|^kvasir: metrics +(http://[^ ]+)/metrics$|\1|p')
echo "gateway: $api"

deadline=$((SECONDS + 30))
until curl -sf -o /dev/null "$admin/ready"; do
  if [ "$SECONDS" -ge "$deadline" ]; then
    cat "$logs/gateway" >&2
    exit 1
  fi
  sleep 0.1
done

prompt=$(printf 'word%d ' {1..200})
ask 1
ask 2 # the rank of the first request holds the prompt
