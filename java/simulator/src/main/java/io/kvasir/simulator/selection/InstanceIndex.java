package io.kvasir.simulator.selection;

import io.kvasir.fleet.index.NativePrefixIndex;
import io.kvasir.fleet.index.PrefixIndex;
import io.kvasir.hash.HashFormat;
import io.kvasir.model.RankId;

/** How indexes over instances of one rank are made and asked. */
final class InstanceIndex {

  private static final long MAX_BYTES = 1L << 32;

  private InstanceIndex() {}

  static PrefixIndex empty(HashFormat format, int tokensPerBlock) {
    return new NativePrefixIndex(format, tokensPerBlock, MAX_BYTES);
  }

  /** By what name an instance's only rank goes. */
  static RankId rank(int instance) {
    return new RankId(instance, 0);
  }
}
