package io.kvasir.fleet.router.projected;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.fleet.router.RankCapacity;
import io.kvasir.fleet.router.booking.Candidates;
import io.kvasir.model.RankId;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Some candidate is chosen whatever the scores are. */
class CandidateScoresTest {

  private static final double[] ODD = {Double.NaN, Double.POSITIVE_INFINITY, Double.MAX_VALUE, 0};

  private final CandidateScores scores = new CandidateScores();

  /** Ranks without load. */
  private record Idle(int size) implements Candidates {

    @Override
    public int tokensPerBlock() {
      return 1;
    }

    @Override
    public boolean tracksPrefill() {
      return true;
    }

    @Override
    public RankId rank(int i) {
      return new RankId(i, 0);
    }

    @Override
    public int matchedBlocks(int i) {
      return 0;
    }

    @Override
    public long activePrefillTokens(int i) {
      return 0;
    }

    @Override
    public long activeBlocks(int i) {
      return 0;
    }

    @Override
    public int newBlocks(int i) {
      return 0;
    }

    @Override
    public int activeRequests(int i) {
      return 0;
    }

    @Override
    public RankCapacity capacity(int i) {
      return RankCapacity.UNKNOWN;
    }
  }

  private void set(int i, double score, double met, double computeMs) {
    scores.score[i] = score;
    scores.met[i] = met;
    scores.computeMs[i] = computeMs;
  }

  @Test
  void someCandidateIsChosenWhateverTheScores() {
    Random random = new Random(1);
    for (int run = 0; run < 10_000; run++) {
      int size = 1 + random.nextInt(5);
      scores.reserve(size);
      for (int i = 0; i < size; i++) {
        set(i, odd(random), odd(random), odd(random));
      }
      assertThat(scores.leastRecentOfBest(new Idle(size), run))
          .as("run " + run)
          .isBetween(0, size - 1);
    }
  }

  private static double odd(Random random) {
    return ODD[random.nextInt(ODD.length)];
  }

  @Test
  void aScoreThatIsNotANumberIsTheWorst() {
    int size = 4;
    scores.reserve(size);
    for (int id = 0; id < 100; id++) {
      for (int i = 0; i < size; i++) {
        set(i, Double.NaN, 1, 10);
      }
      set(id % size, 1e9, 1, 10);
      assertThat(scores.leastRecentOfBest(new Idle(size), id)).isEqualTo(id % size);
    }
  }
}
