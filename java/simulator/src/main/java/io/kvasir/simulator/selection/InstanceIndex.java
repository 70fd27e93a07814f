package io.kvasir.simulator.selection;

import io.kvasir.event.CacheChange;
import io.kvasir.hash.HashFormat;
import io.kvasir.hash.HashedRequest;
import io.kvasir.index.NativePrefixIndex;
import io.kvasir.index.PrefixIndex;
import io.kvasir.index.RankMatches;
import io.kvasir.model.RankId;
import java.util.List;

/** What instances hold, by their block events. Confined to one thread; owns native memory. */
final class InstanceIndex implements AutoCloseable {

  private static final long MAX_BYTES = 1L << 32;

  private final PrefixIndex index;
  private final RankMatches matches = new RankMatches();

  InstanceIndex(HashFormat format, int tokensPerBlock) {
    this.index = new NativePrefixIndex(format, tokensPerBlock, MAX_BYTES);
  }

  /** By what name an instance's only rank goes. */
  static RankId rank(int instance) {
    return new RankId(instance, 0);
  }

  PrefixIndex index() {
    return index;
  }

  void apply(int instance, List<CacheChange> changes) {
    changes.forEach(change -> index.apply(rank(instance), change));
  }

  /** Leading blocks of a prompt by instance; valid until the next call. */
  RankMatches match(HashedRequest request) {
    index.match(request.hashes().sequence(), request.hashes().blocks(), matches);
    return matches;
  }

  @Override
  public void close() {
    index.close();
  }
}
