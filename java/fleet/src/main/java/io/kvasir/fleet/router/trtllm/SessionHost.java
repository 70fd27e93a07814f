package io.kvasir.fleet.router.trtllm;

/** A server and the beginnings of its conversations. Guarded by the router's lock. */
final class SessionHost extends Server {

  private final SessionPrefixes index = new SessionPrefixes();

  SessionHost(String name) {
    super(name);
  }

  SessionPrefixes index() {
    return index;
  }
}
