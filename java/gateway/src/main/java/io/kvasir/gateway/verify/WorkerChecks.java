package io.kvasir.gateway.verify;

import io.kvasir.fleet.wire.StoredListener;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What the evidence so far says about one worker. Thread-safe; every call is short.
 *
 * <p>A verdict that changes is logged once, without tokens of prompts, and passed on. Requests name
 * no rank once steering is contradicted, so that there is no further evidence; it is tried again
 * after some time.
 */
public final class WorkerChecks {

  private static final Logger LOG = LoggerFactory.getLogger(WorkerChecks.class);
  private static final int MIN_UNREPORTED = 8;
  private static final long STEERING_RETRY_NS = TimeUnit.MINUTES.toNanos(10);

  private final String worker;
  private final int ranks;
  private final int tokensPerBlock;
  private final String usageOption;
  private final BiConsumer<Boolean, Boolean> onVerdict;
  private final LongSupplier clockNs;
  private final StoredSamples samples;

  // Guarded by this.
  private TokenEvidence tokens;
  private SteeringEvidence steering;
  private final HitEvidence[] hits;
  private final @Nullable BlockParity[] parity;
  private boolean usageMissing;
  private long unsteeredNs;
  private @Nullable TokenDifference askedFor;

  /**
   * A verdict at one time. Immutable.
   *
   * @param verdict the verdict
   * @param agreements evidence for the assumption
   * @param contradictions evidence against it
   * @param text the verdict in words
   */
  public record Finding(Verdict verdict, int agreements, int contradictions, String text) {}

  /**
   * Predicted against reported hits at one time, in tokens. Immutable.
   *
   * @param requests requests with both numbers
   * @param predicted prompt tokens that were expected in the cache
   * @param cached prompt tokens that the engine took from its cache
   * @param error sum of the absolute differences
   */
  public record Hits(long requests, long predicted, long cached, long error) {}

  /**
   * Begins without evidence.
   *
   * @param worker its name in logs
   * @param ranks its ranks, at least 1
   * @param tokensPerBlock its block size
   * @param usageOption the engine's option that makes its usage report cached tokens
   * @param onVerdict receives whether tokens and steering can be relied on, whenever that changes
   */
  public WorkerChecks(
      String worker,
      int ranks,
      int tokensPerBlock,
      String usageOption,
      BiConsumer<Boolean, Boolean> onVerdict) {
    this(worker, ranks, tokensPerBlock, usageOption, onVerdict, System::nanoTime);
  }

  /** The same with another clock, in nanoseconds. */
  WorkerChecks(
      String worker,
      int ranks,
      int tokensPerBlock,
      String usageOption,
      BiConsumer<Boolean, Boolean> onVerdict,
      LongSupplier clockNs) {
    this.clockNs = clockNs;
    this.worker = worker;
    this.ranks = ranks;
    this.tokensPerBlock = tokensPerBlock;
    this.usageOption = usageOption;
    this.onVerdict = onVerdict;
    this.samples = new StoredSamples(tokensPerBlock);
    this.tokens = new TokenEvidence(clockNs);
    this.steering = new SteeringEvidence(ranks);
    this.hits = new HitEvidence[ranks];
    this.parity = new BlockParity[ranks];
    for (int rank = 0; rank < ranks; rank++) {
      hits[rank] = new HitEvidence();
    }
  }

  /** {@return sees the blocks that the worker stores} */
  public StoredListener stored() {
    return samples;
  }

  /** The worker was restarted or its facts changed: earlier evidence does not count. */
  public synchronized void reset() {
    tokens = new TokenEvidence(clockNs);
    steering = new SteeringEvidence(ranks);
    askedFor = null;
    samples.want(true);
    onVerdict.accept(true, true);
  }

  /**
   * A prompt is about to be sent. Evidence about tokens that is too old is forgotten. Steering that
   * has been contradicted for long enough is tried again without the earlier evidence, from the
   * next request on.
   */
  synchronized void onSent() {
    Verdict before = tokens.verdict();
    tokens.age();
    judge(before, tokens.verdict(), "its tokens are compared again");
    if (steering.verdict() == Verdict.CONTRADICTED
        && clockNs.getAsLong() - unsteeredNs >= STEERING_RETRY_NS) {
      steering = new SteeringEvidence(ranks);
      judge(Verdict.CONTRADICTED, Verdict.UNKNOWN, "its requests name their ranks again");
    }
  }

  /**
   * A prompt's blocks were stored as expected.
   *
   * @param client whose prompt it was
   */
  synchronized void onStoredAsExpected(Witness client) {
    Verdict before = tokens.verdict();
    tokens.agree(client);
    samples.want(false);
    judge(before, tokens.verdict(), tokens.summary());
  }

