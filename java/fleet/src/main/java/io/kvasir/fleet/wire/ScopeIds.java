package io.kvasir.fleet.wire;

import io.kvasir.model.CacheScope;

/** Ids of names, as {@link CacheScope#saltId} makes them. Keeps the last one. Not thread-safe. */
final class ScopeIds {

  private WireText last = new WireText();
  private long lastId;

  /** The id of a text that is not empty. */
  long of(WireText text) {
    if (!text.is(last)) {
      last = text.copy();
      lastId = CacheScope.saltId(text.toString());
    }
    return lastId;
  }
}
