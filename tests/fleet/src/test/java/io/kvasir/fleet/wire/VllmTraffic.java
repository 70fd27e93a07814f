package io.kvasir.fleet.wire;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;

/**
 * Random requests that reach the hard cases of a cache: shared beginnings, prompts of whole blocks,
 * prompts of one block, equal prompts side by side, and turns that continue an answer.
 */
final class VllmTraffic {

  private static final int PROMPTS_KEPT = 24;
  private static final int UNFINISHED = 12;

  private final Random random;
  private final int size;
  private final int maxTokens;
  private final List<int[]> known = new ArrayList<>();

  /**
   * Makes traffic.
   *
   * @param size tokens per block
   * @param maxTokens most tokens of a prompt and its answer
   */
  VllmTraffic(Random random, int size, int maxTokens) {
    this.random = random;
    this.size = size;
    this.maxTokens = maxTokens;
    for (int i = 0; i < 4; i++) {
      known.add(tokens(size * (1 + i)));
    }
  }

  /** Submits a few requests, unless many wait or run. */
  void submit(VllmCache cache) {
    for (int[] ended : cache.takeFinished()) {
      keep(ended);
    }
    int count = cache.unfinished() < UNFINISHED ? random.nextInt(4) : 0;
    for (int i = 0; i < count; i++) {
      int[] prompt = prompt();
      keep(prompt);
      int same = random.nextInt(5) == 0 ? 2 + random.nextInt(2) : 1;
      int answer = 1 + random.nextInt(Math.min(4 * size, maxTokens - prompt.length));
      for (int j = 0; j < same; j++) {
        cache.submit(prompt, answer);
      }
    }
  }

  /** Tokens to look up: a prompt or answer of the past, cut or continued. */
  int[] question() {
    int[] tokens = known.get(random.nextInt(known.size()));
    return switch (random.nextInt(3)) {
      case 0 -> tokens;
      case 1 -> Arrays.copyOf(tokens, 1 + random.nextInt(tokens.length));
      default -> joined(tokens, tokens(random.nextInt(3 * size)));
    };
  }

  private void keep(int[] tokens) {
    if (known.size() < PROMPTS_KEPT) {
      known.add(tokens);
    } else {
      known.set(random.nextInt(PROMPTS_KEPT), tokens);
    }
  }

  private int[] prompt() {
    int[] base = known.get(random.nextInt(known.size()));
    int[] prompt =
        switch (random.nextInt(6)) {
          case 0 -> tokens(size);
          case 1 -> Arrays.copyOf(base, Math.max(1, base.length / size) * size);
          case 2 -> Arrays.copyOf(base, (1 + random.nextInt(base.length / size + 1)) * size);
          case 3 -> base;
          case 4 -> joined(base, tokens(1 + random.nextInt(3 * size)));
          default ->
              joined(
                  Arrays.copyOf(base, random.nextInt(base.length) + 1),
                  tokens(1 + random.nextInt(2 * size)));
        };
    return prompt.length < maxTokens ? prompt : Arrays.copyOf(prompt, maxTokens / 2);
  }

  private int[] tokens(int count) {
    return random.ints(count, 0, 50_000).toArray();
  }

  private static int[] joined(int[] first, int[] second) {
    return IntStream.concat(IntStream.of(first), IntStream.of(second)).toArray();
  }
}
