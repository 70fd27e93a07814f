package io.kvasir.fleet.router.projected;

import io.kvasir.fleet.router.FleetRequest;
import io.kvasir.fleet.router.FleetRouterSetup;
import io.kvasir.fleet.router.LatencyTargets;
import io.kvasir.fleet.router.RankCapacity;
import io.kvasir.fleet.router.cost.Candidates;
import io.kvasir.fleet.router.cost.CostTrace;
import io.kvasir.fleet.router.cost.PlacementListener;
import io.kvasir.fleet.router.cost.RankSelector;
import io.kvasir.model.RankId;
import io.kvasir.timing.ForwardPass;
import io.kvasir.timing.StepModel;
import io.kvasir.timing.StepTiming;
import it.unimi.dsi.fastutil.longs.Long2ObjectOpenHashMap;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Chooses the rank with the earliest expected first token, counting what the choice costs other
 * requests. It learns the engines' speed, and what conversations bring, from the placements that it
 * follows.
 *
 * <p>Equal histories of calls and times give equal choices. Not thread-safe: both interfaces are
 * called under the router's lock. A choice is O(candidates).
 */
final class ProjectedSelector implements RankSelector, PlacementListener {

  /*
   * A request of L tokens goes to the rank with the lowest
   *
   *   score = queue + compute + pace + others + work + room + lockstep   (milliseconds)
   *
   *   queue    the time left for the prompts placed on the rank that have no first token yet, and for
   *            those that other routers placed there
   *   compute  the time for the L tokens except those that the rank holds
   *   pace     what requests that decode add to these steps, and the first tokens of the answer at
   *            the pace of the rank. It decides among ranks that would prefill equally soon.
   *   others   compute at speed 1 x u / (1 - u): where ranks compute prompts for the share u of their
   *            time, that many requests wait for each one that is computed. The time of a slow rank
   *            is worth less to them. u is the share of the last seconds or, if more, that which the
   *            prompts in the queue will cause.
   *   work     the work that the conversation will bring after this turn, times the number of open
   *            conversations by which the rank exceeds the emptiest one, relative to 1 + their mean
   *   room     the time until requests that end have freed the blocks that the pool lacks
   *   lockstep half of what the other ranks of the engine add to the steps until then
   *
   * A request with targets goes to the lowest score among the ranks with which the most requests are
   * expected to meet theirs: its own likelihood, less what the answers on the rank lose to its
   * prompt. Prompts that wait there go first, so they lose nothing.
   *
   * The term room needs the size of the pools.
   *
   * Times come from StepModel and the speed of the engine.
   *
   * Of ranks with about the lowest score, the one chosen least recently gets the request: what was
   * learned is not exact, and prompts that no rank holds should use the pools of all.
   *
   * The constants were chosen on generated workloads. docs/selector.md says what each term is worth.
   */

  /** Names of the terms. */
  static final List<String> TERMS =
      List.of("queue", "compute", "pace", "others", "work", "room", "lockstep");

  /** Observations that the published coefficients are worth; first tokens are rough ones. */
  private static final double PRIOR_WEIGHT = 4;

  /** Tokens of the answer that count for the pace. */
  private static final double PACE_TOKENS = 8;

  /** A backlog of this time for each rank means that ranks are busy for half of their time. */
  private static final double HALF_BUSY_MS = 300;

  private static final double MOST_BUSY = 0.9;

  /**
   * The share of the wait for other ranks of the engine that counts: later prompts on this rank
   * fill these steps at no cost.
   */
  private static final double LOCKSTEP_WEIGHT = 0.5;

  private static final double NS_PER_MS = 1e6;

  /** Time between a choice and the placement that follows it. */
  private static final long SAME_DECISION_NS = 10_000_000;

  /** Weight of a request in the mean time from placement to end, and in the mean answer. */
  private static final double STAY_STEP = 1.0 / 64;

  /** Observations between two comparisons of the ranks' speeds with their mean. */
  private static final long OBSERVATIONS_PER_MEAN = 16;

