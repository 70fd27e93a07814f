package io.kvasir.embedded.api;

import com.fasterxml.jackson.databind.node.ObjectNode;

/** Adds fields to replies. Confined to the request's event loop. */
public interface ReplyExtras {

  /** Adds nothing. */
  ReplyExtras NONE = reply -> {};

  /**
   * Adds fields.
   *
   * @param reply a whole reply, or the last event of a stream's choice
   */
  void addTo(ObjectNode reply);
}
