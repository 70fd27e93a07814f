package io.kvasir.fleet.load;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.model.RankId;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Predicted loads follow the rules on random histories. */
class ActiveSequencesDifferentialTest {

  private static final long SEED = Long.getLong("kvasir.test.seed", 20);

  private final PredictedLoads loads = new PredictedLoads();

  @ParameterizedTest
  @ValueSource(ints = {1, 3, 64, 65, 200})
  void agreesWithTheRules(int maxRanks) {
    for (long seed = SEED; seed < SEED + 4; seed++) {
      new Run(maxRanks, seed).play(maxRanks > 100 ? 300 : 1_000);
    }
  }

  /** The hashes of a sequence's blocks: those of a prompt while the sequence follows it. */
  private static final class Chain {
    private final long[] prompt;
    private int named;

    Chain(long[] prompt, int named) {
      this.prompt = prompt;
      this.named = named;
    }

    long next(SplittableRandom random) {
      if (named < prompt.length && random.nextInt(8) != 0) {
        return prompt[named++];
      }
      named = prompt.length;
      return random.nextLong();
    }
  }

  private final class Run {
    final SplittableRandom random;
    final String at;
    final int maxRanks;
    final int tokensPerBlock;
    final ActiveSequences sequences;
    final NaiveSequences naive;
    final List<RankId> ranks = new ArrayList<>();
    final List<Long> attempts = new ArrayList<>();
    final Map<Long, Chain> chains = new HashMap<>();
    final long[][] prompts;
    long lastRequest;

    Run(int maxRanks, long seed) {
      this.maxRanks = maxRanks;
      random = new SplittableRandom(seed);
      at = "-Dkvasir.test.seed=" + seed;
      tokensPerBlock = 1 + random.nextInt(5);
      ActiveSequencesOptions options =
          new ActiveSequencesOptions(
              random.nextInt(4) != 0, random.nextInt(4) != 0, random.nextBoolean(), 1);
      sequences = new ActiveSequences(tokensPerBlock, options, () -> 0);
      naive = new NaiveSequences(tokensPerBlock, options);
      prompts = prompts();
    }

    /** A few chains that share prefixes; some have small consecutive hashes. */
    private long[][] prompts() {
      long[][] chains = new long[1 + random.nextInt(20)][];
      boolean small = random.nextBoolean();
      for (int i = 0; i < chains.length; i++) {
        long[] chain = new long[random.nextInt(60)];
        long[] other = i == 0 ? chain : chains[random.nextInt(i)];
        int shared = i == 0 ? 0 : random.nextInt(Math.min(chain.length, other.length) + 1);
        for (int block = 0; block < chain.length; block++) {
          chain[block] =
              block < shared ? other[block] : small ? 1_000L * i + block : random.nextLong();
        }
        chains[i] = chain;
      }
      return chains;
    }

    void play(int steps) {
      for (int step = 0; step < steps; step++) {
        switch (random.nextInt(12)) {
          case 0 -> changeRank();
          case 1, 2, 3, 4 -> add();
          case 5, 6, 7 -> push();
          case 8 -> prefillDone();
          default -> free();
        }
        if (step % 4 == 0) {
          check();
        }
      }
      while (!attempts.isEmpty()) {
        free();
      }
      check();
      assertThat(sequences.stats().requests()).as(at).isZero();
      assertThat(sequences.stats().liveBlocks()).as(at).isZero();
      assertThat(sequences.stats().runs()).as(at).isZero();
      sequences.loads(loads);
      for (int i = 0; i < loads.size(); i++) {
        assertThat(loads.activeBlocks(i)).as(at).isZero();
        assertThat(loads.activePrefillTokens(i)).as(at).isZero();
      }
    }

    private void changeRank() {
      if (ranks.size() > 1 && random.nextInt(6) == 0) {
        RankId rank = ranks.remove(random.nextInt(ranks.size()));
        sequences.removeRank(rank);
        naive.removeRank(rank);
        return;
      }
      for (int more = random.nextInt(maxRanks); more >= 0 && ranks.size() < maxRanks; more--) {
        RankId rank = new RankId(random.nextLong(), random.nextInt(4));
        ranks.add(rank);
        sequences.addRank(rank);
        naive.addRank(rank);
      }
    }

    private void add() {
      if (ranks.isEmpty()) {
        return;
      }
      long[] hashes = prompts[random.nextInt(prompts.length)];
      int blocks = random.nextInt(hashes.length + 1);
      int tokens = blocks * tokensPerBlock + random.nextInt(2 * tokensPerBlock);
      int prefill = random.nextInt(tokens + 1);
      RankId rank = ranks.get(random.nextInt(ranks.size()));
      long attempt =
          sequences.add(lastRequest++, rank, new SequenceLoad(hashes, blocks, tokens, prefill));
      naive.add(attempt, rank, hashes, blocks, tokens, prefill);
      attempts.add(attempt);
      chains.put(attempt, new Chain(hashes, blocks));
    }

    private void push() {
      if (attempts.isEmpty()) {
        return;
      }
      long attempt = attempts.get(random.nextInt(attempts.size()));
      if (random.nextBoolean()) {
        int tokens = 1 + random.nextInt(2 * tokensPerBlock);
        sequences.push(attempt, tokens);
        for (int token = 0; token < tokens; token++) {
          naive.push(attempt, null);
        }
      } else if (naive.leavesBlock(attempt)) {
        Chain chain = chains.get(attempt);
        long name = chain.next(random);
        sequences.push(attempt, 1, new long[] {name}, 1);
        naive.push(attempt, name);
      }
    }

    private void prefillDone() {
      if (!attempts.isEmpty()) {
        long attempt = attempts.get(random.nextInt(attempts.size()));
        sequences.prefillDone(attempt);
        naive.prefillDone(attempt);
      }
    }

    private void free() {
      if (!attempts.isEmpty()) {
        long attempt = attempts.remove(random.nextInt(attempts.size()));
        assertThat(sequences.free(attempt)).as(at).isEqualTo(naive.free(attempt));
      }
    }

    private void check() {
      long[] hashes = prompts[random.nextInt(prompts.length)];
      int blocks = random.nextInt(hashes.length + 1);
      int tokens = blocks * tokensPerBlock + random.nextInt(2 * tokensPerBlock);
      sequences.potential(hashes, blocks, tokens, loads);
      Map<RankId, long[]> expected = naive.potential(hashes, blocks, tokens);
      assertThat(loads.size()).as(at).isEqualTo(expected.size());
      int i = 0;
      for (Map.Entry<RankId, long[]> entry : expected.entrySet()) {
        long[] told = {
          loads.activeBlocks(i),
          loads.newBlocks(i),
          loads.activePrefillTokens(i),
          loads.activeRequests(i)
        };
        assertThat(loads.rank(i)).as(at).isEqualTo(entry.getKey());
        assertThat(told).as(at).isEqualTo(entry.getValue());
        i++;
      }
      ActiveSequencesStats stats = sequences.stats();
      assertThat(stats.liveBlocks()).as(at).isEqualTo(naive.liveBlocks());
      assertThat(stats.runs()).as(at).isBetween(0, 2 * stats.requests());
    }
  }
}
