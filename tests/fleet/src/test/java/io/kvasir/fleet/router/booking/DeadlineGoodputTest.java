package io.kvasir.fleet.router.booking;

import static io.kvasir.fleet.router.booking.RouterFixture.request;
import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.fleet.router.FleetRequest;
import io.kvasir.fleet.router.LatencyTargets;
import io.kvasir.fleet.router.Placement;
import io.kvasir.fleet.router.RouteOutcome;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.List;
import java.util.Objects;
import java.util.PriorityQueue;
import java.util.Random;
import java.util.TreeSet;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.IntSupplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * How many requests are in time when 1.2 times as much arrives as the ranks can compute: against
 * the best schedule of one that knows all arrivals, and against earliest deadline first with a
 * bounded queue.
 */
class DeadlineGoodputTest {

  private static final long MS = 1_000_000;
  private static final double OVERLOAD = 1.2;
  private static final int MEAN_MS = 100;

  /** A request: when it arrives, how long it takes, and when it must be over. */
  private record Job(int id, int atMs, int ms, int deadlineMs) {}

  private static List<Job> jobs(int count, int ranks, Random random, IntSupplier targetMs) {
    List<Job> jobs = new ArrayList<>();
    double at = 0;
    for (int id = 0; id < count; id++) {
      at += -Math.log(1 - random.nextDouble()) * MEAN_MS / ranks / OVERLOAD;
      int ms = (int) Math.max(4, Math.exp(random.nextGaussian() * 0.8) * MEAN_MS / 1.377);
      jobs.add(new Job(id, (int) at, ms, (int) at + targetMs.getAsInt()));
    }
    return jobs;
  }

  // ---- the router ---------------------------------------------------------------------------

  private record End(long atMs, long attempt, int rank, Job job) {}

  /** Chooses a rank that computes nothing; its times are exact. */
  private static final class FreeRank implements RankSelector {
    private final int[] busy;

    FreeRank(int[] busy) {
      this.busy = busy;
    }

    @Override
    public Selection select(Candidates candidates, FleetRequest request, CostTrace trace) {
      int best = 0;
      for (int i = 0; i < candidates.size(); i++) {
        best = busy[i] < busy[best] ? i : best;
      }
      return Selection.of(best);
    }

    @Override
    public double promptMs(long uncachedTokens, long contextTokens) {
      return uncachedTokens;
    }
  }

  /** Jobs in time with the router's queue, which may refuse those of a negative priority. */
  private static int routed(List<Job> jobs, int ranks, int priority) {
    int[] busy = new int[ranks];
    QueueOptions queue = new QueueOptions(0.0, QueuePolicy.EDF, 10_000, 1L << 30, 0);
    RouterFixture fixture =
        new RouterFixture(new FreeRank(busy), RouterFixture.queue(queue), new ReentrantLock())
            .ranks(ranks);
    PriorityQueue<End> ends = new PriorityQueue<>(Comparator.comparingLong(End::atMs));
    Deque<Job> arrivals = new ArrayDeque<>(jobs);
    int[] inTime = {0};
    while (!arrivals.isEmpty() || !ends.isEmpty()) {
      End end = ends.peek();
      Job next = arrivals.peek();
      if (end != null && (next == null || end.atMs() <= next.atMs())) {
        ends.remove();
        fixture.clockNs.set(end.atMs() * MS);
        inTime[0] += end.atMs() <= end.job().deadlineMs() ? 1 : 0;
        busy[end.rank()]--;
        fixture.router.onFinished(end.attempt(), true);
      } else {
        Job job = arrivals.remove();
        fixture.clockNs.set(job.atMs() * MS);
        RouteOutcome outcome =
            fixture.router.route(
                request(job.id(), job.ms())
                    .strictPriority(priority)
                    .targets(
                        new LatencyTargets(job.deadlineMs() - job.atMs(), Double.POSITIVE_INFINITY))
                    .build());
        if (outcome instanceof RouteOutcome.Waiting waiting) {
          var unused =
              waiting.outcome().thenAccept(later -> begin(fixture, job, later, busy, ends));
        } else {
          begin(fixture, job, outcome, busy, ends);
        }
      }
    }
    fixture.isIdle();
    return inTime[0];
  }

  private static void begin(
      RouterFixture fixture, Job job, RouteOutcome outcome, int[] busy, PriorityQueue<End> ends) {
    if (outcome instanceof RouteOutcome.Refused) {
      return;
    }
    Placement placement = RouterFixture.placement(outcome);
    int rank = (int) placement.rank().workerId();
    busy[rank]++;
    long nowMs = fixture.clockNs.get() / MS;
    ends.add(new End(nowMs + job.ms(), placement.attempt(), rank, job));
  }

