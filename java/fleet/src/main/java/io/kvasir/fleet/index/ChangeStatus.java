package io.kvasir.fleet.index;

/** Outcome of a change that was applied to an index. */
public enum ChangeStatus {
  /** The change took effect. */
  APPLIED,
  /** The index already had this state. */
  UNCHANGED,
  /** The rank does not hold the parent of the stored blocks. Nothing was changed. */
  UNKNOWN_PARENT,
  /** A handle occurs twice among the stored blocks and their parent. Nothing was changed. */
  INVALID_SEQUENCE,
  /** Some removed handles are unknown. The others were removed. */
  UNKNOWN_BLOCK,
  /** The index is full. Nothing was changed. */
  FULL
}
