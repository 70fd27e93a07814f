package io.kvasir.fleet.wire;

import io.kvasir.event.BlockEvent;

/** Sees stored blocks with their tokens, for checks of what an engine stores. */
@FunctionalInterface
public interface StoredListener {

  /**
   * Blocks were stored. Called on the decoder's thread.
   *
   * @param blocks the blocks with their tokens; valid until the call returns
   * @param event what was made of them
   */
  void onStored(WireBlocks blocks, BlockEvent.Stored event);
}
