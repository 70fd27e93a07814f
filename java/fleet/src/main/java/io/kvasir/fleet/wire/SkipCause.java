package io.kvasir.fleet.wire;

/** Why an event of an engine, or the rest of a batch, was not applied. */
public enum SkipCause {
  /**
   * The bytes are not MessagePack or JSON, or end too early. Later events of the batch are lost.
   */
  MALFORMED,
  /** The tag of the event is unknown. */
  UNKNOWN_TAG,
  /** A field is missing, or has a value of the wrong type or out of range. */
  WRONG_TYPE,
  /** A count or a text is longer than {@link WireDecoder} accepts. */
  TOO_LARGE,
  /** Values are nested deeper than {@link WireDecoder} accepts. */
  NESTED,
  /** The event's blocks are of another size than the rank's. */
  OTHER_BLOCK_SIZE,
  /** The number of tokens is not the number of blocks times the block size. */
  TOKEN_COUNT,
  /** The event is about a cache group that does not keep whole prefixes. Not an error. */
  OTHER_GROUP,
  /** The event is about a cache group of a kind that is not known. */
  OTHER_KIND,
  /** The event is about a part of a block. Not an error: only whole blocks are matched. */
  PARTIAL_BLOCK,
  /** The event is about a store that is not the worker's own. Not an error. */
  REMOTE,
  /** The event is about a medium that is not known to be the worker's own. */
  OTHER_MEDIUM
}
