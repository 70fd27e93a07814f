package io.kvasir.fleet.wire;

/**
 * Takes what a decoder reads, in the order of the payload, on the decoder's thread. Blocks that are
 * passed are valid until the call returns.
 */
public interface WireListener {

  /**
   * A batch begins. Its events follow, whether or not some of them are skipped.
   *
   * @param timestamp seconds since 1970 by the engine's clock, which may run back; NaN if absent
   * @param dpRank the data-parallel rank that the batch names; -1 if it names none
   */
  void onBatch(double timestamp, int dpRank);

  /**
   * Blocks were stored.
   *
   * @param blocks the blocks
   */
  void onStored(WireBlocks blocks);

  /**
   * Blocks were removed.
   *
   * @param blocks their hashes, medium and group
   */
  void onRemoved(WireBlocks blocks);

  /** The rank dropped its blocks, of all tiers and groups. */
  void onCleared();

  /**
   * An event was skipped. Without a batch before it, the whole payload was.
   *
   * @param cause why
   */
  void onSkipped(SkipCause cause);
}
