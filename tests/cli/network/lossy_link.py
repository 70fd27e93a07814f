"""A link between this host and a network namespace, with delay and loss.

    lossy_link.py NAMESPACE OUTER_ADDRESS INNER_ADDRESS DELAY_MS LOSS_PERCENT SEED

Makes the namespace, and two TUN devices whose packets this process carries, since the kernel's own
emulator (netem) is missing in many containers. Prints "ready". Reads commands from standard input:
"cut" loses all packets, "heal" carries them again; at the end of the input everything is removed.
Needs root, /dev/net/tun and iproute2.
"""

import collections
import fcntl
import os
import random
import select
import struct
import subprocess
import sys
import time

TUNSETIFF = 0x400454CA
IFF_TUN_NO_PI = 0x1001


def device(name):
    descriptor = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(descriptor, TUNSETIFF, struct.pack("16sH14s", name.encode(), IFF_TUN_NO_PI, b""))
    return descriptor


def ip(*words):
    subprocess.run(["ip", *words], check=True)


def carry(ends, delay_s, loss, chance):
    due = collections.deque()  # (time, descriptor, packet); delays are equal, so it stays sorted
    whole = True
    while True:
        wait_s = max(0.0, due[0][0] - time.monotonic()) if due else None
        ready, _, _ = select.select([*ends, sys.stdin], [], [], wait_s)
        if sys.stdin in ready:
            command = os.read(sys.stdin.fileno(), 100).decode().split()
            if not command:
                return
            whole = command[-1] == "heal"
        for end in ends:
            if end in ready:
                packet = os.read(end, 1 << 16)
                if whole and chance.random() >= loss:
                    due.append((time.monotonic() + delay_s, ends[end], packet))
        while due and due[0][0] <= time.monotonic():
            _, end, packet = due.popleft()
            if whole:
                try:
                    os.write(end, packet)
                except OSError:
                    pass  # a full queue loses packets, as links do


def main():
    namespace, outer, inner, delay_ms, loss_percent, seed = sys.argv[1:]
    here, there = namespace + "o", namespace + "i"
    subprocess.run(["ip", "netns", "del", namespace], stderr=subprocess.DEVNULL)
    ip("netns", "add", namespace)
    try:
        near, far = device(here), device(there)
        ip("link", "set", there, "netns", namespace)
        ip("addr", "add", outer, "peer", inner, "dev", here)
        ip("link", "set", here, "up")
        ip("-n", namespace, "addr", "add", inner, "peer", outer, "dev", there)
        ip("-n", namespace, "link", "set", there, "up")
        ip("-n", namespace, "link", "set", "lo", "up")
        print("ready", flush=True)
        carry({near: far, far: near}, float(delay_ms) / 1e3, float(loss_percent) / 100, random.Random(int(seed)))
    finally:
        subprocess.run(["ip", "netns", "del", namespace])


main()
