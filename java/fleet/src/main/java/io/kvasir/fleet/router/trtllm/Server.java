package io.kvasir.fleet.router.trtllm;

/** A server as a router knows it. Guarded by the router's lock. */
class Server {

  private final String name;
  private long load;

  Server(String name) {
    this.name = name;
  }

  final String name() {
    return name;
  }

  final long load() {
    return load;
  }

  final void addLoad(long weight) {
    load += weight;
  }

  final void removeLoad(long weight) {
    load = Math.max(0, load - weight);
  }
}
