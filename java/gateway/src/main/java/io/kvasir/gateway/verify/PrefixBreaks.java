package io.kvasir.gateway.verify;

import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Finds prompts that begin like earlier ones, differ in a few tokens, and go on as those do: a
 * time, an id or a hash near the beginning, behind which nothing is reused. Texts are not kept, and
 * tokens of the last {@value #KEPT} prompts only, at most {@value #MAX_TOKENS} of each.
 *
 * <p>Thread-safe.
 */
public final class PrefixBreaks {

  private static final Logger LOG = LoggerFactory.getLogger(PrefixBreaks.class);

  static final int KEPT = 16;
  static final int MAX_TOKENS = 4096;

  /** The longest difference, in tokens. */
  static final int MAX_BREAK = 64;

  /** Equal tokens behind a difference that make it one. */
  static final int LEAST_EQUAL = 64;

  /** Prompts that count, and those with a break among them that name it. */
  private static final int WINDOW = 20;

  private static final int LEAST_BROKEN = 8;
  private static final int ANCHOR = 16;
  private static final long QUIET_NS = TimeUnit.HOURS.toNanos(1);

  private final Deque<int[]> earlier = new ArrayDeque<>();

  /** Of the last prompts, the position of the break, or -1. */
  private final Deque<Integer> positions = new ArrayDeque<>();

  private long broken;
  private long lostTokens;
  private volatile long loggedNs = System.nanoTime() - QUIET_NS;

  /**
   * A break that many prompts have.
   *
   * @param token the least position at which they differ, from 0
   * @param prompts prompts with a break, of those that count
   * @param of prompts that count
   */
  public record Finding(int token, int prompts, int of) {}

  /** Begins without prompts. */
  public PrefixBreaks() {}

  /**
   * Compares a prompt with the last ones.
   *
   * @param tokens its tokens, which are not kept
   */
  public synchronized void onPrompt(int[] tokens) {
    if (tokens.length < ANCHOR + LEAST_EQUAL) {
      return;
    }
    int[] head = Arrays.copyOf(tokens, Math.min(tokens.length, MAX_TOKENS));
    int shared = 0;
    int position = -1;
    int equal = 0;
    for (int[] other : earlier) {
      int same = mismatch(head, other);
      shared = Math.max(shared, same);
      if (same == head.length) {
        break; // nothing differs
      }
      int behind = equalBehind(head, other, same);
      if (behind > equal) {
        position = same;
        equal = behind;
      }
    }
    boolean breaks = equal >= LEAST_EQUAL && shared < position + ANCHOR;
    if (breaks) {
      broken++;
      lostTokens += equal;
    }
    add(earlier, head, KEPT);
    add(positions, breaks ? position : -1, WINDOW);
  }

  private static <T> void add(Deque<T> last, T value, int most) {
    last.addLast(value);
    if (last.size() > most) {
      last.removeFirst();
    }
  }

  private static int mismatch(int[] a, int[] b) {
    int at = Arrays.mismatch(a, b);
    return at < 0 ? a.length : at;
  }

  /** How many tokens are equal behind a short difference at a position; 0 if none are. */
  private static int equalBehind(int[] a, int[] b, int position) {
    int from = position + MAX_BREAK;
    if (from + ANCHOR > a.length) {
      return 0;
    }
    int last = Math.min(position + 2 * MAX_BREAK, b.length - ANCHOR);
    for (int at = position; at <= last; at++) {
      if (Arrays.equals(a, from, from + ANCHOR, b, at, at + ANCHOR)) {
        int same = Arrays.mismatch(a, from, a.length, b, at, b.length);
        return same < 0 ? a.length - from : same;
      }
    }
    return 0;
  }

  /** {@return prompts so far that break} */
  public synchronized long broken() {
    return broken;
  }

  /** {@return tokens behind breaks so far that an earlier prompt had} */
  public synchronized long lostTokens() {
    return lostTokens;
  }

  /** {@return the break of the last prompts; null if too few have one} */
  public synchronized @Nullable Finding finding() {
    int[] found = positions.stream().mapToInt(Integer::intValue).filter(at -> at >= 0).toArray();
    return found.length < LEAST_BROKEN
        ? null
        : new Finding(Arrays.stream(found).min().orElseThrow(), found.length, positions.size());
  }

  /**
   * Logs a break, at most once an hour.
   *
   * @param model the model
   */
  public void log(String model) {
    Finding finding = finding();
    long now = System.nanoTime();
    if (finding != null && now - loggedNs >= QUIET_NS) {
      loggedNs = now;
      LOG.warn(
          "model {}: the prefix breaks at token {} in {} of the last {} prompts, and the tokens behind"
              + " are equal: nothing behind it is reused (a time, an id or a hash in the system"
              + " prompt?)",
          model,
          finding.token(),
          finding.prompts(),
          finding.of());
    }
  }
}
