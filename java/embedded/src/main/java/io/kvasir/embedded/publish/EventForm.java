package io.kvasir.embedded.publish;

/** How events are encoded within a batch. */
public enum EventForm {
  /** Maps with a key {@code type}: the engines since 2026. */
  MAP,
  /** Arrays with the type first: before that. */
  ARRAY,
  /** Maps and arrays in turn. */
  MIXED,
  /** No events are published. */
  NONE
}
