package io.kvasir.engine.execute;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.engine.adp.AdpRouter;
import io.kvasir.engine.adp.Assignment;
import io.kvasir.engine.adp.Decision;
import io.kvasir.engine.adp.LoadMetric;
import io.kvasir.engine.adp.RankState;
import io.kvasir.engine.adp.RankWork;
import io.kvasir.engine.pool.PrefixMatches;
import io.kvasir.model.Request;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Keeps count, from what listeners and engines see, of what every request of an instance has yet to
 * compute, and checks what a router gets against it. Places like the router that it is given.
 */
final class WorkWitness implements AdpRouter, RequestListener {

  private static final class Seen {
    final Request request;
    final int rank;
    final int expected;
    boolean started;
    boolean decoding;
    int computed;
    int outputs;

    Seen(Request request, int rank, int expected) {
      this.request = request;
      this.rank = rank;
      this.expected = expected;
    }
  }

  private final AdpRouter places;
  private final int tokensPerBlock;
  private final boolean reuse;
  private final Map<Long, Seen> held = new HashMap<>();
  final List<Long> finished = new ArrayList<>();
  int batches;
  int leftOver;
  int largestAfterLeftovers;
  int pending;
  int chunked;
  int paused;
  private boolean leftSome;

  /* Of the steps since the router saw one. */
  private int steps;
  private double[] done = new double[4];

  WorkWitness(AdpRouter places, int tokensPerBlock, boolean reuse) {
    this.places = places;
    this.tokensPerBlock = tokensPerBlock;
    this.reuse = reuse;
  }

  /** An engine that computes nothing and is seen doing it. */
  StepEngine engine() {
    return plan -> {
      steps++;
      for (int i = 0; i < plan.size(); i++) {
        Seen seen = held.get(plan.requestId(i));
        int context = plan.contextTokens(i);
        int tokens = plan.newTokens(i);
        boolean decodes = plan.decodes(i);
        done[0] += decodes ? 0 : tokens;
        done[1] += decodes ? 0 : tokens * (context + tokens / 2.0);
        done[2] += decodes ? 1 : 0;
        done[3] += decodes ? context + 1 : 0;
        seen.computed = plan.contextTokens(i) + plan.newTokens(i);
        seen.decoding = plan.producesToken(i);
        plan.produce(i, 7);
      }
      return 1_000_000;
    };
  }

  @Override
  public void onPlaced(Decision decision, long nowNs) {
    int computing = common(decision.rank(), decision.request());
    held.put(
        decision.request().id(),
        new Seen(
            decision.request(), decision.rank(), Math.max(decision.matchedTokens(), computing)));
  }

  @Override
  public void onStarted(Request request, int rank, int cached, boolean resumed, long nowNs) {
    held.get(request.id()).started = true;
  }

  @Override
  public void onToken(Request request, int rank, int index, int token, long nowNs) {
    held.get(request.id()).outputs++;
  }

  @Override
  public void onPaused(Request request, int rank, long nowNs) {
    Seen seen = held.get(request.id());
    seen.started = false;
    seen.decoding = false;
    paused++;
  }

  @Override
  public void onFinished(Request request, int rank, int[] outputTokens, long nowNs) {
    held.remove(request.id());
    finished.add(request.id());
  }

  @Override
  public void onCancelled(Request request, long nowNs) {
    held.remove(request.id());
    finished.add(request.id());
  }

  /** Whole blocks of a prompt that requests on a rank compute, which have no output yet. */
  private int common(int rank, Request request) {
    int most = 0;
    for (Seen seen : held.values()) {
      if (reuse && seen.rank == rank && !seen.decoding) {
        int[] mine = request.tokens();
        int[] theirs = seen.request.tokens();
        int same = 0;
        while (same < Math.min(mine.length, theirs.length) && mine[same] == theirs[same]) {
          same++;
        }
        most = Math.max(most, same / tokensPerBlock * tokensPerBlock);
      }
    }
    return most;
  }

  private RankWork recount(int rank) {
    int prefills = 0;
    long tokens = 0;
    double pairs = 0;
    int decoding = 0;
    long kv = 0;
    for (Seen seen : held.values()) {
      int length = seen.request.promptTokens() + seen.outputs;
      if (seen.rank == rank && seen.decoding) {
        decoding++;
        kv += length;
      } else if (seen.rank == rank) {
        int there = seen.started ? seen.computed : Math.min(seen.expected, length - 1);
        chunked += seen.started ? 1 : 0;
        prefills++;
        tokens += length - there;
        pairs += (length - there) * (there + (length - there) / 2.0);
      }
    }
    return new RankWork(prefills, tokens, pairs, decoding, kv);
  }

  @Override
  public Assignment route(
      List<RankState> states, List<Request> requests, PrefixMatches matches, int maxActive) {
    for (RankState state : states) {
      assertThat(state.work()).as("work of rank " + state.rank()).isEqualTo(recount(state.rank()));
      for (int i = 0; i < requests.size(); i++) {
        int computing = common(state.rank(), requests.get(i));
        pending += computing > matches.tokens(state.rank(), i) ? 1 : 0;
        assertThat(matches.pendingTokens(state.rank(), i))
            .as("tokens of %s that rank %d will hold", requests.get(i), state.rank())
            .isEqualTo(Math.max(matches.tokens(state.rank(), i), computing));
      }
    }
    largestAfterLeftovers =
        leftSome ? Math.max(largestAfterLeftovers, requests.size()) : largestAfterLeftovers;
    Assignment assignment = places.route(states, requests, matches, maxActive);
    batches++;
    leftOver += assignment.unassigned().size();
    leftSome = !assignment.unassigned().isEmpty();
    return assignment;
  }

  @Override
  public boolean learnsFromSteps() {
    return true;
  }

  @Override
  public void stepped(List<RankWork> work, long durationNs) {
    assertThat(durationNs).isEqualTo(1_000_000);
    assertThat(work.stream().filter(rank -> !rank.equals(RankWork.NONE))).hasSize(steps);
    assertThat(work.stream().mapToDouble(RankWork::prefillTokens).sum()).isEqualTo(done[0]);
    assertThat(work.stream().mapToDouble(RankWork::attendedPairs).sum()).isEqualTo(done[1]);
    assertThat(work.stream().mapToDouble(RankWork::decodingRequests).sum()).isEqualTo(done[2]);
    assertThat(work.stream().mapToDouble(RankWork::decodeKvTokens).sum()).isEqualTo(done[3]);
    steps = 0;
    done = new double[4];
    places.stepped(work, durationNs);
  }

  @Override
  public String name() {
    return places.name();
  }

  @Override
  public boolean needsPrefixMatches() {
    return places.needsPrefixMatches();
  }

  @Override
  public boolean readsOccupancy() {
    return places.readsOccupancy();
  }

  @Override
  public boolean readsWork() {
    return places.readsWork();
  }

  @Override
  public int mostRequestsAfterLeftovers() {
    return places.mostRequestsAfterLeftovers();
  }

  @Override
  public LoadMetric loadMetric() {
    return places.loadMetric();
  }
}
