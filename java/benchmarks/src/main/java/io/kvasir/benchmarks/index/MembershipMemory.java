package io.kvasir.benchmarks.index;

import io.kvasir.event.BlockEvent;
import io.kvasir.fleet.index.ChangeStatus;
import io.kvasir.fleet.index.PrefixIndex;
import io.kvasir.model.RankId;
import java.util.SplittableRandom;

/**
 * Memory of chains that are each held by the same number of ranks. Tables grow in steps, so an
 * index is measured at sizes spread evenly, on a logarithmic scale, over a doubling. Immutable.
 *
 * @param holders ranks that hold each chain
 * @param meanBytes bytes per membership, mean over the sizes
 * @param worstBytes bytes per membership at the worst size
 */
public record MembershipMemory(int holders, double meanBytes, double worstBytes) {

  private static final int RANKS = 128;
  private static final int CHAIN_BLOCKS = 128;
  private static final int SIZES = 8;
  private static final int EVENT_BLOCKS = 32;

  /** Measures an index at sizes from {@code least} memberships to twice as many, O(memberships). */
  static MembershipMemory measure(IndexKind kind, int holders, int least) {
    double sum = 0;
    double worst = 0;
    try (PrefixIndex index = kind.create()) {
      int chains = 0;
      for (int size = 0; size < SIZES; size++) {
        double memberships = least * Math.pow(2, (size + 0.5) / SIZES);
        while ((long) chains * CHAIN_BLOCKS * holders < memberships) {
          storeChain(index, chains++, holders);
        }
        double bytes = ResidentMemory.of(index.stats()).bytesPerMembership();
        sum += bytes;
        worst = Math.max(worst, bytes);
      }
    }
    return new MembershipMemory(holders, sum / SIZES, worst);
  }

  private static void storeChain(PrefixIndex index, int chain, int holders) {
    SplittableRandom random = new SplittableRandom(chain);
    long[] local = new long[CHAIN_BLOCKS];
    for (int i = 0; i < CHAIN_BLOCKS; i++) {
      local[i] = random.nextLong();
    }
    for (int holder = 0; holder < holders; holder++) {
      RankId rank = new RankId((chain * holders + holder) % RANKS, 0);
      long parent = 0;
      for (int from = 0; from < CHAIN_BLOCKS; from += EVENT_BLOCKS) {
        long[] handles = new long[EVENT_BLOCKS];
        long[] locals = new long[EVENT_BLOCKS];
        for (int i = 0; i < EVENT_BLOCKS; i++) {
          handles[i] = random.nextLong();
          locals[i] = local[from + i];
        }
        BlockEvent.Stored stored =
            from == 0
                ? BlockEvent.Stored.root(handles, locals)
                : BlockEvent.Stored.after(parent, handles, locals);
        ChangeStatus status = index.apply(rank, stored);
        if (status != ChangeStatus.APPLIED) {
          throw new IllegalStateException("blocks could not be stored: " + status);
        }
        parent = handles[EVENT_BLOCKS - 1];
      }
    }
  }
}
