// Publishes KV events of one rank as an engine does, with zeromq and @msgpack/msgpack.
//
// Written from the description of the wire alone, so that it can disagree with the reader under
// test. Arguments and commands are those of publisher.py.

import { encode } from "@msgpack/msgpack";
import * as readline from "node:readline";
import * as zmq from "zeromq";

const BLOCK = 16;
const END = Buffer.alloc(8, 0xff);
const KEPT = 10_000;

/** A small generator of numbers (mulberry32), so that a seed repeats a run. */
function generator(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}

class Engine {
  constructor(seed, form) {
    this.random = generator(seed);
    this.form = form;
    this.ts = 1.7e9;
    this.reset();
  }

  reset() {
    this.held = new Map(); // handle -> { parent, tokens }, handles as decimal texts
    this.children = new Map();
  }

  below(n) {
    return Math.floor(this.random() * n);
  }

  handle() {
    return (BigInt(this.below(2 ** 32)) << 32n) | BigInt(this.below(2 ** 32));
  }

  batch() {
    this.ts += this.random() * 3 - 1;
    const events = Array.from({ length: 1 + this.below(3) }, () => this.event());
    return encode([this.ts, events, 0], { useBigInt64: true });
  }

  event() {
    const arrays = this.form === "array" || (this.form === "mixed" && this.random() < 0.5);
    const roll = this.random();
    if (roll < 0.003) {
      this.reset();
      return arrays ? ["AllBlocksCleared"] : { type: "AllBlocksCleared" };
    }
    if ((roll < 0.3 && this.held.size > 0) || this.held.size > 5_000) {
      const hashes = this.remove();
      return arrays
        ? ["BlockRemoved", hashes, "GPU", null]
        : { block_hashes: hashes, medium: "GPU", type: "BlockRemoved" };
    }
    const { parent, hashes, tokens } = this.store();
    return arrays
      ? ["BlockStored", hashes, parent, tokens, BLOCK, null, "GPU", null, null, 0, null, null]
      : {
          // another order of keys, and one that is new
          future: { anything: [1, 2] },
          token_ids: tokens,
          block_size: BLOCK,
          parent_block_hash: parent,
          block_hashes: hashes,
          lora_id: null,
          lora_name: null,
          medium: "GPU",
          type: "BlockStored",
        };
  }

  store() {
    const handles = [...this.held.keys()];
    const under = handles.length > 0 && this.random() < 0.7;
    const first = under ? handles[this.below(handles.length)] : null;
    let parent = first;
    const hashes = [];
    const tokens = [];
    for (let i = 1 + this.below(6); i > 0; i--) {
      const block = Array.from({ length: BLOCK }, () => this.below(128_000));
      const handle = this.handle();
      this.held.set(handle.toString(), { parent, tokens: block });
      this.children.set(parent, (this.children.get(parent) ?? 0) + 1);
      hashes.push(handle);
      tokens.push(...block);
      parent = handle.toString();
    }
    return { parent: first === null ? null : BigInt(first), hashes, tokens };
  }

  remove() {
    const leaves = [...this.held.keys()].filter((handle) => !this.children.get(handle));
    const gone = [];
    for (let i = 1 + this.below(4); i > 0 && leaves.length > 0; i--) {
      gone.push(leaves.splice(this.below(leaves.length), 1)[0]);
    }
    for (const handle of gone) {
      const { parent } = this.held.get(handle);
      this.held.delete(handle);
      this.children.set(parent, this.children.get(parent) - 1);
    }
    return gone.map(BigInt);
  }

  truth() {
    return [...this.held].map(([handle, { parent, tokens }]) => [handle, parent, tokens]);
  }
}

function bytes(number) {
  const buffer = Buffer.alloc(8);
  buffer.writeBigUInt64BE(BigInt(number));
  return buffer;
}

const [seed, form, replayForm] = process.argv.slice(2);
const engine = new Engine(Number(seed), form);
const live = new zmq.Publisher({ sendHighWaterMark: 100_000, linger: 0 });
const replay = new zmq.Router({ linger: 0 });
await live.bind("tcp://127.0.0.1:*");
await replay.bind("tcp://127.0.0.1:*");
let kept = [];
let next = 0;

async function serve() {
  for await (const frames of replay) {
    if (frames.length !== 3) {
      continue;
    }
    const start = Number(frames[2].readBigUInt64BE());
    const topic = replayForm === "long" ? [Buffer.from("kv-events")] : [];
    for (const { number, payload } of kept.filter((batch) => batch.number >= start)) {
      await replay.send([frames[0], "", ...topic, bytes(number), payload]);
    }
    await replay.send([frames[0], "", ...topic.map(() => ""), END, ""]);
  }
}

function answer(value) {
  process.stdout.write(`${JSON.stringify(value)}\n`);
}

serve();
answer({ live: port(live), replay: port(replay) });
for await (const line of readline.createInterface({ input: process.stdin })) {
  const [command, count] = line.split(" ");
  if (command === "publish" || command === "lose") {
    for (let i = Number(count); i > 0; i--) {
      const payload = Buffer.from(engine.batch());
      const number = next++;
      kept.push({ number, payload });
      if (command === "publish") {
        await live.send(["kv-events", bytes(number), payload]);
      }
    }
    kept = kept.slice(-KEPT);
    answer({ next });
  } else if (command === "restart") {
    engine.reset();
    kept = [];
    next = 0;
    answer({ next });
  } else if (command === "truth") {
    answer({ blocks: engine.truth(), next });
  } else if (command === "quit") {
    break;
  }
}
process.exit(0);

function port(socket) {
  return Number(socket.lastEndpoint.split(":").at(-1));
}
