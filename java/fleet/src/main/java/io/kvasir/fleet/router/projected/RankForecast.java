package io.kvasir.fleet.router.projected;

import io.kvasir.model.RankId;
import io.kvasir.timing.ExpectedTurns;
import io.kvasir.timing.StepModel;
import org.jspecify.annotations.Nullable;

/**
 * The requests that were placed on one rank: prompts in the queue, with the time that each is
 * expected to take, and requests that decode.
 *
 * <p>Not thread-safe.
 */
final class RankForecast {

  private static final double NS_PER_MS = 1e6;

  /** Part of its expected time that a prompt which takes longer is still expected to take. */
  static final double LEAST_LEFT = 0.1;

  /**
   * After so many expected times a prompt counts as computed if later ones were: not all streams
   * report their first token.
   */
  private static final double OVERDUE = 3;

  /** Tokens of one step where the rank's limit is unknown. */
  static final long DEFAULT_STEP_TOKENS = 8192;

  /** Steps that are looked at, at most. */
  static final int MOST_STEPS = 32;

  final ExpectedTurns.Open open = new ExpectedTurns.Open();

  private final RankId rank;
  private final EngineRanks engine;
  private final StepModel model;
  private final LoadEstimate load;
  private final ForecastInterval interval;
  private long maxTokens = DEFAULT_STEP_TOKENS;
  private final PromptQueue queue = new PromptQueue();
  private final StepObservations observed;
  private final PacedAnswers paced;

  /** Whether there are any; kept here because each choice reads it of every rank. */
  private boolean paces;

  private boolean removed;
  private long promptTokens;
  private int attempts;
  private long answerLimits;
  private long streamedTokens;
  private int decoding;
  private long kvTokens;

  /** When the last prompt is taken to have ended whose end was not reported. */
  private long assumedNs = Long.MIN_VALUE;

  /** Whether the ends of prompts are reported whose answers do not stream. */
  private boolean reportsPrompts;

  /**
   * Begins without requests.
   *
   * @param rank the rank
   * @param load adds up the times
   * @param interval compares expected and actual times of first tokens
   * @param engine the ranks of its engine, to which it is not added
   */
  RankForecast(RankId rank, LoadEstimate load, ForecastInterval interval, EngineRanks engine) {
    this.rank = rank;
    this.engine = engine;
    this.model = engine.model();
    this.load = load;
    this.interval = interval;
    this.paced = new PacedAnswers(interval);
    this.observed = new StepObservations(rank, load, engine);
  }

  /** Whether these are the requests of a rank that is there. */
  boolean isOf(RankId other) {
    return !removed && rank.equals(other);
  }

  /** Whether the rank is gone. */
  boolean isRemoved() {
    return removed;
  }

  /** The rank is gone. */
  void remove() {
    removed = true;
    engine.remove(this);
  }

  /** The tokens that the rank computes in one step at most are known, at least 1. */
  void limitStep(long tokens) {
    maxTokens = tokens;
    observed.limitStep(tokens);
  }

  /** Tokens to compute of all prompts without a first token, overdue ones included. */
  long promptTokens() {
    return promptTokens;
  }

  private int steps(long uncached) {
    return StepObservations.steps(uncached, maxTokens);
  }

  /** The time of a prompt alone, without the queue and decoding requests, in milliseconds. */
  double promptMs(long uncached, long context) {
    return model.promptMs(uncached, context, steps(uncached));
  }

  /** The time that the typical engine would take to compute a prompt, in milliseconds. */
  double typicalPromptMs(long uncached, long context) {
    return engine.typical().promptMs(uncached, context, steps(uncached));
  }

  /** What the decoding requests add to the time of a prompt, in milliseconds. */
  double interleavedMs(long uncached) {
    return decoding == 0 ? 0 : steps(uncached) * model.decodeMs(kvTokens);
  }

  /** The time of a decode step if it read more KV, in milliseconds. */
  double stepMs(long moreTokens) {
    return model.decodeMs(kvTokens + moreTokens);
  }

