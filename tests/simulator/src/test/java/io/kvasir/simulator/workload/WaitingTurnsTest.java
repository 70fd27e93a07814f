package io.kvasir.simulator.workload;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.kvasir.model.Request;
import java.util.Arrays;
import java.util.Comparator;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.Random;
import org.junit.jupiter.api.Test;

class WaitingTurnsTest {

  private static final long SEED = Long.getLong("kvasir.test.seed", 7);
  private static final int REQUESTS = 200;

  /** Requests of some conversations and of none, at random times. */
  @SuppressWarnings("ArrayRecordComponent") // value semantics of the arrays are never used
  private record Turns(long[] arrivalsNs, int[] conversations) implements RequestSequence {

    static Turns random(Random random) {
      long[] arrivals = random.longs(REQUESTS, 0, 10_000).sorted().toArray();
      return new Turns(arrivals, random.ints(REQUESTS, -1, 12).toArray());
    }

    @Override
    public String name() {
      return "turns";
    }

    @Override
    public Map<String, Object> parameters() {
      return Map.of();
    }

    @Override
    public int size() {
      return arrivalsNs.length;
    }

    @Override
    public long arrivalNs(int index) {
      return arrivalsNs[index];
    }

    @Override
    public int conversation(int index) {
      return conversations[index];
    }

    @Override
    public Request request(int index) {
      return Request.builder(index, new int[] {index}).build();
    }
  }

  /** What is to come of each request, from its predecessor alone. */
  private static long[] expected(Turns turns, double speed, long[] tookNs) {
    long[] arrival = new long[turns.size()];
    for (int i = 0; i < arrival.length; i++) {
      arrival[i] = Math.round(turns.arrivalsNs[i] / speed);
      for (int before = i - 1; before >= 0 && turns.conversations[i] >= 0; before--) {
        if (turns.conversations[before] == turns.conversations[i]) {
          arrival[i] = Math.max(arrival[i], arrival[before] + tookNs[before]);
          break;
        }
      }
    }
    return arrival;
  }

  private record Answer(long atNs, Request request) {}

  /** Plays the turns on engines that are never busy, and rejects every tenth. */
  private static long[] played(Workload workload, long[] tookNs) {
    long[] arrival = new long[tookNs.length];
    Arrays.fill(arrival, -1);
    PriorityQueue<Answer> answers = new PriorityQueue<>(Comparator.comparingLong(Answer::atNs));
    try (RunningWorkload run = new RunningWorkload(workload)) {
      while (run.arrivals.nextNs() != Arrivals.NEVER || !answers.isEmpty()) {
        long nextNs = run.arrivals.nextNs();
        if (!answers.isEmpty() && answers.peek().atNs() <= nextNs) {
          Answer answer = answers.remove();
          if (answer.request().id() % 10 == 0) {
            run.arrivals.onRejected(answer.request(), answer.atNs());
          } else {
            run.arrivals.onFinished(answer.request(), new int[1], answer.atNs());
          }
          continue;
        }
        Request request = run.arrivals.next().request();
        int id = Math.toIntExact(request.id());
        assertThat(arrival[id]).as("each arrives once").isEqualTo(-1);
        arrival[id] = nextNs;
        answers.add(new Answer(nextNs + tookNs[id], request));
      }
    }
    return arrival;
  }

  @Test
  void aTurnWaitsForTheAnswerBeforeItAndForNothingElse() {
    for (int round = 0; round < 50; round++) {
      Random random = new Random(SEED + round);
      Turns turns = Turns.random(random);
      double speed = 0.5 + random.nextInt(3);
      long[] tookNs = random.longs(REQUESTS, 0, 1 + random.nextInt(3_000)).toArray();
      assertThat(played(new OpenLoop(turns, speed, true), tookNs))
          .as("seed %d, round %d", SEED, round)
          .isEqualTo(expected(turns, speed, tookNs));
    }
  }

  @Test
  void answersThatComeAtOnceChangeNothing() {
    Turns turns = Turns.random(new Random(SEED));
    long[] tookNs = new long[REQUESTS];
    assertThat(played(new OpenLoop(turns, 1, true), tookNs)).isEqualTo(turns.arrivalsNs);
    assertThat(played(new OpenLoop(turns, 1), tookNs)).isEqualTo(turns.arrivalsNs);
    assertThat(new OpenLoop(turns, 2, true).parameters())
        .isEqualTo(Map.of("speed", 2.0, "turnsWait", true));
  }

  @Test
  void theSpeedIsAboveZero() {
    Turns turns = Turns.random(new Random(SEED));
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new OpenLoop(turns, 0, true))
        .withMessage("speed must be above 0, not 0.0");
  }
}
