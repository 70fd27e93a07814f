package io.kvasir.gateway.events;

import java.util.Locale;

/** How much is certain about the event stream of a rank. */
public enum FeedState {
  /** Nothing has arrived from the rank yet. */
  CONNECTING,
  /** Recent batches are being recovered. */
  REPLAYING,
  /** All batches have arrived, as far as the engine's own numbers show. */
  LIVE,
  /** The rank publishes nothing, and its replay socket does not answer. */
  SILENT,
  /**
   * For ten seconds neither a batch nor a heartbeat has come, nor an answer to a poll. The rank
   * matches nothing.
   */
  DISCONNECTED,
  /** The index of the rank's model has failed. The rank matches nothing until a restart. */
  FAILED;

  /** {@return whether no batch of the rank is known to be missing} */
  public boolean arrives() {
    return this == CONNECTING || this == LIVE || this == SILENT;
  }

  /** {@return the name in reports} */
  public String id() {
    return name().toLowerCase(Locale.ROOT);
  }
}