  // ---- what it is compared with -----------------------------------------------------------------

  /** Jobs in time by earliest deadline first, if at most so many wait. */
  private static int earliestDeadlineFirst(List<Job> jobs, int ranks, int cap) {
    TreeSet<Job> waiting =
        new TreeSet<>(Comparator.comparingInt(Job::deadlineMs).thenComparingInt(Job::id));
    long[] freeMs = new long[ranks];
    int inTime = 0;
    int next = 0;
    while (next < jobs.size() || !waiting.isEmpty()) {
      int rank = 0;
      for (int i = 1; i < ranks; i++) {
        rank = freeMs[i] < freeMs[rank] ? i : rank;
      }
      long nowMs = Math.max(freeMs[rank], waiting.isEmpty() ? jobs.get(next).atMs() : 0L);
      for (; next < jobs.size() && jobs.get(next).atMs() <= nowMs; next++) {
        if (waiting.size() < cap) {
          waiting.add(jobs.get(next));
        }
      }
      Job first = Objects.requireNonNull(waiting.pollFirst());
      freeMs[rank] = nowMs + first.ms();
      inTime += freeMs[rank] <= first.deadlineMs() ? 1 : 0;
    }
    return inTime;
  }

  /** The most jobs that can be in time, by any schedule: exact, by sets of jobs. */
  private static int hindsight(List<Job> jobs, int ranks) {
    int sets = 1 << jobs.size();
    boolean[] feasible = new boolean[sets];
    int[] endMs = new int[sets]; // the earliest end of a set on one rank
    feasible[0] = true;
    for (int set = 1; set < sets; set++) {
      endMs[set] = Integer.MAX_VALUE;
      for (Job job : jobs) {
        int rest = set & ~(1 << job.id());
        if (rest != set && feasible[rest]) {
          int end = Math.max(endMs[rest], job.atMs()) + job.ms();
          if (end <= job.deadlineMs()) {
            feasible[set] = true;
            endMs[set] = Math.min(endMs[set], end);
          }
        }
      }
    }
    int[] most = new int[sets]; // of any subset, on the ranks so far
    for (int rank = 0; rank < ranks; rank++) {
      int[] before = most;
      most = new int[sets];
      for (int set = 0; set < sets; set++) {
        most[set] = before[set];
        for (int here = set; here > 0; here = (here - 1) & set) {
          if (feasible[here]) {
            most[set] = Math.max(most[set], before[set & ~here] + Integer.bitCount(here));
          }
        }
      }
    }
    return most[sets - 1];
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2})
  void smallInstancesAreNearlyAsGoodAsWithHindsight(int ranks) {
    long seed = 20261123L + ranks;
    Random random = new Random(seed);
    int routed = 0;
    int best = 0;
    for (int i = 0; i < 300; i++) {
      List<Job> jobs = jobs(10, ranks, random, () -> 100 + random.nextInt(900));
      routed += routed(jobs, ranks, -1);
      best += hindsight(jobs, ranks);
    }
    assertThat(routed).as("seed %d, of %d", seed, best).isGreaterThanOrEqualTo(best * 95 / 100);
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 8, 64})
  void moreRequestsAreInTimeThanByDeadlineAlone(int ranks) {
    for (int targets = 0; targets < 3; targets++) {
      long seed = 7_000 + 10L * ranks + targets;
      Random random = new Random(seed);
      int least = List.of(150, 300, 1_000).get(targets);
      int more = List.of(1, 700, 4_000).get(targets);
      List<Job> jobs = jobs(4_000 + 200 * ranks, ranks, random, () -> least + random.nextInt(more));
      int routed = routed(jobs, ranks, 0);
      for (int cap : new int[] {ranks, 4 * ranks, 16 * ranks, 10_000}) {
        assertThat(routed)
            .as("seed %d, targets from %d ms, at most %d wait", seed, least, cap)
            .isGreaterThan(earliestDeadlineFirst(jobs, ranks, cap));
      }
    }
  }

  @Test
  void aScheduleOfOneRankCountsAsItShould() {
    List<Job> jobs =
        List.of(new Job(0, 0, 100, 100), new Job(1, 0, 100, 150), new Job(2, 50, 50, 200));
    assertThat(hindsight(jobs, 1)).isEqualTo(2);
    assertThat(hindsight(jobs, 2)).isEqualTo(3);
    assertThat(earliestDeadlineFirst(jobs, 1, 10)).isEqualTo(1);
  }
}