  /** The time until all prompts in the queue are expected to be computed, in milliseconds. */
  double queuedMs(long nowNs) {
    engine.relaxUnseen(nowNs);
    Attempt over = queue.firstOver(endedNs(), nowNs);
    while (over != null) {
      if (over.awaited) {
        queue.remove(over);
      } else {
        endUnobserved(over, nowNs);
      }
      over = queue.firstOver(endedNs(), nowNs);
    }
    return queue.leftMs(nowNs);
  }

  /** When the first prompt in the queue should have been computed; the largest number if none. */
  long queueDueNs() {
    return queue.dueNs(endedNs());
  }

  /** The engine has reported a step without work. */
  void idle(long nowNs) {
    queue.idle(nowNs);
  }

  private long expectedEndNs(Attempt first) {
    return Math.max(first.placedNs, endedNs()) + (long) (first.expectedMs * NS_PER_MS);
  }

  /** The first prompt has been computed by now, but its end is unknown and teaches nothing. */
  private void endUnobserved(Attempt first, long nowNs) {
    long atNs = Math.min(nowNs, expectedEndNs(first));
    queue.remove(first);
    assumedNs = Math.max(assumedNs, atNs);
    load.busy(first.expectedMs);
    decode(first, atNs);
  }

  /** A prompt has been computed, so those before it have been too. */
  private void endThoseBefore(Attempt attempt, long nowNs) {
    if (attempt.queued) {
      Attempt first = queue.first();
      while (first != null && first != attempt && !first.awaited) {
        endUnobserved(first, nowNs);
        first = queue.first();
      }
    }
    queue.computed(attempt);
  }

  /**
   * The time until a prompt is computed that is placed now, with what the other ranks of the engine
   * add to the steps, by what the engine has read last. O(steps).
   *
   * @param uncached its tokens to compute
   * @param computeMs the rank's own time for it
   * @param nowNs the time
   */
  double togetherMs(long uncached, double computeMs, long nowNs) {
    int steps = Math.min(MOST_STEPS, steps(queue.tokens() + uncached));
    return engine.togetherMs(this, steps, (queue.expectedMs() + computeMs) / steps, nowNs);
  }

  /** The rank's own time for prompts in one of the next steps, counted from the one in progress. */
  double queueStepMs(int step) {
    int steps = queueSteps();
    return step < steps ? queue.expectedMs() / steps : 0;
  }

  /** The steps in which the prompts of the queue are computed, 1 to {@link #MOST_STEPS}. */
  int queueSteps() {
    return Math.min(MOST_STEPS, steps(Math.max(1, queue.tokens())));
  }

  /** When the first prompt in the queue was placed; the largest number if there is none. */
  long queueBeganNs() {
    return queue.beganNs();
  }

  /** When the last prompt ended, as far as is known. */
  long endedNs() {
    return Math.max(observed.endedNs(), assumedNs);
  }

  /**
   * A request was placed.
   *
   * @param uncached its tokens to compute
   * @param context its tokens that need not be computed
   * @param firstTokenMs the expected time until its first token
   * @param tpotMs its target for the time between tokens; infinite for none
   * @param outputTokens the expected number of output tokens
   * @param streaming whether its first token will be reported when it comes
   * @param storesBlock whether it computes a block, so that the end of its prompt may be reported
   * @param moved what comes from another worker; null for nothing
   */
  Attempt placed(
      int uncached,
      int context,
      double firstTokenMs,
      double tpotMs,
      double outputTokens,
      boolean streaming,
      boolean storesBlock,
      TransferTimes.@Nullable Moved moved,
      long nowNs) {
    double expectedMs = promptMs(uncached, context) + interleavedMs(uncached);
    double overdueMs = OVERDUE * Math.max(firstTokenMs, queuedMs(nowNs) + expectedMs);
    Attempt attempt =
        new Attempt(
            this,
            uncached,
            context,
            nowNs,
            expectedMs,
            overdueMs,
            firstTokenMs,
            tpotMs,
            outputTokens,
            streaming,
            streaming || (reportsPrompts && storesBlock),
            moved);
    queue.add(attempt);
    promptTokens += uncached;
    attempts++;
    answerLimits += attempt.answerLimit;
    return attempt;
  }

