package io.kvasir.fleet.load;

import io.kvasir.model.RankId;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * A direct implementation of the load prediction, rank by rank: sets of requests by block, token by
 * token. Blocks without a hash get a unique one. Slow and obvious.
 */
final class NaiveSequences {

  /** A block by its hash, or an anonymous one. */
  private sealed interface Block {
    record Full(long hash) implements Block {}

    record Own(long number) implements Block {}
  }

  private static final class Sequence {
    final RankId rank;
    final Set<Block> blocks = new HashSet<>();
    Block partial;
    long tokens;
    int prefillTokens;

    Sequence(RankId rank) {
      this.rank = rank;
    }
  }

  private final int tokensPerBlock;
  private final ActiveSequencesOptions options;
  private final TreeMap<RankId, Map<Block, Set<Sequence>>> ranks = new TreeMap<>();
  private final Map<Long, Sequence> byAttempt = new HashMap<>();
  private long owns;

  NaiveSequences(int tokensPerBlock, ActiveSequencesOptions options) {
    this.tokensPerBlock = tokensPerBlock;
    this.options = options;
  }

  void addRank(RankId rank) {
    ranks.putIfAbsent(rank, new HashMap<>());
  }

  void removeRank(RankId rank) {
    ranks.remove(rank);
    byAttempt.values().removeIf(sequence -> sequence.rank.equals(rank));
  }

  /** By rank: active blocks, new blocks, prefill tokens, requests. */
  Map<RankId, long[]> potential(long[] hashes, int blocks, int inputTokens) {
    Map<RankId, long[]> loads = new TreeMap<>();
    ranks.forEach(
        (rank, users) -> {
          long added =
              (inputTokens - (long) blocks * tokensPerBlock + tokensPerBlock - 1) / tokensPerBlock;
          for (int i = 0; i < blocks; i++) {
            added +=
                options.assumeKvReuse() && users.containsKey(new Block.Full(hashes[i])) ? 0 : 1;
          }
          long prefill = 0;
          long requests = 0;
          for (Sequence sequence : byAttempt.values()) {
            if (sequence.rank.equals(rank)) {
              prefill += sequence.prefillTokens;
              requests++;
            }
          }
          loads.put(rank, new long[] {users.size(), added, prefill, requests});
        });
    return loads;
  }

  void add(
      long attempt, RankId rank, long[] hashes, int blocks, int inputTokens, int prefillTokens) {
    Sequence sequence = new Sequence(rank);
    byAttempt.put(attempt, sequence);
    for (int i = 0; i < blocks; i++) {
      use(sequence, options.assumeKvReuse() ? new Block.Full(hashes[i]) : own());
    }
    for (int rest = inputTokens - blocks * tokensPerBlock; rest > 0; rest -= tokensPerBlock) {
      sequence.partial = own();
      use(sequence, sequence.partial);
    }
    if (inputTokens % tokensPerBlock == 0) {
      sequence.partial = null;
    }
    sequence.tokens = inputTokens;
    sequence.prefillTokens = options.trackPrefillTokens() ? prefillTokens : 0;
  }

  /** Adds a token; {@code name} is the hash of the block completed before it, or null. */
  void push(long attempt, Long name) {
    Sequence sequence = byAttempt.get(attempt);
    if (sequence == null) {
      return;
    }
    sequence.prefillTokens = 0;
    if (!options.trackOutputBlocks()) {
      return;
    }
    sequence.tokens++;
    if ((sequence.tokens - 1) % tokensPerBlock == 0) {
      if (sequence.partial != null && name != null && options.assumeKvReuse()) {
        drop(sequence, sequence.partial);
        use(sequence, new Block.Full(name));
      }
      sequence.partial = own();
      use(sequence, sequence.partial);
    }
  }

  /** Whether one more token follows a complete block without a hash. */
  boolean leavesBlock(long attempt) {
    Sequence sequence = byAttempt.get(attempt);
    return sequence != null && sequence.partial != null && sequence.tokens % tokensPerBlock == 0;
  }

  void prefillDone(long attempt) {
    if (byAttempt.containsKey(attempt)) {
      byAttempt.get(attempt).prefillTokens = 0;
    }
  }

  boolean free(long attempt) {
    Sequence sequence = byAttempt.remove(attempt);
    if (sequence == null) {
      return false;
    }
    Set.copyOf(sequence.blocks).forEach(block -> drop(sequence, block));
    return true;
  }

  /** Distinct hashed blocks of all ranks. */
  int liveBlocks() {
    Set<Block> all = new HashSet<>();
    ranks.values().forEach(users -> all.addAll(users.keySet()));
    all.removeIf(block -> block instanceof Block.Own);
    return all.size();
  }

  private Block own() {
    return new Block.Own(owns++);
  }

  private void use(Sequence sequence, Block block) {
    sequence.blocks.add(block);
    ranks.get(sequence.rank).computeIfAbsent(block, b -> new HashSet<>()).add(sequence);
  }

  private void drop(Sequence sequence, Block block) {
    sequence.blocks.remove(block);
    Set<Sequence> users = ranks.get(sequence.rank).get(block);
    users.remove(sequence);
    if (users.isEmpty()) {
      ranks.get(sequence.rank).remove(block);
    }
  }
}
