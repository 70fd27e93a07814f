package io.kvasir.fleet.router.projected;

import io.kvasir.fleet.router.FleetRequest;
import io.kvasir.fleet.router.FleetRouterSetup;
import io.kvasir.fleet.router.PromptSource.Turn;
import io.kvasir.fleet.router.booking.PlacementListener;
import io.kvasir.hash.ContinuedPrompts;
import io.kvasir.model.RankId;
import io.kvasir.timing.ExpectedTurns;
import io.kvasir.timing.ForwardPass;
import io.kvasir.timing.StepModel;
import io.kvasir.timing.StepModels;
import io.kvasir.timing.StepTiming;
import it.unimi.dsi.fastutil.longs.Long2ObjectLinkedOpenHashMap;
import java.util.Collection;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.Map;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The requests that are placed on each rank, and what their course shows: the engines' speed, the
 * load, what conversations bring, and how long requests stay.
 *
 * <p>Equal histories of calls and times give equal forecasts. Not thread-safe: called under the
 * router's lock.
 */
final class PlacementLedger implements PlacementListener {

  /** Time from a turn of a conversation to its next, until there are observations. */
  private static final double PRIOR_GAP_NS = 10e9;

  /** Placements in a gap between turns that give it its full weight. */
  private static final double OTHERS_IN_GAP = 16;

  private static final double NS_PER_MS = 1e6;

  private final FleetRouterSetup setup;
  private final LongSupplier clockNs;
  private final StepModels models = new StepModels(StepTiming.DEFAULT);
  private final ExpectedTurns conversations = new ExpectedTurns(PRIOR_GAP_NS, OTHERS_IN_GAP);
  private final ContinuedPrompts prompts = new ContinuedPrompts(ExpectedTurns.MOST_CONVERSATIONS);
  private final LoadEstimate load = new LoadEstimate();
  private final ForecastInterval interval = new ForecastInterval();
  private final TransferTimes transfers = new TransferTimes();
  private final Map<RankId, RankForecast> ranks = new HashMap<>();
  private final Map<Long, EngineRanks> engines = new HashMap<>();

  /** In the order of their placements. */
  private final Long2ObjectLinkedOpenHashMap<Attempt> attempts =
      new Long2ObjectLinkedOpenHashMap<>();

  private final AnswerMeans answers = new AnswerMeans();
  private final boolean tracksAnswers;

  /**
   * Begins without ranks.
   *
   * @param setup the clock, and how blocks are named
   * @param tracksAnswers whether the blocks of tokens that have streamed count as active
   */
  PlacementLedger(FleetRouterSetup setup, boolean tracksAnswers) {
    this.setup = setup;
    this.tracksAnswers = tracksAnswers;
    this.clockNs = setup.clockNs();
  }

  /** The names of a request's blocks, which matching has computed before. */
  private long[] hashes(FleetRequest request) {
    return request.prefix(setup.naming(), setup.tokensPerBlock()).sequence();
  }

  /** The time, in nanoseconds. */
  long nowNs() {
    return clockNs.getAsLong();
  }

  /** The times of the typical engine's steps. */
  StepModel typical() {
    return models.common();
  }

  /** The work that conversations will bring. */
  ExpectedTurns conversations() {
    return conversations;
  }

  /**
   * The key of a request's conversation; {@link ExpectedTurns#NONE} for none. A request without a
   * conversation id is recognised by its prompt, unless that is shorter than a block or shows that
   * it begins a conversation. So is a further turn under an id that was not seen before. O(1) with
   * a known id, else O(blocks of a turn).
   */
  long conversation(FleetRequest request) {
    String id = request.conversationId();
    if (id == null) {
      long[] hashes = hashes(request);
      return request.turn() == Turn.FIRST ? prompts.newKey(hashes) : prompts.key(hashes);
    }
    long named = ExpectedTurns.key(id);
    if (conversations.last(named) == null && request.turn() == Turn.FURTHER) {
      long known = prompts.knownKey(hashes(request));
      return known == ExpectedTurns.NONE ? named : known;
    }
    return named;
  }

  /**
   * The name of a request's conversation.
   *
   * @param conversation its key by {@link #conversation}
   * @return the id that the request names, or else one that is made of the key; null if it belongs
   *     to no conversation
   */
  static @Nullable String name(FleetRequest request, long conversation) {
    String id = request.conversationId();
    return id != null || conversation == ExpectedTurns.NONE
        ? id
        : "kvasir-" + HexFormat.of().toHexDigits(conversation);
  }

  private void learnTurn(
      FleetRequest request, ExpectedTurns.Open open, double computeMs, long nowNs) {
    long key = conversation(request);
    if (key == ExpectedTurns.NONE) {
      return;
    }
    conversations.placed(key, open, computeMs, nowNs);
    long[] hashes = hashes(request);
    boolean recognised = request.conversationId() == null || request.turn() != Turn.UNKNOWN;
    if (recognised && hashes.length > 0) {
      prompts.placed(key, hashes);
    }
  }

  /** Time has passed; returns how busy ranks are with prompts. */
  LoadEstimate advance(long nowNs) {
    load.advance(nowNs, ranks.size());
    return load;
  }

  /** How expected and actual times of first tokens differ. */
  ForecastInterval interval() {
    return interval;
  }

  /** The times in which the KV of prompts comes from other workers. */
  TransferTimes transfers() {
    return transfers;
  }

