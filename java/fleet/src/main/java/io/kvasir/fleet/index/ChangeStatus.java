package io.kvasir.fleet.index;

/** What became of a change that was told to an index. */
public enum ChangeStatus {
  /** It took effect. */
  APPLIED,
  /** Everything was as it says already. */
  UNCHANGED,
  /** Stored behind a parent that the rank is not known to hold. Nothing was done. */
  UNKNOWN_PARENT,
  /** Stored blocks among which one handle, or the parent's, comes twice. Nothing was done. */
  INVALID_SEQUENCE,
  /** Some removed handles are unknown. The others were removed. */
  UNKNOWN_BLOCK,
  /** The index can take no more blocks or ranks. Nothing was done. */
  FULL
}
