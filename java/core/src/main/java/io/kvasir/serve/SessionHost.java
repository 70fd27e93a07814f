package io.kvasir.serve;

/** A server and the beginnings of its conversations. Guarded by the router's lock. */
final class SessionHost extends Server {

  private final PrefixIndex index = new PrefixIndex();

  SessionHost(String name) {
    super(name);
  }

  PrefixIndex index() {
    return index;
  }
}