  /** An answer has so many tokens at most. */
  void limitAnswer(Attempt attempt, int tokens) {
    answerLimits += tokens - attempt.answerLimit;
    attempt.answerLimit = tokens;
  }

  /**
   * The tokens that answers on the rank are expected to have once they are complete.
   *
   * @param mean the mean of an answer that is not limited
   */
  double answerTokens(double mean) {
    return Math.min(attempts * mean, (double) answerLimits);
  }

  /** The tokens of answers on the rank that have come. */
  long streamedTokens() {
    return streamedTokens;
  }

  /** It is reported that a prompt has been computed, perhaps but for its last step. */
  void promptReported(Attempt attempt, long nowNs) {
    if (attempt.streaming) {
      streamed(attempt, 0, nowNs);
    } else if (!attempt.reported) {
      attempt.reported = true;
      promptTokens -= attempt.uncached;
      reportsPrompts = true;
      if (!attempt.decodes) {
        endThoseBefore(attempt, nowNs);
        queue.remove(attempt);
        observed.promptEnded(attempt, assumedNs, decoding, kvTokens, nowNs);
        decode(attempt, nowNs);
      }
    }
  }

  /** Output tokens have streamed, or all have come at once. */
  void streamed(Attempt attempt, int tokens, long nowNs) {
    if (!attempt.reported) {
      attempt.reported = true;
      promptTokens -= attempt.uncached;
      endThoseBefore(attempt, nowNs);
      if (attempt.streaming) {
        queue.remove(attempt);
        observed.promptEnded(attempt, assumedNs, decoding, kvTokens, nowNs);
        decode(attempt, nowNs);
      } else {
        reportsPrompts &= !attempt.awaited;
        if (attempt == queue.first()) {
          endUnobserved(attempt, nowNs);
        } else if (!attempt.decodes) {
          queue.remove(attempt);
          decode(attempt, nowNs);
        }
      }
    } else if (attempt.streaming) {
      observed.streamsOn(attempt, nowNs);
      attempt.streamsOn(interval, nowNs);
      if (tokens == 1 && queue.isEmpty() && !attempt.awaitsFirst()) {
        observed.decoded(attempt, assumedNs, kvTokens, nowNs);
      }
    }
    attempt.streamed(tokens, nowNs);
    kvTokens += tokens;
    streamedTokens += tokens;
  }

  /** The prompt of an attempt is computed elsewhere: it only decodes, from now on. */
  void decodeOnly(Attempt attempt, long nowNs) {
    queue.remove(attempt);
    attempt.reported = true;
    promptTokens -= attempt.uncached;
    decode(attempt, nowNs);
    attempt.awaitFirstToken();
  }

  private void decode(Attempt attempt, long nowNs) {
    attempt.decode(nowNs);
    kvTokens += attempt.tokens;
    decoding++;
    paced.add(attempt);
    paces = !paced.isEmpty();
  }

  long kvTokens() {
    return kvTokens;
  }

  StepObservations observed() {
    return observed;
  }

  /** The ranks that step together with this one, and this one. */
  EngineRanks engine() {
    return engine;
  }

  /** An attempt has ended. */
  void ended(Attempt attempt) {
    queue.remove(attempt);
    attempts--;
    answerLimits -= attempt.answerLimit;
    streamedTokens -= attempt.streamedTokens;
    if (attempt.decodes) {
      decoding--;
      kvTokens -= attempt.tokens;
      paced.remove(attempt);
      paces = !paced.isEmpty();
    }
    if (!attempt.reported) {
      promptTokens -= attempt.uncached;
    }
  }

  /** The mean time between the tokens of an answer if the rank also reads more KV. */
  double tpotMs(long moreTokens) {
    return stepMs(moreTokens) / (1 - load.share());
  }

  /** What computing a prompt takes from the answers with a target for the time between tokens. */
  double lost(double ms, long nowNs) {
    return paces ? paced.lost(ms, tpotMs(0), nowNs) : 0;
  }
}