  /** Tokens of an answer before there was any. */
  private static final double FIRST_OUTPUT_TOKENS = 256;

  private final FleetRouterSetup setup;
  private final LongSupplier clockNs;
  private final int omitted;
  private final StepModel model = new StepModel(StepTiming.DEFAULT, PRIOR_WEIGHT);
  private final ExpectedTurns conversations = new ExpectedTurns();
  private final LoadEstimate load = new LoadEstimate();
  private final ForecastInterval interval = new ForecastInterval();
  private final Map<RankId, RankForecast> ranks = new HashMap<>();
  private final Map<Long, EngineRanks> engines = new HashMap<>();
  private final Long2ObjectOpenHashMap<Attempt> attempts = new Long2ObjectOpenHashMap<>();

  private long nextMean = OBSERVATIONS_PER_MEAN;
  private double stayMs;
  private double outputTokens = FIRST_OUTPUT_TOKENS;

  private final double[] terms = new double[TERMS.size()];

  /* By candidate, for one choice. */
  private RankForecast[] forecasts = new RankForecast[0];
  private @Nullable RankId[] forecastRanks = new RankId[0];
  private final CandidateScores scores = new CandidateScores();

  /* The last choice, and when the first token is expected. */
  private long chosenRequest;
  private @Nullable RankId chosenRank;
  private long chosenNs;
  private double chosenFirstTokenMs;

  /**
   * Makes a selector without ranks.
   *
   * @param setup the clock, and how blocks are named
   * @param omitted name of the term to leave out of the score, to see what it is worth; empty for
   *     none
   */
  ProjectedSelector(FleetRouterSetup setup, String omitted) {
    this.setup = setup;
    this.clockNs = setup.clockNs();
    this.omitted = TERMS.indexOf(omitted);
  }

  /** The sequence hashes of a request, which matching has computed before. */
  private long[] hashes(FleetRequest request) {
    return request.hashes(setup.naming(), setup.tokensPerBlock()).sequence();
  }

  private RankForecast forecast(RankId rank, long nowNs) {
    return ranks.computeIfAbsent(
        rank,
        unknown -> {
          EngineRanks engine =
              engines.computeIfAbsent(rank.workerId(), worker -> new EngineRanks(nowNs));
          RankForecast made = new RankForecast(rank, model, load, interval, engine);
          engine.add(made);
          return made;
        });
  }

  /** The forecast of a candidate, which mostly is the same rank as in the last choice. */
  private RankForecast forecast(int candidate, RankId rank, RankCapacity capacity, long nowNs) {
    RankForecast forecast = forecasts[candidate];
    if (!rank.equals(forecastRanks[candidate])) {
      forecast = forecast(rank, nowNs);
      forecasts[candidate] = forecast;
      forecastRanks[candidate] = rank;
    }
    if (capacity.maxNumBatchedTokens() > 0) {
      forecast.limitStep(capacity.maxNumBatchedTokens());
    }
    return forecast;
  }

  @Override
  public int select(Candidates candidates, FleetRequest request, CostTrace trace) {
    long nowNs = clockNs.getAsLong();
    compare(candidates, request, nowNs, trace);
    int chosen = scores.leastRecentOfBest(candidates, request.id());
    chosenRequest = request.id();
    chosenRank = candidates.rank(chosen);
    chosenNs = nowNs;
    chosenFirstTokenMs = scores.firstTokenMs[chosen];
    return chosen;
  }

