package io.kvasir.fleet.index;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;

/**
 * Random prompts as chains of local hashes that share prefixes and diverge at any block, with
 * random handles for their blocks.
 */
final class RandomChains {

  private static final int MAX_PROMPTS = 48;

  /** How an engine assigns handles. */
  enum Handles {
    /** A few small numbers: most are reused for other blocks. */
    FEW,
    /** Random numbers, different for each rank. */
    RANDOM,
    /** The same for the same prefix, on every rank. */
    BY_PREFIX,
    /** Multiples of 2^48. */
    HIGH_BITS,
    /** Numbers with equal low halves. */
    EQUAL_LOW_BITS
  }

  private final Random random;
  private final int alphabet;
  private final int longest;
  private final List<long[]> prompts = new ArrayList<>();

  /** Chains of up to {@code longest} blocks, each with one of {@code alphabet} local hashes. */
  RandomChains(Random random, int alphabet, int longest) {
    this.random = random;
    this.alphabet = alphabet;
    this.longest = longest;
  }

  /** The local hashes of a prompt of at least one block; most are similar to an earlier one. */
  long[] next() {
    int length = 1 + random.nextInt(longest);
    long[] known = prompts.isEmpty() ? new long[0] : prompts.get(random.nextInt(prompts.size()));
    int kept = random.nextInt(4) == 0 ? 0 : random.nextInt(known.length + 1);
    long[] prompt = Arrays.copyOf(known, Math.max(length, kept));
    for (int i = kept; i < prompt.length; i++) {
      prompt[i] = 1L + random.nextInt(alphabet);
    }
    if (prompts.size() < MAX_PROMPTS) {
      prompts.add(prompt);
    } else {
      prompts.set(random.nextInt(MAX_PROMPTS), prompt);
    }
    return prompt;
  }

  /** A known prompt, either unchanged, with a different end, or extended. */
  long[] similarTo(long[] known) {
    int kept = random.nextInt(3) == 0 ? known.length : random.nextInt(known.length + 1);
    long[] prompt = Arrays.copyOf(known, kept + random.nextInt(4));
    for (int i = kept; i < prompt.length; i++) {
      prompt[i] = 1L + random.nextInt(alphabet);
    }
    return prompt;
  }

  /** A handle for the last block of a prefix. */
  long handle(Handles kind, long[] prompt, int depth) {
    return switch (kind) {
      case FEW -> random.nextInt(80);
      case RANDOM -> random.nextLong();
      case BY_PREFIX -> Arrays.hashCode(Arrays.copyOf(prompt, depth)) * 0x9E3779B97F4A7C15L;
      case HIGH_BITS -> (long) random.nextInt(1 << 16) << 48;
      case EQUAL_LOW_BITS -> (long) random.nextInt(1 << 12) << 32 | 7;
    };
  }
}
