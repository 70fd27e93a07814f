package io.kvasir.gateway.keys;

import io.kvasir.exchange.Headers;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A key that is in use: what its requests take of its limits. A request takes one request, a place
 * until it is over, and the tokens that are expected of it, which are corrected when it is over. A
 * request that is refused takes nothing.
 *
 * <p>Thread-safe. Its limits change when the file of keys is read again; what was used stays.
 */
public final class KeyUse {

  private static final double FIRST_MEAN_OUTPUT = 256;
  private static final double MEAN_WEIGHT = 1.0 / 16;

  private volatile ClientKey key;

  // Guarded by this.
  private final MinuteWindow requests;
  private final MinuteWindow tokens;
  private int running;
  private double meanOutput = FIRST_MEAN_OUTPUT;

  /** Begins with nothing used. */
  KeyUse(ClientKey key, long nowNs) {
    this.key = key;
    this.requests = new MinuteWindow(nowNs);
    this.tokens = new MinuteWindow(nowNs);
  }

  /** {@return the key, as its file has it now} */
  public ClientKey key() {
    return key;
  }

  void key(ClientKey next) {
    key = next;
  }

  /** What a request may reach. */
  public enum Limit {
    /** Requests in a minute. */
    REQUESTS_PER_MINUTE("requests"),
    /** Tokens in a minute. */
    TOKENS_PER_MINUTE("tokens"),
    /** Requests at a time. */
    MAX_CONCURRENT("requests");

    private final String type;

    Limit(String type) {
      this.type = type;
    }

    /** {@return the name in metrics and in the file of keys} */
    public String id() {
      return name().toLowerCase(Locale.ROOT);
    }

    /** {@return OpenAI's type of the error} */
    public String type() {
      return type;
    }
  }

  /**
   * A limit that a request would exceed. Immutable.
   *
   * @param limit which one
   * @param most its value
   * @param needed what the request needs of it
   * @param waitNs when a request can have it, if no other comes; 0 if it never can
   */
  public record Exceeded(Limit limit, long most, long needed, long waitNs) {}

  /** What a request that was admitted has taken. Thread-safe. */
  public final class Grant {

    private final long slot;
    private final long taken;
    private final long expectedOutput;
    private boolean over;

    private Grant(long slot, long taken, long expectedOutput) {
      this.slot = slot;
      this.taken = taken;
      this.expectedOutput = expectedOutput;
    }

    /** {@return tokens that are expected of the prompt and the answers} */
    public long expected() {
      return taken;
    }

    /** {@return tokens that are expected of the answers} */
    public long expectedOutput() {
      return expectedOutput;
    }

    /**
     * The request is over. Repeated calls have no effect.
     *
     * @param nowNs the time
     * @param promptTokens tokens of its prompt; negative if they are not known
     * @param outputTokens tokens of its answer
     */
    public void end(long nowNs, long promptTokens, long outputTokens) {
      synchronized (KeyUse.this) {
        if (over) {
          return;
        }
        over = true;
        running--;
        if (outputTokens > 0) {
          meanOutput += MEAN_WEIGHT * (outputTokens - meanOutput);
        }
        if (promptTokens >= 0) {
          long more = promptTokens + outputTokens - taken;
          if (more >= 0) {
            tokens.add(nowNs, more);
          } else {
            tokens.remove(nowNs, slot, -more);
          }
        }
      }
    }
  }

  /**
   * The limit at which a request is refused whatever its size is; nothing is taken.
   *
   * @param nowNs the time
   * @param answers whether it has an answer of tokens
   * @return the limit; null for none
   */
  public synchronized @Nullable Exceeded exceeded(long nowNs, boolean answers) {
    return exceeded(nowNs, answers ? 1L : 0L);
  }

  private @Nullable Exceeded exceeded(long nowNs, long expected) {
    KeyLimits limits = key.limits();
    if (limits.maxConcurrent() > 0 && running >= limits.maxConcurrent()) {
      return new Exceeded(
          Limit.MAX_CONCURRENT, limits.maxConcurrent(), 1, TimeUnit.SECONDS.toNanos(1));
    }
    Exceeded of =
        exceeded(Limit.REQUESTS_PER_MINUTE, requests, limits.requestsPerMinute(), 1, nowNs);
    return of != null
        ? of
        : exceeded(Limit.TOKENS_PER_MINUTE, tokens, limits.tokensPerMinute(), expected, nowNs);
  }

  private static @Nullable Exceeded exceeded(
      Limit limit, MinuteWindow window, long most, long needed, long nowNs) {
    if (most == 0 || needed == 0 || window.used(nowNs) + needed <= most) {
      return null;
    }
    return new Exceeded(
        limit, most, needed, needed > most ? 0 : window.waitNs(nowNs, most - needed));
  }

  /**
   * Whether a request is admitted: one of both is null.
   *
   * @param grant what it has taken
   * @param exceeded the limit that it would exceed
   */
  public record Admission(@Nullable Grant grant, @Nullable Exceeded exceeded) {}

  /**
   * Admits a request, or refuses it.
   *
   * @param nowNs the time
   * @param promptTokens the tokens that its prompt is expected to have
   * @param maxOutputTokens the most tokens that an answer may have; 0 if it does not say
   * @param answers the number of its answers of tokens, at least 0
   * @return what it has taken, or the limit that it would exceed
   */
  public synchronized Admission admit(
      long nowNs, long promptTokens, long maxOutputTokens, long answers) {
    long output = answers * (maxOutputTokens > 0 ? maxOutputTokens : Math.round(meanOutput));
    long most = key.limits().tokensPerMinute();
    if (maxOutputTokens == 0 && answers > 0 && most > 0) { // else long answers would lock it out
      output = Math.min(output, Math.max(1, most - promptTokens));
    }
    long expected = promptTokens + output;
    Exceeded exceeded = exceeded(nowNs, expected);
    if (exceeded != null) {
      return new Admission(null, exceeded);
    }
    running++;
    requests.add(nowNs, 1);
    return new Admission(new Grant(tokens.add(nowNs, expected), expected, output), null);
  }

  /**
   * {@return OpenAI's fields about the limits: what is left of them, and when all of it is there}
   *
   * @param nowNs the time
   */
  public synchronized Headers fields(long nowNs) {
    Headers fields = new Headers();
    add(fields, "requests", requests, key.limits().requestsPerMinute(), nowNs);
    add(fields, "tokens", tokens, key.limits().tokensPerMinute(), nowNs);
    return fields;
  }

  private static void add(Headers fields, String what, MinuteWindow window, long most, long nowNs) {
    if (most == 0) {
      return;
    }
    double resetSeconds = Math.ceil(window.waitNs(nowNs, 0) / 1e8) / 10;
    fields
        .add("x-ratelimit-limit-" + what, Long.toString(most))
        .add("x-ratelimit-remaining-" + what, Long.toString(Math.max(0, most - window.used(nowNs))))
        .add("x-ratelimit-reset-" + what, resetSeconds + "s");
  }
}
