package io.kvasir.embedded.publish;

/** The frames of a replayed batch. */
public enum ReplayForm {
  /** An empty frame, the number, the payload. */
  SHORT,
  /** An empty frame, the topic, the number, the payload. */
  LONG,
  /** There is no replay. */
  NONE
}