  /**
   * A request was served by the rank that it named, or by another one.
   *
   * @param pinned the rank that it named
   * @param observed the rank that stored its prompt
   */
  synchronized void onServedBy(int pinned, int observed) {
    Verdict before = steering.verdict();
    // Requests from before a contradiction cannot revise it.
    if (before != Verdict.CONTRADICTED && pinned < ranks && observed < ranks) {
      steering.add(pinned, observed);
      if (steering.verdict() == Verdict.CONTRADICTED) {
        unsteeredNs = clockNs.getAsLong();
      }
      judge(before, steering.verdict(), steering.text());
    }
  }

  /**
   * A prompt's blocks were not stored although they were new.
   *
   * @param prompt its expected tokens
   * @param client whose prompt it was
   */
  void onNotStored(int[] prompt, Witness client) {
    TokenDifference difference = samples.difference(prompt); // outside the lock: it takes longest
    synchronized (this) {
      Verdict before = tokens.verdict();
      tokens.contradict(client, difference);
      samples.want(tokens.verdict() == Verdict.UNKNOWN);
      judge(before, tokens.verdict(), tokens.summary());
    }
  }

  private void judge(Verdict before, Verdict now, String text) {
    if (before == now) {
      return;
    }
    if (now == Verdict.CONTRADICTED) {
      LOG.warn(
          "worker {}: {}; its requests are placed by load alone; /kvasir/ranks has details",
          worker,
          text);
    } else if (before == Verdict.CONTRADICTED) {
      LOG.info("worker {}: {}", worker, text);
    }
    onVerdict.accept(
        tokens.verdict() != Verdict.CONTRADICTED, steering.verdict() != Verdict.CONTRADICTED);
  }

  /**
   * A request was served.
   *
   * @param rank its rank; negative if it is unknown, which it cannot be with a single rank
   * @param predictedTokens prompt tokens that were expected in the cache
   * @param cachedTokens those that its usage reports; negative if it reports none
   * @return whether the rank is known
   */
  public synchronized boolean onServed(int rank, long predictedTokens, long cachedTokens) {
    int by = ranks == 1 ? 0 : rank;
    if (by < 0 || by >= ranks) {
      return false;
    }
    hits[by].add(predictedTokens, cachedTokens, tokensPerBlock);
    boolean missing = hits[by].unreported() >= MIN_UNREPORTED && hits[by].requests() == 0;
    if (missing && !usageMissing) {
      usageMissing = true;
      LOG.warn("worker {} does not report cached tokens; start it with {}", worker, usageOption);
    }
    return true;
  }

  /** {@return whether it is still open that the worker stores the tokens that are expected} */
  synchronized boolean compares() {
    return tokens.verdict() != Verdict.CONFIRMED;
  }

  /** {@return whether the worker stores the tokens that are expected} */
  public synchronized Finding tokens() {
    return new Finding(
        tokens.verdict(), tokens.agreements(), tokens.contradictions(), tokens.text());
  }

  /** {@return the first difference between expected and stored tokens; null if none is known} */
  public synchronized @Nullable TokenDifference difference() {
    return tokens.difference();
  }

  /**
   * {@return the first difference once tokens are known to differ, so that its texts can be asked
   * for; null if it is not known or was returned before}
   */
  public synchronized @Nullable TokenDifference undescribed() {
    TokenDifference now = tokens.difference();
    if (now == null || askedFor != null || tokens.verdict() != Verdict.CONTRADICTED) {
      return null;
    }
    askedFor = now;
    return now;
  }

  /**
   * Adds texts to the first difference.
   *
   * @param of the difference; ignored if another one is known now
   * @param expected the text of the expected tokens
   * @param stored the text of the engine's tokens
   */
  public synchronized void describe(TokenDifference of, String expected, String stored) {
    if (of.equals(tokens.difference())) {
      tokens.describe(of.withTexts(expected, stored));
    }
  }

  /** {@return whether requests are served by the rank that they name} */
  public synchronized Finding steering() {
    return new Finding(
        steering.verdict(), steering.agreements(), steering.contradictions(), steering.text());
  }

  /**
   * {@return predicted against reported hits of a rank}
   *
   * @param rank the rank
   */
  public synchronized Hits hits(int rank) {
    HitEvidence of = hits[rank];
    return new Hits(of.requests(), of.predicted(), of.cached(), of.error());
  }

  /**
   * A rank's blocks were compared with its engine's.
   *
   * @param rank the rank; ignored if the worker is not known to have it
   * @param found the result
   */
  public synchronized void onParity(int rank, BlockParity found) {
    if (rank < ranks) {
      parity[rank] = found;
    }
  }

  /**
   * {@return the last comparison of a rank's blocks with its engine's; null if there was none}
   *
   * @param rank the rank
   */
  public synchronized @Nullable BlockParity parity(int rank) {
    return parity[rank];
  }

  /** {@return the engine's option that its usage lacks; empty if cached tokens are reported} */
  public synchronized String missingUsageOption() {
    return usageMissing ? usageOption : "";
  }
}
