package io.kvasir.gateway.verify;

import io.kvasir.event.BlockEvent;
import io.kvasir.fleet.wire.StoredListener;
import io.kvasir.fleet.wire.WireBlocks;
import io.kvasir.gateway.verify.TokenDifference.Alignment;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The tokens of the blocks that a worker stored last, kept until a prompt is stored as expected, to
 * show how they differ from the expected ones. Thread-safe.
 */
final class StoredSamples implements StoredListener {

  private static final int KEPT = 64;
  private static final int MAX_TOKENS = 4_096;

  private final int tokensPerBlock;

  /** Guarded by itself. The pump's thread adds, so it is never held for long. */
  private final Deque<Sample> samples = new ArrayDeque<>();

  private volatile boolean wanted = true;

  @SuppressWarnings("ArrayRecordComponent") // never compared
  private record Sample(boolean root, int[] tokens) {}

  StoredSamples(int tokensPerBlock) {
    this.tokensPerBlock = tokensPerBlock;
  }

  /** Keeps samples from now on, or none. */
  void want(boolean now) {
    wanted = now;
    if (!now) {
      synchronized (samples) {
        samples.clear();
      }
    }
  }

  @Override
  public void onStored(WireBlocks blocks, BlockEvent.Stored event) {
    if (!wanted) {
      return;
    }
    int count = Math.min(blocks.plainTokens(), MAX_TOKENS);
    if (count == 0) {
      return;
    }
    Sample sample = new Sample(blocks.root(), Arrays.copyOf(blocks.tokens(), count));
    synchronized (samples) {
      samples.addLast(sample);
      if (samples.size() > KEPT) {
        samples.removeFirst();
      }
    }
  }

  /**
   * The difference to the sample that agrees longest with a prompt; null without samples. Blocks
   * that do not begin a prompt may agree in a few tokens by chance, so they count less until a
   * whole block agrees. O(prompt), with a bound.
   */
  @Nullable TokenDifference difference(int[] prompt) {
    TokenDifference longest = null;
    int most = -1;
    List<Sample> now;
    synchronized (samples) {
      now = List.copyOf(samples);
    }
    for (Sample sample : now) {
      Alignment where = TokenDifference.align(prompt, sample.tokens, sample.root, tokensPerBlock);
      boolean certain = sample.root || where.length() >= tokensPerBlock;
      int weight = certain ? tokensPerBlock + where.length() : where.length();
      boolean differs =
          where.at() + where.length() < prompt.length && where.length() < sample.tokens.length;
      if (differs && weight > most) {
        most = weight;
        longest = TokenDifference.behind(prompt, sample.tokens, where);
      }
    }
    return longest;
  }
}
