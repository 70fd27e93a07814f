package io.kvasir.benchmarks;

import io.kvasir.hash.BlockHasher;
import io.kvasir.hash.BlockHashes;
import io.kvasir.hash.HashFormat;
import io.kvasir.hash.NativeBlockHasher;
import io.kvasir.model.CacheScope;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/**
 * Requests whose prefixes fill the pools of some ranks completely. For each request, a rank holds
 * nothing (probability 1/2), the whole request (1/4) or a prefix of random length (1/4).
 *
 * <p>Immutable once generated; reproducible for a given seed.
 */
final class RequestPopulation {

  static final int BLOCKS = 250;
  static final int TOKENS_PER_BLOCK = 16;

  /** Receives the blocks that a rank is to hold. */
  interface Rank {
    void hold(int[] tokens, long[] sequenceHashes, int blocks);
  }

  private final List<long[]> hashes = new ArrayList<>();
  private final List<int[]> heldBlocks = new ArrayList<>();

  private RequestPopulation() {}

  static RequestPopulation generate(int blocksPerRank, List<? extends Rank> ranks, long seed) {
    RequestPopulation population = new RequestPopulation();
    BlockHasher hasher = NativeBlockHasher.of(HashFormat.KVASIR, TOKENS_PER_BLOCK);
    SplittableRandom random = new SplittableRandom(seed);
    int[] room = new int[ranks.size()];
    java.util.Arrays.fill(room, blocksPerRank);
    long left = (long) blocksPerRank * ranks.size();
    while (left > 0) {
      int[] tokens = random.ints((long) BLOCKS * TOKENS_PER_BLOCK).toArray();
      BlockHashes request = hasher.hash(tokens, CacheScope.NONE);
      int[] held = new int[ranks.size()];
      for (int rank = 0; rank < held.length; rank++) {
        held[rank] = Math.min(room[rank], depth(random));
        if (held[rank] > 0) {
          ranks.get(rank).hold(tokens, request.sequence(), held[rank]);
          room[rank] -= held[rank];
          left -= held[rank];
        }
      }
      population.hashes.add(request.sequence());
      population.heldBlocks.add(held);
    }
    return population;
  }

  private static int depth(SplittableRandom random) {
    return switch (random.nextInt(4)) {
      case 0 -> BLOCKS;
      case 1 -> random.nextInt(1, BLOCKS);
      default -> 0;
    };
  }

  int size() {
    return hashes.size();
  }

  long[] hashes(int request) {
    return hashes.get(request);
  }

  int heldBlocks(int request, int rank) {
    return heldBlocks.get(request)[rank];
  }
}
