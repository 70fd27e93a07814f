package io.kvasir.fleet.router.trtllm;

import io.kvasir.fleet.router.Worker;

/** A worker and the prefixes of its conversations. Guarded by the router's lock. */
final class SessionHost extends Worker {

  private final SessionPrefixes index = new SessionPrefixes();

  SessionHost(long workerId) {
    super(workerId);
  }

  SessionPrefixes index() {
    return index;
  }
}
