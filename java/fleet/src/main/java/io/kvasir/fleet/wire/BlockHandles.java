package io.kvasir.fleet.wire;

import io.kvasir.model.Digest64;
import java.util.Arrays;

/**
 * The handles of a rank's blocks: the engine's hashes for blocks of the main group on the GPU, and
 * for others these hashes with their tier, which stands for medium, owner and group. Stateless.
 */
final class BlockHandles {

  /** The tier of the engine itself, the GPU and the main group. */
  static final long FIRST_TIER = 0;

  /** Stands for the main group in a tier. */
  private static final int MAIN = -1;

  private BlockHandles() {}

  /** The tier of blocks. */
  static long tier(WireBlocks blocks, boolean main) {
    if (main && blocks.medium() == WireBlocks.GPU && blocks.ownership() == 0) {
      return FIRST_TIER;
    }
    long medium = Digest64.fold(Digest64.EMPTY, blocks.medium());
    long owned = Digest64.fold(medium, blocks.ownership());
    return Digest64.fold(owned, main ? MAIN : Math.max(0, blocks.group()));
  }

  /** The handle of a block, by its tier and the engine's hash. */
  static long of(long tier, long hash) {
    return tier == FIRST_TIER ? hash : Digest64.fold(tier, hash);
  }

  /** The handles of blocks, in order. */
  static long[] of(WireBlocks blocks, boolean main) {
    long tier = tier(blocks, main);
    long[] handles = engineHashes(blocks);
    for (int i = 0; tier != FIRST_TIER && i < handles.length; i++) {
      handles[i] = of(tier, handles[i]);
    }
    return handles;
  }

  /** The engine's hashes of blocks, in order. */
  static long[] engineHashes(WireBlocks blocks) {
    return Arrays.copyOf(blocks.hashes(), blocks.blockCount());
  }
}
