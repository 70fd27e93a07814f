"""What the benchmarks of this folder have in common: their C programs, ports and gateways."""

import http.client
import os
import socket
import subprocess
import sys
import time

READY_SECONDS = 120
FOLDER = os.path.dirname(os.path.abspath(__file__))


def compile_program(folder, name, sources):
    program = os.path.join(folder, name)
    files = [os.path.join(FOLDER, source + ".c") for source in sources + ["bench_io", "http_reader"]]
    subprocess.run(["cc", "-std=c11", "-O2", "-o", program] + files, check=True)
    return program


def compile_engine_and_load(folder):
    """Compiles the stub engine and the load generator; returns the programs."""
    stub = compile_program(folder, "stub", ["stub_engine", "stub_requests", "stub_replies", "timer_heap"])
    load = compile_program(folder, "load", ["load_generator", "load_plan", "load_answer", "load_report"])
    return stub, load


def free_ports(count):
    """Ports that differ from each other."""
    taken = [socket.socket() for _ in range(count)]
    for each in taken:
        each.bind(("127.0.0.1", 0))
    ports = [each.getsockname()[1] for each in taken]
    for each in taken:
        each.close()
    return ports


def free_port():
    return free_ports(1)[0]


class Gateway:
    """A process of `kvasir serve`; its output goes to a file, which a failure prints."""

    def __init__(self, command, port, log):
        self.port = port
        self.log = log
        with open(log, "w", encoding="utf-8") as output:
            self.process = subprocess.Popen(command, stdout=output, stderr=output)

    def await_ready(self, poll_seconds=0.2):
        deadline = time.monotonic() + READY_SECONDS
        while self.process.poll() is None and time.monotonic() < deadline:
            try:
                connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=5)
                connection.request("GET", "/ready")
                if connection.getresponse().status == 200:
                    return
            except OSError:
                pass
            time.sleep(poll_seconds)
        with open(self.log, encoding="utf-8") as log:
            sys.exit(f"a gateway is not ready; status {self.process.poll()}: {log.read()}")


def start_gateway(folder, options, processes, poll_seconds=0.2):
    """Starts a gateway on free ports and awaits its first worker; asks whether it is ready at an interval."""
    port = free_port()
    command = ["./kvasir", "serve", "--port", str(port), "--admin-port", str(free_port()), "--access-log", "none"]
    gateway = Gateway(command + options, port, os.path.join(folder, f"{port}.log"))
    processes.append(gateway.process)
    gateway.await_ready(poll_seconds)
    return gateway
