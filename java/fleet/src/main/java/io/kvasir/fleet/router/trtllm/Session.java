package io.kvasir.fleet.router.trtllm;

/** One conversation and its worker. Guarded by the router's lock. */
final class Session {

  private static final SessionPrefixes.Link[] NO_LINKS = {};

  private final String id;
  private final SessionHost host;
  private long lastUse;
  private long[] keys = {};
  private SessionPrefixes.Link[] links = NO_LINKS;

  Session(String id, SessionHost host) {
    this.id = id;
    this.host = host;
  }

  String id() {
    return id;
  }

  SessionHost host() {
    return host;
  }

  long lastUse() {
    return lastUse;
  }

  int blocks() {
    return keys.length;
  }

  /** Makes the session the one that was last seen with these blocks, and with no others. */
  void remember(long[] newKeys, long use) {
    forget();
    keys = newKeys;
    lastUse = use;
    links = new SessionPrefixes.Link[newKeys.length];
    for (int block = 0; block < newKeys.length; block++) {
      links[block] = host.index().add(newKeys[block], this);
    }
  }

  /** Takes the session's blocks out of the index. */
  void forget() {
    for (int block = 0; block < links.length; block++) {
      host.index().remove(keys[block], links[block]);
    }
    keys = new long[0];
    links = NO_LINKS;
  }
}
