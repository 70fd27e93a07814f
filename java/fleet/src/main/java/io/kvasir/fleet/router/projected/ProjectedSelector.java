package io.kvasir.fleet.router.projected;

import io.kvasir.fleet.router.FleetRequest;
import io.kvasir.fleet.router.LatencyTargets;
import io.kvasir.fleet.router.RankCapacity;
import io.kvasir.fleet.router.booking.Candidates;
import io.kvasir.fleet.router.booking.ChosenTerms;
import io.kvasir.fleet.router.booking.CostTrace;
import io.kvasir.fleet.router.booking.RankSelector;
import io.kvasir.fleet.router.booking.Selection;
import io.kvasir.model.RankId;
import io.kvasir.timing.ExpectedTurns;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Chooses the rank with the earliest expected first token, counting what the choice costs other
 * requests. Its forecasts come from a {@link PlacementLedger}.
 *
 * <p>Equal histories of calls and times give equal choices. Not thread-safe: called under the
 * router's lock. A choice is O(candidates x steps + ranks of their engines), at most 33 steps.
 */
final class ProjectedSelector implements RankSelector {

  /*
   * A request of L tokens goes to the rank with the lowest
   *
   *   score = queue + compute + transfer + pace + others + work + room + lockstep   (milliseconds)
   *
   *   queue    the time left for the prompts placed on the rank that have no first token yet, and for
   *            those that other routers placed there
   *   compute  the time for the L tokens except those that the rank holds; one step of decoding for
   *            a prompt that another worker computes
   *   transfer for a prompt that another worker computes, the time in which the KV of the tokens that
   *            the rank lacks comes from there, as learned of the two workers
   *   pace     what requests that decode add to these steps, and the first tokens of the answer at
   *            the pace of the rank. It decides among ranks that would prefill equally soon.
   *   others   the delay that this prompt causes to later requests: compute on the typical engine x
   *            u / (1 - u), because so many requests wait for each one that is computed. u is the
   *            prefill utilisation of the ranks: that of the last seconds, or what the queued
   *            prompts imply if that is higher.
   *   work     the work that the conversation will bring after this turn, times the number of open
   *            conversations by which the rank exceeds the emptiest one, relative to 1 + their mean
   *   room     the time until requests that end have freed the blocks that the pool lacks
   *   lockstep half of what the other ranks of the engine add to the steps until then
   *
   * A request with targets goes to the lowest score among the ranks with which the most requests are
   * expected to meet theirs: its own likelihood, less what the answers on the rank lose to its
   * prompt. Prompts that wait there go first, so they lose nothing.
   *
   * The term room needs the size of the pools. Answers count with what is still to come of them.
   *
   * Times come from the StepModel of the engine.
   *
   * Of ranks with about the lowest score, the one chosen least recently gets the request: what was
   * learned is not exact, and prompts that no rank holds should use the pools of all.
   *
   * The constants were chosen on generated workloads. docs/projected.md says what each term is worth.
   */

  /** Names of the terms. */
  static final List<String> TERMS =
      List.of("queue", "compute", "transfer", "pace", "others", "work", "room", "lockstep");

  private static final int TRANSFER = 2;

  /** Tokens of the answer that count for the pace. */
  private static final double PACE_TOKENS = 8;

  /**
   * The share of the wait for other ranks of the engine that counts: later prompts on this rank
   * fill these steps at no cost.
   */
  private static final double LOCKSTEP_WEIGHT = 0.5;

  /**
   * Tokens that a further turn without tokens is taken to have besides its text, held by the rank
   * of its conversation: tools, pictures, and answers that the text leaves out.
   */
  private static final int HIDDEN_TOKENS = 1024;

  private static final double NS_PER_MS = 1e6;

  private final PlacementLedger ledger;
  private final ForecastInterval interval;
  private final int omitted;
  private final double[] terms = new double[TERMS.size()];

  /** The number of the choice, by which engines are read once for each. */
  private long choice;

  /* By candidate, for one choice. */
  private RankForecast[] forecasts = new RankForecast[0];
  private final CandidateScores scores = new CandidateScores();

  /**
   * Makes a selector.
   *
   * @param ledger what is placed on the ranks
   * @param omitted name of the term to leave out of the score, to see what it is worth; empty for
   *     none
   */
  ProjectedSelector(PlacementLedger ledger, String omitted) {
    this.ledger = ledger;
    this.interval = ledger.interval();
    this.omitted = TERMS.indexOf(omitted);
  }

