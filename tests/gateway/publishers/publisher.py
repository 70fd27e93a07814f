"""Publishes KV events of one rank as an engine does, with pyzmq and msgspec or msgpack.

Written from the description of the wire alone, so that it can disagree with the reader under test.
Prints a line of JSON with its ports, then executes commands from standard input, a line each:

  publish N    N batches that subscribers receive
  lose N       N batches that are numbered and kept, but not sent
  restart      drops everything and begins with number 0 again
  truth        prints the blocks that are held: handle, parent's handle, tokens
  quit

Arguments: seed, form of events (map, array, mixed), replay (short, long).
"""

import json
import random
import sys
import threading
from collections import OrderedDict, deque
from typing import Any, Optional

import zmq

try:
    from msgspec.msgpack import encode
except ImportError:
    from msgpack import packb as encode

BLOCK = 16
END = (2**64 - 1).to_bytes(8, "big")


def stored(arrays: bool, parent: Optional[int], hashes: list, tokens: list) -> Any:
    if arrays:  # the fields of 2025; later ones are appended
        return ["BlockStored", hashes, parent, tokens, BLOCK, None, "GPU"]
    return {
        "type": "BlockStored",
        "block_hashes": hashes,
        "parent_block_hash": parent,
        "token_ids": tokens,
        "block_size": BLOCK,
        "lora_id": None,
        "medium": "GPU",
        "lora_name": None,
        "extra_keys": [None] * len(hashes),
        "group_idx": 0,
    }


def removed(arrays: bool, hashes: list) -> Any:
    if arrays:
        return ["BlockRemoved", hashes, "GPU"]
    return {"type": "BlockRemoved", "block_hashes": hashes, "medium": "GPU", "group_idx": 0}


def cleared(arrays: bool) -> Any:
    return ["AllBlocksCleared"] if arrays else {"type": "AllBlocksCleared"}


class Engine:
    """A cache of chained blocks that stores, removes and sometimes clears."""

    def __init__(self, seed: int, form: str):
        self.random = random.Random(seed)
        self.form = form
        self.ts = 1.7e9
        self.reset()

    def reset(self) -> None:
        self.held: "OrderedDict[int, tuple[Optional[int], list[int]]]" = OrderedDict()
        self.children: dict[Optional[int], int] = {}

    def batch(self) -> bytes:
        self.ts += self.random.uniform(-1, 2)  # clocks may run back
        events = [self.event() for _ in range(self.random.randint(1, 3))]
        return encode([self.ts, events, 0])

    def event(self) -> Any:
        arrays = self.form == "array" or (self.form == "mixed" and self.random.random() < 0.5)
        roll = self.random.random()
        if roll < 0.003:
            self.reset()
            return cleared(arrays)
        if roll < 0.3 and self.held or len(self.held) > 5_000:
            return removed(arrays, self.remove())
        parent, hashes, tokens = self.store()
        return stored(arrays, parent, hashes, tokens)

    def store(self) -> tuple[Optional[int], list[int], list[int]]:
        parent = self.random.choice(list(self.held)) if self.held and self.random.random() < 0.7 else None
        first, hashes, tokens, last = parent, [], [], parent
        for _ in range(self.random.randint(1, 6)):
            block = [self.random.randrange(128_000) for _ in range(BLOCK)]
            handle = self.random.getrandbits(64)
            self.held[handle] = (last, block)
            self.children[last] = self.children.get(last, 0) + 1
            hashes.append(handle)
            tokens.extend(block)
            last = handle
        return first, hashes, tokens

    def remove(self) -> list[int]:
        leaves = [h for h in self.held if not self.children.get(h)]
        gone = self.random.sample(leaves, min(len(leaves), self.random.randint(1, 4)))
        for handle in gone:
            parent, _ = self.held.pop(handle)
            self.children[parent] -= 1
        return gone

    def truth(self) -> list[Any]:
        return [[str(h), None if p is None else str(p), t] for h, (p, t) in self.held.items()]


class Publisher:
    def __init__(self, long_replay: bool):
        self.long_replay = long_replay
        self.context = zmq.Context()
        self.live = self.context.socket(zmq.PUB)
        self.live.set_hwm(100_000)
        self.replay = self.context.socket(zmq.ROUTER)  # with the default send limit, as engines have it
        self.live_port = self.live.bind_to_random_port("tcp://127.0.0.1")
        self.replay_port = self.replay.bind_to_random_port("tcp://127.0.0.1")
        self.kept: deque = deque(maxlen=10_000)
        self.next = 0

    def take(self, payload: bytes, send: bool) -> None:
        number = self.next.to_bytes(8, "big")
        self.kept.append((self.next, payload))
        self.next += 1
        if send:
            self.live.send_multipart([b"kv-events", number, payload])

    def serve(self) -> None:
        while self.replay.poll(0):
            frames = self.replay.recv_multipart()
            if len(frames) != 3:
                continue
            identity, _, start = frames
            topic = [b"kv-events"] if self.long_replay else []
            for number, payload in list(self.kept):
                if number >= int.from_bytes(start, "big"):
                    self.replay.send_multipart([identity, b"", *topic, number.to_bytes(8, "big"), payload])
            self.replay.send_multipart([identity, b"", *([b""] if topic else []), END, b""])


def main() -> None:
    seed, form, replay = int(sys.argv[1]), sys.argv[2], sys.argv[3]
    engine = Engine(seed, form)
    publisher = Publisher(replay == "long")
    lines: deque = deque()
    done = threading.Event()

    def read() -> None:
        for line in sys.stdin:
            lines.append(line.split())
        done.set()

    threading.Thread(target=read, daemon=True).start()
    print(json.dumps({"live": publisher.live_port, "replay": publisher.replay_port}), flush=True)
    while not (done.is_set() and not lines):
        publisher.serve()
        if not lines:
            publisher.replay.poll(5)
            continue
        command, *args = lines.popleft()
        if command in ("publish", "lose"):
            for i in range(int(args[0])):
                publisher.take(engine.batch(), command == "publish")
                if i % 500 == 499:
                    publisher.serve()
            print(json.dumps({"next": publisher.next}), flush=True)
        elif command == "restart":
            engine.reset()
            publisher.kept.clear()
            publisher.next = 0
            print(json.dumps({"next": 0}), flush=True)
        elif command == "truth":
            print(json.dumps({"blocks": engine.truth(), "next": publisher.next}), flush=True)
        elif command == "quit":
            break


if __name__ == "__main__":
    main()
