package io.kvasir.embedded.api;

import org.jspecify.annotations.Nullable;

/** The text of one choice and how it ends. Confined to the request's event loop. */
public interface AnswerText {

  /** The text of the token at an index, which may be empty. */
  String piece(int index);

  /** Whether it ended by itself or at a stop string, rather than at the request's maximum. */
  boolean complete();

  /** The stop string that ended it; null if none did, or if it is unknown. */
  @Nullable String stop();
}