  /** The forecast of a candidate, which mostly is the same rank as in the last choice. */
  private RankForecast forecast(int candidate, RankId rank, RankCapacity capacity, long nowNs) {
    RankForecast forecast = forecasts[candidate];
    if (forecast == null || !forecast.isOf(rank)) {
      forecast = ledger.rank(rank, nowNs);
      forecasts[candidate] = forecast;
    }
    if (capacity.maxNumBatchedTokens() > 0) {
      forecast.limitStep(capacity.maxNumBatchedTokens());
    }
    return forecast;
  }

  @Override
  public Selection select(Candidates candidates, FleetRequest request, CostTrace trace) {
    long nowNs = ledger.nowNs();
    Situation now = compare(candidates, request, nowNs, trace);
    int chosen = scores.leastRecentOfBest(candidates, request.id());
    double firstTokenMs = scores.firstTokenMs[chosen];
    ChosenTerms chosenTerms = new ChosenTerms();
    weigh(now, chosen);
    giveTerms(chosenTerms, chosen, !candidates.tracksPrefill());
    String conversationId = PlacementLedger.name(request, now.conversation);
    return new Selection(chosen, firstTokenMs, chosenTerms.terms(), conversationId);
  }

  /**
   * What the candidates of one choice have in common.
   *
   * @param conversation the key of the request's conversation
   * @param home the last turn of the conversation, if the request has no tokens
   * @param othersWeight the requests that wait for each one that is computed
   * @param workMs the work that the conversation will bring, relative to the open conversations
   * @param leastOpen open conversations of the emptiest rank
   */
  private record Situation(
      Candidates candidates,
      FleetRequest request,
      LatencyTargets targets,
      long nowNs,
      long conversation,
      ExpectedTurns.@Nullable Turn home,
      double othersWeight,
      double workMs,
      double leastOpen) {}

  /** Fills in scores, expected times and likelihoods. O(candidates). */
  private Situation compare(
      Candidates candidates, FleetRequest request, long nowNs, CostTrace trace) {
    choice++;
    Situation now = situation(candidates, request, nowNs);
    for (int i = 0; i < candidates.size(); i++) {
      double computeMs = weigh(now, i);
      judge(now, i, computeMs, trace);
    }
    return now;
  }

  private Situation situation(Candidates candidates, FleetRequest request, long nowNs) {
    int size = candidates.size();
    long conversation = ledger.conversation(request);
    ExpectedTurns.Turn last = ledger.conversations().last(conversation);
    read(candidates, conversation, last, nowNs);
    double backlogMs = 0;
    double leastOpen = Double.POSITIVE_INFINITY;
    double open = 0;
    for (int i = 0; i < size; i++) {
      backlogMs += scores.queueMs[i];
      leastOpen = Math.min(leastOpen, scores.openBeside[i]);
      open += scores.openBeside[i];
    }
    double busy = ledger.advance(nowNs).share(backlogMs, size);
    double workMs =
        conversation == ExpectedTurns.NONE
            ? 0
            : ledger.conversations().furtherMs() / (1 + open / size);
    return new Situation(
        candidates,
        request,
        request.targets().after(candidates.waitedNs() / NS_PER_MS),
        nowNs,
        conversation,
        request.isTokenised() ? null : last,
        busy / (1 - busy),
        workMs,
        leastOpen);
  }

  /** Fills in the terms, the score and the expected times of a candidate; returns its compute. */
  private double weigh(Situation now, int i) {
    Candidates candidates = now.candidates;
    RankForecast forecast = forecasts[i];
    long inputTokens = now.request.inputTokens();
    long held = (long) candidates.matchedBlocks(i) * candidates.tokensPerBlock();
    long missing = Math.max(0, inputTokens - held);
    boolean tracks = candidates.tracksPrefill();
    long uncached = tracks ? Math.max(1, missing) : 1;
    long context = tracks ? inputTokens - missing : inputTokens - 1;
    double queueMs = scores.queueMs[i];
    double computeMs = tracks ? forecast.promptMs(uncached, context) : forecast.stepMs(inputTokens);
    double interleavedMs = tracks ? forecast.interleavedMs(uncached) : 0;
    double roomMs = roomMs(candidates, i, now.request, now.nowNs);
    double lockstepMs = 0;
    if (forecast.engine().hasSeveral()) {
      forecast.engine().read(choice);
      lockstepMs =
          Math.max(0, forecast.togetherMs(uncached, computeMs, now.nowNs) - queueMs - computeMs);
    }
    terms[0] = queueMs;
    terms[1] =
        now.home == null || now.home.isOn(forecast.open)
            ? computeMs
            : computeMs + forecast.promptMs(HIDDEN_TOKENS, context);
    terms[TRANSFER] = tracks || missing == 0 ? 0 : transferMs(now, i, missing);
    terms[3] = interleavedMs + PACE_TOKENS * forecast.stepMs(inputTokens);
    terms[4] = tracks ? now.othersWeight * forecast.typicalPromptMs(uncached, context) : 0;
    terms[5] = now.workMs * (scores.openBeside[i] - now.leastOpen);
    terms[6] = roomMs;
    terms[7] = LOCKSTEP_WEIGHT * lockstepMs;
    scores.computeMs[i] = computeMs + terms[TRANSFER];
    scores.firstTokenMs[i] =
        queueMs + computeMs + terms[TRANSFER] + interleavedMs + roomMs + lockstepMs;
    scores.score[i] = score();
    return computeMs;
  }

