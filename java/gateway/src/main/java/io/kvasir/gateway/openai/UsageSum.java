package io.kvasir.gateway.openai;

import java.util.HashMap;
import java.util.Map;

/**
 * Adds up the usage of the answers of one stream. Each part of the stream states the numbers of one
 * answer so far. Not thread-safe.
 */
public final class UsageSum {

  private final Map<Integer, Usage> answers = new HashMap<>();
  private Usage sum = Usage.UNKNOWN;

  /** Begins with nothing known. */
  public UsageSum() {}

  /**
   * Takes what a part states. O(1).
   *
   * @param index which answer the part is of, from 0
   * @param stated the answer's numbers so far
   * @return the sum of all answers
   */
  public Usage add(int index, Usage stated) {
    Usage before = answers.getOrDefault(index, Usage.UNKNOWN);
    Usage now = before.then(stated);
    answers.put(index, now);
    sum =
        new Usage(
            changed(sum.inputTokens(), before.inputTokens(), now.inputTokens()),
            changed(sum.outputTokens(), before.outputTokens(), now.outputTokens()),
            changed(sum.cachedTokens(), before.cachedTokens(), now.cachedTokens()));
    return sum;
  }

  private static int changed(int sum, int before, int now) {
    long others = Math.max(0L, (long) Math.max(sum, 0) - Math.max(before, 0));
    return now < 0 ? sum : (int) Math.min(others + now, Integer.MAX_VALUE);
  }
}
