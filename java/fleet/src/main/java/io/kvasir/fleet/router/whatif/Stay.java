package io.kvasir.fleet.router.whatif;

import io.kvasir.timing.StepWork;
import org.jspecify.annotations.Nullable;

/** One request on a virtual rank. Times are those of the clock in nanoseconds. Not thread-safe. */
final class Stay {

  final long attempt;
  final StepGroup group;
  final StepGroup.Rank rank;
  final long arrivedNs;

  /** Whether the actual request's tokens are reported when they come. */
  final boolean streams;

  /** Tokens of the prompt that its rank computes. */
  final int uncached;

  /** The work of the steps that computed it, to learn from; null if nothing is learned. */
  final @Nullable StepWork work;

  /** Tokens so far, and those of them that do not belong to a prefix that the rank held. */
  long tokens;

  long ownTokens;

  /** Tokens of the prompt that are not computed yet. */
  long left;

  /** Tokens of the answer that came before the virtual first token. */
  int unreported;

  /** It has waited for other prompts or for blocks, so its time says less about a step. */
  boolean waited;

  boolean learned;
  boolean success;
  long startNs = VirtualSteps.UNKNOWN;
  long firstNs = VirtualSteps.UNKNOWN;
  long endNs = VirtualSteps.UNKNOWN;
  long actualFirstNs = VirtualSteps.UNKNOWN;
  long actualEndNs = VirtualSteps.UNKNOWN;

  /** From the actual first token to the actual end. */
  long runNs;

  Stay(
      long attempt,
      StepGroup group,
      StepGroup.Rank rank,
      long arrivedNs,
      int tokens,
      int uncached,
      boolean streams,
      @Nullable StepWork work) {
    this.attempt = attempt;
    this.group = group;
    this.rank = rank;
    this.arrivedNs = arrivedNs;
    this.tokens = tokens;
    this.uncached = uncached;
    this.ownTokens = uncached;
    this.left = uncached;
    this.streams = streams;
    this.work = work;
  }
}