  /** The mean time from placement to end of answers, in milliseconds. */
  double stayMs(long nowNs) {
    long oldestNs = attempts.isEmpty() ? nowNs : attempts.get(attempts.firstLongKey()).placedNs;
    return answers.stayMs(oldestNs, nowNs);
  }

  /** The expected number of tokens of an answer. */
  double answerTokens(FleetRequest request) {
    int most = request.expectedOutputTokens();
    return most > 0 ? Math.min(most, answers.tokens()) : answers.tokens();
  }

  /** Tokens of answers on a rank that do not count as active yet. */
  double comingTokens(RankForecast rank) {
    double all = rank.answerTokens(answers.tokens());
    return Math.max(0, tracksAnswers ? all - rank.streamedTokens() : all);
  }

  /** The ranks that requests were placed on or compared for. */
  Collection<RankForecast> ranks() {
    return ranks.values();
  }

  /** The forecast of a rank, which begins if there is none. */
  RankForecast rank(RankId rank, long nowNs) {
    return ranks.computeIfAbsent(
        rank,
        unknown -> {
          EngineRanks engine =
              engines.computeIfAbsent(rank.workerId(), worker -> new EngineRanks(models, nowNs));
          RankForecast made = new RankForecast(rank, load, interval, engine);
          engine.add(made);
          return made;
        });
  }

  @Override
  public void onPlaced(
      long attempt,
      RankId rank,
      FleetRequest request,
      int uncachedTokens,
      int contextTokens,
      int movedTokens,
      double firstTokenMs,
      long nowNs) {
    RankForecast forecast = rank(rank, nowNs);
    int uncached = Math.max(1, uncachedTokens);
    double computeMs = forecast.promptMs(uncached, contextTokens);
    learnTurn(request, forecast.open, computeMs, nowNs);
    double transferMs =
        transfers.ms(request.prefilledBy(), rank.workerId(), Math.max(0, movedTokens), nowNs);
    double stepsMs =
        movedTokens > 0
            ? forecast.stepMs(contextTokens)
            : computeMs + forecast.interleavedMs(uncached);
    double expectedMs =
        Double.isNaN(firstTokenMs) ? transferMs + forecast.queuedMs(nowNs) + stepsMs : firstTokenMs;
    boolean decodeOnly = Boolean.FALSE.equals(request.overrides().trackPrefillTokens());
    if (!decodeOnly) {
      load.placed(computeMs);
    }
    // Otherwise the first token comes after the prompt, which is computed at the same time.
    boolean prefilled = request.prefilledBy() != FleetRequest.NO_WORKER;
    Attempt placed =
        forecast.placed(
            uncached,
            contextTokens,
            expectedMs,
            request.targets().tpotMs(),
            answerTokens(request),
            request.streams(),
            uncached > setup.tokensPerBlock(),
            decodeOnly && prefilled && movedTokens > 0
                ? new TransferTimes.Moved(
                    request.prefilledBy(),
                    rank.workerId(),
                    movedTokens,
                    Math.max(0, expectedMs - transferMs))
                : null,
            nowNs);
    attempts.put(attempt, placed);
    answers.began(nowNs);
    if (request.expectedOutputTokens() > 0) {
      forecast.limitAnswer(placed, request.expectedOutputTokens());
    }
    if (decodeOnly) {
      placed.timed = prefilled;
      forecast.decodeOnly(placed, nowNs);
    }
  }

  @Override
  public void onTokens(long attempt, int tokens, long nowNs) {
    Attempt placed = attempts.get(attempt);
    if (placed != null) {
      if (tokens > 0) {
        learnTransfer(placed, nowNs);
        answers.streamed(tokens, placed.streamedTokens + (long) tokens);
      }
      placed.rank.streamed(placed, tokens, nowNs);
    }
  }

  /** An answer that comes as a whole says nothing of its first token. */
  private void learnTransfer(Attempt placed, long nowNs) {
    if (placed.moved != null && placed.streaming && placed.awaitsFirst()) {
      double ms = (nowNs - placed.placedNs) / NS_PER_MS;
      transfers.learn(placed.moved, ms, nowNs);
    }
  }

  @Override
  public void onPrefillDone(long attempt, long nowNs) {
    Attempt placed = attempts.get(attempt);
    if (placed != null) {
      placed.rank.promptReported(placed, nowNs);
    }
  }

  @Override
  public void onEnded(long attempt) {
    Attempt placed = attempts.remove(attempt);
    if (placed != null) {
      placed.rank.ended(placed);
      boolean answered = placed.streamedTokens > 0 && !placed.rank.isRemoved();
      answers.ended(answered, placed.placedNs, clockNs.getAsLong());
    }
  }

  @Override
  public void onForwardPass(RankId rank, ForwardPass pass, long nowNs) {
    RankForecast forecast = rank(rank, nowNs);
    if (pass.durationNs() == 0) {
      forecast.idle(nowNs);
      return;
    }
    forecast.engine().passed(forecast, pass, nowNs);
  }

  @Override
  public void onAdded(RankId rank) {
    rank(rank, clockNs.getAsLong());
  }

  @Override
  public void onRemoved(RankId rank) {
    RankForecast removed = ranks.remove(rank);
    if (removed != null) {
      removed.remove();
      if (removed.engine().isEmpty()) {
        removed.engine().close();
        engines.remove(rank.workerId());
        transfers.forget(rank.workerId());
      }
    }
  }
}
