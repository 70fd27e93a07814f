package io.kvasir.gateway.zmtp;

/** What a socket is in ZeroMQ's terms. */
public enum ZmtpRole {
  /** Receives what a publisher sends to its topic. */
  SUB("PUB or XPUB"),
  /** Asks a peer questions, and receives its answers. */
  DEALER("ROUTER, REP or DEALER");

  private final String peers;

  ZmtpRole(String peers) {
    this.peers = peers;
  }

  /** Whether a peer that names this type can be talked to. */
  boolean takes(String peerType) {
    return switch (peerType) {
      case "PUB", "XPUB" -> this == SUB;
      case "ROUTER", "REP", "DEALER" -> this == DEALER;
      default -> false;
    };
  }

  /** The peers that it takes, for errors. */
  String peers() {
    return peers;
  }
}
