package io.kvasir.fleet.index;

import io.kvasir.event.BlockEvent;
import io.kvasir.hash.HashFormat;
import io.kvasir.model.RankId;
import java.util.Map;
import java.util.TreeMap;

/** Drives an index under test in shorthand. Blocks are identified by their local hashes. */
final class IndexScenario implements AutoCloseable {

  /** In place of a parent's handle, for the first block of a prompt. */
  static final Long ROOT = null;

  private final PrefixIndex index;
  private final HashFormat format;

  IndexScenario(PrefixIndex index, HashFormat format) {
    this.index = index;
    this.format = format;
  }

  PrefixIndex index() {
    return index;
  }

  ChangeStatus store(RankId rank, Long parent, long[] handles, long... locals) {
    return index.apply(
        rank,
        parent == null
            ? BlockEvent.Stored.root(handles, locals)
            : BlockEvent.Stored.after(parent, handles, locals));
  }

  ChangeStatus remove(RankId rank, long... handles) {
    return index.apply(rank, BlockEvent.Removed.of(handles));
  }

  ChangeStatus clear(RankId rank) {
    return index.apply(rank, new BlockEvent.Cleared());
  }

  /** Matched leading blocks of a prompt, by rank. */
  Map<RankId, Integer> match(long... locals) {
    return match(index, NaiveIndex.chain(format, 0, locals));
  }

  static Map<RankId, Integer> match(PrefixIndex index, long... sequence) {
    RankMatches matches = new RankMatches();
    matches.add(new RankId(-1, Integer.MAX_VALUE), 1);
    index.match(sequence, sequence.length, matches);
    Map<RankId, Integer> found = new TreeMap<>();
    for (int i = 0; i < matches.size(); i++) {
      if (found.put(matches.rank(i), matches.blocks(i)) != null) {
        throw new AssertionError(matches.rank(i) + " comes twice");
      }
    }
    return found;
  }

  static long[] handles(long... handles) {
    return handles;
  }

  @Override
  public void close() {
    index.close();
  }
}