  /** Fills in scores, expected times and likelihoods. O(candidates). */
  private void compare(Candidates candidates, FleetRequest request, long nowNs, CostTrace trace) {
    int size = candidates.size();
    long conversation = conversations.key(request.conversationId(), hashes(request));
    read(candidates, conversation, nowNs);
    load.advance(nowNs, ranks.size());
    double backlogMs = 0;
    double leastOpen = Double.POSITIVE_INFINITY;
    double open = 0;
    for (int i = 0; i < size; i++) {
      backlogMs += scores.queueMs[i];
      leastOpen = Math.min(leastOpen, scores.openBeside[i]);
      open += scores.openBeside[i];
    }
    double busy = Math.max(load.share(), backlogMs / (backlogMs + size * HALF_BUSY_MS));
    busy = Math.min(MOST_BUSY, busy);
    double othersWeight = busy / (1 - busy);
    double workMs =
        conversation == ExpectedTurns.NONE ? 0 : conversations.furtherMs() / (1 + open / size);
    LatencyTargets targets = request.targets().after(candidates.waitedNs() / NS_PER_MS);
    long inputTokens = request.inputTokens();
    for (int i = 0; i < size; i++) {
      RankForecast forecast = forecasts[i];
      long held = (long) candidates.matchedBlocks(i) * candidates.tokensPerBlock();
      long context = Math.min(inputTokens, held);
      long uncached = Math.max(1, inputTokens - context);
      double queueMs = scores.queueMs[i];
      double computeMs = forecast.promptMs(uncached, context);
      double interleavedMs = forecast.interleavedMs(uncached);
      double roomMs = roomMs(candidates, i);
      double lockstepMs =
          forecast.engine().hasSeveral()
              ? Math.max(0, forecast.togetherMs(uncached, computeMs, nowNs) - queueMs - computeMs)
              : 0;
      terms[0] = queueMs;
      terms[1] = computeMs;
      terms[2] = interleavedMs + PACE_TOKENS * forecast.stepMs(inputTokens);
      terms[3] = othersWeight * forecast.atSpeed1(computeMs);
      terms[4] = workMs * (scores.openBeside[i] - leastOpen);
      terms[5] = roomMs;
      terms[6] = LOCKSTEP_WEIGHT * lockstepMs;
      double firstTokenMs = queueMs + computeMs + interleavedMs + roomMs + lockstepMs;
      double likelihood =
          targets.isNone()
              ? 1
              : interval.likelihood(firstTokenMs, targets.ttftMs())
                  * interval.likelihood(forecast.tpotMs(inputTokens), targets.tpotMs());
      trace.firstToken(
          i,
          firstTokenMs,
          firstTokenMs * interval.lowFactor(),
          firstTokenMs * interval.highFactor(),
          likelihood);
      double score = 0;
      for (int term = 0; term < terms.length; term++) {
        if (term != omitted) {
          trace.term(i, TERMS.get(term), terms[term]);
          score += terms[term];
        }
      }
      scores.computeMs[i] = computeMs;
      scores.firstTokenMs[i] = firstTokenMs;
      scores.likelihood[i] = likelihood;
      scores.met[i] = likelihood - forecast.lost(computeMs, nowNs);
      scores.score[i] = score;
    }
  }

  @Override
  public double likelihood(Candidates candidates, FleetRequest request) {
    compare(candidates, request, clockNs.getAsLong(), CostTrace.NONE);
    double most = 0;
    for (int i = 0; i < candidates.size(); i++) {
      most = Math.max(most, scores.likelihood[i]);
    }
    return most;
  }

  @Override
  public double promptMs(long uncachedTokens, long contextTokens) {
    long steps = (Math.max(1, uncachedTokens) - 1) / RankForecast.DEFAULT_STEP_TOKENS + 1;
    return model.promptMs(Math.max(1, uncachedTokens), contextTokens, (int) steps);
  }

  @Override
  public double[] backlogsMs() {
    long nowNs = clockNs.getAsLong();
    double[] backlogs = new double[ranks.size()];
    int i = 0;
    for (RankForecast forecast : ranks.values()) {
      backlogs[i++] = forecast.queuedMs(nowNs);
    }
    return backlogs;
  }