  /** How likely a candidate meets the targets, and what the answers there lose to the prompt. */
  private void judge(Situation now, int i, double computeMs, CostTrace trace) {
    RankForecast forecast = forecasts[i];
    LatencyTargets targets = now.targets;
    double firstTokenMs = scores.firstTokenMs[i];
    double likelihood =
        targets.isNone()
            ? 1
            : interval.likelihood(firstTokenMs, targets.ttftMs())
                * interval.likelihood(forecast.tpotMs(now.request.inputTokens()), targets.tpotMs());
    if (trace != CostTrace.NONE) {
      explain(trace, i, firstTokenMs, likelihood, !now.candidates.tracksPrefill());
    }
    scores.likelihood[i] = likelihood;
    scores.met[i] = likelihood - forecast.lost(computeMs, now.nowNs);
  }

  /** The sum of the terms, without the one that is left out. */
  private double score() {
    double score = 0;
    for (int term = 0; term < terms.length; term++) {
      if (term != omitted) {
        score += terms[term];
      }
    }
    return score;
  }

  private double transferMs(Situation now, int i, long tokens) {
    long worker = now.candidates.rank(i).workerId();
    return ledger.transfers().ms(now.request.prefilledBy(), worker, tokens, now.nowNs);
  }

  private void explain(
      CostTrace trace, int i, double firstTokenMs, double likelihood, boolean moves) {
    trace.firstToken(
        i,
        firstTokenMs,
        firstTokenMs * interval.lowFactor(),
        firstTokenMs * interval.highFactor(),
        likelihood);
    giveTerms(trace, i, moves);
  }

  /** The terms that {@link #weigh} has filled in. */
  private void giveTerms(CostTrace trace, int i, boolean moves) {
    for (int term = 0; term < terms.length; term++) {
      if (term != omitted && (moves || term != TRANSFER)) {
        trace.term(i, TERMS.get(term), terms[term]);
      }
    }
  }

  @Override
  public double likelihood(Candidates candidates, FleetRequest request) {
    compare(candidates, request, ledger.nowNs(), CostTrace.NONE);
    double most = 0;
    for (int i = 0; i < candidates.size(); i++) {
      most = Math.max(most, scores.likelihood[i]);
    }
    return most;
  }

  @Override
  public double promptMs(long uncachedTokens, long contextTokens) {
    long steps = (Math.max(1, uncachedTokens) - 1) / RankForecast.DEFAULT_STEP_TOKENS + 1;
    return ledger.typical().promptMs(Math.max(1, uncachedTokens), contextTokens, (int) steps);
  }

  @Override
  public double[] backlogsMs() {
    long nowNs = ledger.nowNs();
    return ledger.ranks().stream().mapToDouble(rank -> rank.queuedMs(nowNs)).toArray();
  }

  /** Reads the candidates' queues and conversations. */
  private void read(
      Candidates candidates, long conversation, ExpectedTurns.@Nullable Turn last, long nowNs) {
    int size = candidates.size();
    ExpectedTurns conversations = ledger.conversations();
    if (scores.reserve(size)) {
      forecasts = new RankForecast[size];
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

  /**
   * In a steady state, the time in which all active blocks are freed is that of one request. The
   * rest of each answer counts as active: engines reserve it, or run out of blocks later.
   */
  private double roomMs(Candidates candidates, int i, FleetRequest request, long nowNs) {
    long total = candidates.capacity(i).totalKvBlocks();
    if (total == 0) {
      return 0;
    }
    double comingTokens = ledger.comingTokens(forecasts[i]);
    double active = candidates.activeBlocks(i) + comingTokens / candidates.tokensPerBlock();
    double own = ledger.answerTokens(request) / candidates.tokensPerBlock();
    double missing = active + candidates.newBlocks(i) + own - total;
    return active == 0 || missing <= 0 ? 0 : missing * ledger.stayMs(nowNs) / active;
  }
}
