package io.kvasir.benchmarks;

import io.kvasir.engine.pool.PrefixMatches;
import it.unimi.dsi.fastutil.longs.LongOpenHashSet;
import java.util.List;

/**
 * The same search as {@code NativePrefixMatcher}, over one fastutil set of sequence hashes per
 * rank, with one look-up after the other.
 *
 * <p>Confined to one thread.
 */
final class FastutilPrefixMatcher {

  private final List<LongOpenHashSet> named;
  private final int tokensPerBlock;

  FastutilPrefixMatcher(List<LongOpenHashSet> named, int tokensPerBlock) {
    this.named = named;
    this.tokensPerBlock = tokensPerBlock;
  }

  PrefixMatches match(RequestPopulation requests, int first, int count) {
    PrefixMatches matches = new PrefixMatches(named.size(), count);
    for (int i = 0; i < count; i++) {
      long[] hashes = requests.hashes(first + i);
      for (int rank = 0; rank < named.size(); rank++) {
        matches.set(rank, i, heldBlocks(named.get(rank), hashes) * tokensPerBlock);
      }
    }
    return matches;
  }

  private static int heldBlocks(LongOpenHashSet named, long[] hashes) {
    if (!named.contains(hashes[0])) {
      return 0;
    }
    int held = 1;
    int end = hashes.length;
    while (held < end) {
      int middle = (held + end) >>> 1;
      if (named.contains(hashes[middle])) {
        held = middle + 1;
      } else {
        end = middle;
      }
    }
    return held;
  }
}
