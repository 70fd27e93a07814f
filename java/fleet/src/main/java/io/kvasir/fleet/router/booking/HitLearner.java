package io.kvasir.fleet.router.booking;

import io.kvasir.fleet.router.HitCorrection;
import it.unimi.dsi.fastutil.ints.Int2IntOpenHashMap;
import java.util.Arrays;

/**
 * Learns from the cached tokens that one engine reports which part of its blocks it reuses. Not
 * thread-safe.
 *
 * <p>Keeps the latest requests whose blocks the engine held, and explains them by as few rules as
 * possible: a rule that explains hardly more of them than none is not adopted. Requests whose
 * blocks were evicted meanwhile follow no rule and are outvoted.
 */
final class HitLearner {

  /** Requests that are kept. */
  static final int WINDOW = 128;

  private static final int EVERY = 8;
  private static final int MIN_HITS = 16;
  private static final int MIN_IGNORED = 16;
  private static final int MAX_UNIT_BLOCKS = 64;

  /** The end of a prompt that is computed in any case, first for most engines. */
  private static final int[] END_TOKENS = {1, 2};

  private final int tokensPerBlock;
  private final int[] held = new int[WINDOW];
  private final int[] prompt = new int[WINDOW];
  private final int[] cached = new int[WINDOW];
  private long seen;
  private HitCorrection learned = HitCorrection.NONE;

  HitLearner(int tokensPerBlock) {
    this.tokensPerBlock = tokensPerBlock;
  }

  HitCorrection learned() {
    return learned;
  }

  /**
   * A request was served. Where no number is reported nothing is learned: engines leave it out for
   * some endpoints, not only where it is 0.
   *
   * @param heldBlocks leading blocks of the prompt that the engine held
   * @param promptTokens the prompt's tokens
   * @param cachedTokens tokens that it reports as cached; negative if it reports none
   * @return whether {@link #learned} has changed
   */
  boolean served(int heldBlocks, int promptTokens, int cachedTokens) {
    if (cachedTokens < 0 || heldBlocks == 0) {
      return false;
    }
    int at = (int) (seen++ % WINDOW);
    held[at] = heldBlocks;
    prompt[at] = promptTokens;
    cached[at] = cachedTokens / tokensPerBlock;
    if (seen % EVERY != 0) {
      return false;
    }
    HitCorrection before = learned;
    learned = explain();
    return !learned.equals(before);
  }

  private int kept() {
    return (int) Math.min(seen, WINDOW);
  }

  /** O(window x rules). */
  private HitCorrection explain() {
    HitCorrection plain = new HitCorrection(END_TOKENS[0], 1, 0, 1);
    HitCorrection best = plain;
    int hits = 0;
    for (int i = 0; i < kept(); i++) {
      hits += cached[i] > 0 ? 1 : 0;
    }
    if (hits >= MIN_HITS) {
      int most = explained(plain);
      for (int end : END_TOKENS) {
        for (int unit = 1; unit <= MAX_UNIT_BLOCKS; unit *= 2) {
          HitCorrection rule = new HitCorrection(end, unit, lost(end, unit), 1);
          int explained = explained(rule);
          if (explained > most + hits / 16) {
            best = rule;
            most = explained;
          }
        }
      }
      if (4 * most < 3 * hits) {
        best = plain;
      }
    }
    best = withSmallest(best);
    return best.equals(plain) ? HitCorrection.NONE : best;
  }

  /** Hits that a rule explains to the block. */
  private int explained(HitCorrection rule) {
    int explained = 0;
    for (int i = 0; i < kept(); i++) {
      if (cached[i] > 0 && rule.blocks(held[i], prompt[i], tokensPerBlock) == cached[i]) {
        explained++;
      }
    }
    return explained;
  }

  /** The most frequent difference between what a rule expects and a hit, if it is positive. */
  private int lost(int endTokens, int unitBlocks) {
    HitCorrection rule = new HitCorrection(endTokens, unitBlocks, 0, 1);
    Int2IntOpenHashMap counts = new Int2IntOpenHashMap();
    int lost = 0;
    int most = 0;
    for (int i = 0; i < kept(); i++) {
      int missing = rule.blocks(held[i], prompt[i], tokensPerBlock) - cached[i];
      if (cached[i] > 0 && missing >= 0 && counts.addTo(missing, 1) + 1 > most) {
        most = counts.get(missing);
        lost = missing;
      }
    }
    return lost;
  }

  /** Adds the smallest hit that counts: below it the engine reports none, above it mostly some. */
  private HitCorrection withSmallest(HitCorrection rule) {
    long[] bySize = new long[kept()]; // expected blocks, then whether the engine had a hit
    int expecting = 0;
    int hitsAbove = 0;
    for (int i = 0; i < kept(); i++) {
      int expected = rule.blocks(held[i], prompt[i], tokensPerBlock);
      if (expected > 0) {
        int hit = cached[i] > 0 ? 1 : 0;
        hitsAbove += hit;
        bySize[expecting++] = 2L * expected + hit;
      }
    }
    Arrays.sort(bySize, 0, expecting);
    int smallest = 1;
    int hitsBelow = 0;
    int best = 0;
    for (int below = 1; below <= expecting; below++) {
      int hit = (int) (bySize[below - 1] & 1);
      hitsBelow += hit;
      hitsAbove -= hit;
      boolean ends = below == expecting || bySize[below] / 2 > bySize[below - 1] / 2;
      int gain = below - 2 * hitsBelow;
      if (ends
          && gain > best
          && below >= MIN_IGNORED
          && 10 * hitsBelow <= below
          && hitsAbove >= MIN_HITS
          && 4 * hitsAbove >= 3 * (expecting - below)) {
        best = gain;
        long ignored = bySize[below - 1] / 2;
        long counted = below == expecting ? ignored + 1 : bySize[below] / 2;
        smallest = (int) ((ignored + counted + 1) / 2);
      }
    }
    return new HitCorrection(rule.endTokens(), rule.unitBlocks(), rule.lostBlocks(), smallest);
  }
}
