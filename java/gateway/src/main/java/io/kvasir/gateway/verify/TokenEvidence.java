package io.kvasir.gateway.verify;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Whether engines store the tokens that the gateway expects of a prompt. A field that the gateway
 * does not know can make an engine store others, so a client has one vote however many requests it
 * sends, and the verdict needs several votes if there are several clients.
 *
 * <p>Tokens are contradicted by {@value #MIN_CONTRADICTIONS} prompts of clients without an
 * agreement if these are more clients than those with one, and three of them or all that there are.
 * The verdict is revised when no more votes are against it than for it. A client's vote is then for
 * the tokens if it has {@value #MIN_AGREEMENTS} agreements, and one for four contradictions; for a
 * client without contradictions one agreement is enough. Old evidence of a client counts less and
 * less. Clients beyond {@value #MAX_WITNESSES} displace the one that has been silent longest.
 *
 * <p>The agreements of a client are forgotten {@value #MAX_AGE_MINUTES} minutes after the last of
 * them, and so are its contradictions: an engine may have been given another tokenizer.
 *
 * <p>Not thread-safe. O(clients) for each change.
 */
final class TokenEvidence {

  /** Contradictions without an agreement that are no coincidence. */
  private static final int MIN_CONTRADICTIONS = 20;

  private static final int MIN_WITNESSES = 3;
  private static final int MIN_AGREEMENTS = 8;
  private static final int MAX_CONTRADICTIONS_FOR_ONE = 4;
  private static final int HALVED_AT = 64;
  private static final int MAX_WITNESSES = 256;
  private static final int MAX_AGE_MINUTES = 10;
  private static final long MAX_AGE_NS = TimeUnit.MINUTES.toNanos(MAX_AGE_MINUTES);

  private final LongSupplier clockNs;
  private final Map<Witness, Votes> votes = new LinkedHashMap<>(16, 0.75f, true);
  private int agreements;
  private int contradictions;
  private boolean agreed;
  private boolean contradicted;
  private @Nullable TokenDifference difference;

  /** The evidence of one client. */
  private static final class Votes {
    int agreements;
    int contradictions;
    long agreedNs;
    long contradictedNs;

    void agree(long nowNs) {
      agreements++;
      agreedNs = nowNs;
      halve();
    }

    void contradict(long nowNs) {
      contradictions++;
      contradictedNs = nowNs;
      halve();
    }

    private void halve() {
      if (agreements + contradictions > HALVED_AT) {
        agreements /= 2;
        contradictions /= 2;
      }
    }

    /** Forgets what is too old; whether nothing is left. */
    boolean age(long nowNs) {
      agreements = nowNs - agreedNs >= MAX_AGE_NS ? 0 : agreements;
      contradictions = nowNs - contradictedNs >= MAX_AGE_NS ? 0 : contradictions;
      return agreements + contradictions == 0;
    }

    boolean isFor() {
      return contradictions == 0
          ? agreements > 0
          : agreements >= MIN_AGREEMENTS
              && MAX_CONTRADICTIONS_FOR_ONE * agreements >= contradictions;
    }
  }

  /** Begins without votes, with a clock in nanoseconds. */
  TokenEvidence(LongSupplier clockNs) {
    this.clockNs = clockNs;
  }

  /** A prompt's blocks were stored. */
  void agree(Witness of) {
    agreements++;
    votes(of).agree(clockNs.getAsLong());
    age();
  }

  /** A prompt's blocks were not stored; the first difference to what was, if it is known. */
  void contradict(Witness of, @Nullable TokenDifference found) {
    contradictions++;
    votes(of).contradict(clockNs.getAsLong());
    if (found != null) {
      difference = found;
    }
    age();
  }

  /** Forgets what is too old, and judges by the rest. */
  void age() {
    long nowNs = clockNs.getAsLong();
    votes.values().removeIf(each -> each.age(nowNs));
    judge();
  }

  private Votes votes(Witness of) {
    Votes own = votes.computeIfAbsent(of, any -> new Votes());
    if (votes.size() > MAX_WITNESSES) {
      votes.remove(votes.keySet().iterator().next());
    }
    return own;
  }

  private void judge() {
    int without = 0;
    int unagreed = 0;
    int forIt = 0;
    for (Votes each : votes.values()) {
      if (each.agreements == 0) {
        without++;
        unagreed += each.contradictions;
      }
      forIt += each.isFor() ? 1 : 0;
    }
    int clients = votes.size();
    agreed = without < clients;
    if (contradicted) {
      contradicted = clients - forIt > forIt;
      difference = contradicted ? difference : null;
    } else {
      contradicted =
          unagreed >= MIN_CONTRADICTIONS
              && without >= Math.min(MIN_WITNESSES, clients)
              && without > clients - without;
    }
  }

  /** Clients whose evidence is kept. */
  int witnesses() {
    return votes.size();
  }

  /** Agreements so far. */
  int agreements() {
    return agreements;
  }

  /** Contradictions so far. */
  int contradictions() {
    return contradictions;
  }

  @Nullable TokenDifference difference() {
    return difference;
  }

  void describe(TokenDifference described) {
    difference = described;
  }

  Verdict verdict() {
    if (contradicted) {
      return Verdict.CONTRADICTED;
    }
    return agreed ? Verdict.CONFIRMED : Verdict.UNKNOWN;
  }

  /** The verdict in words, without tokens. */
  String summary() {
    return switch (verdict()) {
      case CONFIRMED -> "the engine stores the tokens that it is expected to";
      case CONTRADICTED -> "the engine stores other tokens than its tokenize endpoint gives";
      case UNKNOWN ->
          votes.isEmpty()
              ? "not enough prompts have been stored"
              : recent() + " prompts were not stored as expected";
    };
  }

  private int recent() {
    return votes.values().stream().mapToInt(each -> each.contradictions).sum();
  }

  /** The verdict in words, with the ids of tokens of a client's prompt: not for logs. */
  String text() {
    TokenDifference first = difference;
    return first == null || verdict() != Verdict.CONTRADICTED
        ? summary()
        : summary() + "; " + first.text();
  }
}