  /** Reads the candidates' queues and conversations. */
  private void read(Candidates candidates, long conversation, long nowNs) {
    int size = candidates.size();
    ExpectedTurns.Turn last = conversations.last(conversation);
    if (scores.reserve(size)) {
      forecasts = new RankForecast[size];
      forecastRanks = new RankId[size];
    }
    for (int i = 0; i < size; i++) {
      RankForecast forecast = forecast(i, candidates.rank(i), candidates.capacity(i), nowNs);
      scores.queueMs[i] = forecast.queuedMs(nowNs);
      long foreign = candidates.activePrefillTokens(i) - forecast.promptTokens();
      if (foreign > 0) {
        scores.queueMs[i] += forecast.promptMs(foreign, 0);
      }
      scores.openBeside[i] =
          conversation == ExpectedTurns.NONE ? 0 : conversations.count(forecast.open, last, nowNs);
    }
  }

  /** In a steady state, the time in which all active blocks are freed is that of one request. */
  private double roomMs(Candidates candidates, int i) {
    long total = candidates.capacity(i).totalKvBlocks();
    if (total == 0) {
      return 0;
    }
    long active = candidates.activeBlocks(i);
    long missing = active + candidates.newBlocks(i) - total;
    return active == 0 || missing <= 0 ? 0 : missing * stayMs / active;
  }

  @Override
  public void onPlaced(
      long attempt,
      RankId rank,
      FleetRequest request,
      int uncachedTokens,
      int contextTokens,
      long nowNs) {
    RankForecast forecast = forecast(rank, nowNs);
    int uncached = Math.max(1, uncachedTokens);
    double computeMs = forecast.promptMs(uncached, contextTokens);
    conversations.placed(
        request.conversationId(), hashes(request), forecast.open, computeMs, nowNs);
    double expectedMs =
        request.id() == chosenRequest
                && rank.equals(chosenRank)
                && nowNs - chosenNs < SAME_DECISION_NS
            ? chosenFirstTokenMs
            : forecast.queuedMs(nowNs) + computeMs + forecast.interleavedMs(uncached);
    chosenRank = null;
    double tokens = request.expectedOutputTokens();
    attempts.put(
        attempt,
        forecast.placed(
            uncached,
            contextTokens,
            expectedMs,
            request.targets().tpotMs(),
            tokens > 0 ? Math.min(tokens, outputTokens) : outputTokens,
            request.streams(),
            uncached > setup.tokensPerBlock(),
            nowNs));
  }

  @Override
  public void onTokens(long attempt, int tokens, long nowNs) {
    Attempt placed = attempts.get(attempt);
    if (placed != null) {
      placed.rank.streamed(placed, tokens, nowNs);
      compareSpeeds();
    }
  }

  private void compareSpeeds() {
    if (model.observations() >= nextMean) {
      nextMean = model.observations() + OBSERVATIONS_PER_MEAN;
      model.centre(engines.values().stream().map(EngineRanks::speed).toList());
    }
  }

  @Override
  public void onPrefillDone(long attempt, long nowNs) {
    Attempt placed = attempts.get(attempt);
    if (placed != null) {
      placed.rank.promptReported(placed, nowNs);
      compareSpeeds();
    }
  }

  @Override
  public void onEnded(long attempt) {
    Attempt placed = attempts.remove(attempt);
    if (placed != null) {
      double ms = placed.rank.ended(placed, clockNs.getAsLong());
      stayMs += (ms - stayMs) * (stayMs == 0 ? 1 : STAY_STEP);
      outputTokens += (placed.streamedTokens - outputTokens) * STAY_STEP;
    }
  }

  @Override
  public void onForwardPass(RankId rank, ForwardPass pass, long nowNs) {
    if (pass.durationNs() == 0) {
      return;
    }
    RankForecast forecast = forecast(rank, nowNs);
    long sinceNs = nowNs - 2 * pass.durationNs();
    forecast
        .observed()
        .passed(pass, forecast.engine().longestPassBesideMs(forecast, sinceNs), nowNs);
    compareSpeeds();
  }

  @Override
  public void onRemoved(RankId rank) {
    RankForecast removed = ranks.remove(rank);
    if (removed != null) {
      removed.engine().remove(removed);
      if (removed.engine().isEmpty()) {
        engines.remove(rank.workerId());
      }
    }
    Arrays.fill(forecastRanks, null);
  }
}
