package io.kvasir.gateway.keys;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.gateway.keys.KeyUse.Admission;
import io.kvasir.gateway.keys.KeyUse.Exceeded;
import io.kvasir.gateway.keys.KeyUse.Grant;
import io.kvasir.gateway.keys.KeyUse.Limit;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** The limits of a key, in a time that the test makes. */
class KeyUseTest {

  private static final long SECOND_NS = TimeUnit.SECONDS.toNanos(1);
  private static final int MINUTES = 20;

  private static KeyUse key(long requests, long tokens, int concurrent) {
    KeyLimits limits = new KeyLimits(List.of(), requests, tokens, concurrent, 0);
    return new KeyUse(new ClientKey("a".repeat(12), "0".repeat(64), "n", "t", limits, null), 0);
  }

  @Test
  void asManyRequestsPassInAMinuteAsTheLimitSays() {
    long seed = new SplittableRandom().nextLong();
    SplittableRandom random = new SplittableRandom(seed);
    for (int limit : new int[] {1, 7, 60, 1_000}) {
      KeyUse key = key(limit, 0, 0);
      List<Long> passed = new ArrayList<>();
      for (long nowNs = 0; nowNs < MINUTES * 60 * SECOND_NS; ) {
        nowNs += random.nextLong(2 * 60 * SECOND_NS / limit / 10 + 1); // ten times too many
        Admission admission = key.admit(nowNs, 1, 1, 1);
        if (admission.grant() != null) {
          admission.grant().end(nowNs, 1, 1);
          passed.add(nowNs);
        } else {
          assertThat(admission.exceeded().limit()).isEqualTo(Limit.REQUESTS_PER_MINUTE);
        }
      }
      for (int i = 0; i + limit < passed.size(); i++) {
        assertThat(passed.get(i + limit) - passed.get(i))
            .as("limit %d, seed %d", limit, seed)
            .isGreaterThanOrEqualTo(60 * SECOND_NS);
      }
      assertThat((double) passed.size())
          .as("limit %d, seed %d", limit, seed)
          .isBetween(0.85 * limit * MINUTES, 1.05 * limit * MINUTES);
    }
  }

  /** A request in progress. */
  private record Running(long endNs, Grant grant, long prompt, long output) {}

  @Test
  void asManyTokensPassInAMinuteAsTheLimitSays() {
    long seed = new SplittableRandom().nextLong();
    SplittableRandom random = new SplittableRandom(seed);
    long limit = 1_000_000;
    for (boolean states : new boolean[] {true, false}) {
      KeyUse key = key(0, limit, 0);
      PriorityQueue<Running> running =
          new PriorityQueue<>(Comparator.comparingLong(Running::endNs));
      long used = 0;
      for (long nowNs = 0; nowNs < MINUTES * 60 * SECOND_NS; ) {
        nowNs += random.nextLong(SECOND_NS / 10);
        while (!running.isEmpty() && running.peek().endNs() <= nowNs) {
          Running over = running.remove();
          over.grant().end(over.endNs(), over.prompt(), over.output());
          used += over.prompt() + over.output();
        }
        long prompt = random.nextInt(4_000);
        long output = 1L + random.nextInt(2_000);
        long expected = (long) (prompt * (0.7 + 0.6 * random.nextDouble())); // by bytes
        Admission admission = key.admit(nowNs, expected, states ? 2_000 : 0, 1);
        if (admission.grant() != null) {
          long endNs = nowNs + SECOND_NS + random.nextLong(10 * SECOND_NS);
          running.add(new Running(endNs, admission.grant(), prompt, output));
        }
      }
      assertThat((double) used)
          .as("seed %d, max_tokens %s", seed, states)
          .isBetween(0.85 * limit * MINUTES, 1.05 * limit * MINUTES);
    }
  }

  @Test
  void onlySoManyRequestsRunAtATime() {
    KeyUse key = key(0, 0, 2);
    Grant first = key.admit(0, 1, 1, 1).grant();
    key.admit(0, 1, 1, 1);
    Exceeded third = key.admit(0, 1, 1, 1).exceeded();
    assertThat(third.limit()).isEqualTo(Limit.MAX_CONCURRENT);
    assertThat(third.waitNs()).isPositive();
    assertThat(key.exceeded(0, true)).isEqualTo(third);
    first.end(0, 1, 1);
    first.end(0, 1, 1); // no effect
    assertThat(key.exceeded(0, true)).isNull();
    assertThat(key.admit(0, 1, 1, 1).grant()).isNotNull();
    assertThat(key.admit(0, 1, 1, 1).grant()).isNull();
  }

  @Test
  void aRefusedRequestTakesNothing() {
    KeyUse key = key(10, 100, 0);
    for (int i = 0; i < 100; i++) {
      Exceeded exceeded = key.admit(0, 90, 20, 1).exceeded();
      assertThat(exceeded.limit()).isEqualTo(Limit.TOKENS_PER_MINUTE);
      assertThat(exceeded.waitNs()).as("it can never pass").isZero();
    }
    assertThat(key.admit(0, 80, 20, 1).grant()).isNotNull();
    assertThat(key.fields(0).get("x-ratelimit-remaining-requests")).isEqualTo("9");
    assertThat(key.fields(0).get("x-ratelimit-remaining-tokens")).isEqualTo("0");
  }

  @Test
  void usageCorrectsWhatWasExpected() {
    KeyUse key = key(0, 1_000, 0);
    Grant grant = key.admit(0, 100, 500, 1).grant();
    assertThat(key.fields(0).get("x-ratelimit-remaining-tokens")).isEqualTo("400");
    grant.end(SECOND_NS, 120, 30);
    assertThat(key.fields(SECOND_NS).get("x-ratelimit-remaining-tokens")).isEqualTo("850");
    Grant longer = key.admit(SECOND_NS, 100, 0, 0).grant();
    longer.end(2 * SECOND_NS, 700, 100);
    assertThat(key.fields(2 * SECOND_NS).get("x-ratelimit-remaining-tokens")).isEqualTo("50");
    assertThat(key.fields(2 * SECOND_NS).get("x-ratelimit-reset-tokens")).isEqualTo("60.5s");
    assertThat(key.fields(2 * SECOND_NS).get("x-ratelimit-limit-tokens")).isEqualTo("1000");
    assertThat(key.fields(0).get("x-ratelimit-limit-requests")).isNull();
  }

  /** A mean above the limit would lock the key out for ever. */
  @Test
  void requestsWithoutALimitPassWhateverTheMeanIs() {
    KeyUse key = key(0, 1_000, 0);
    for (int minute = 0; minute < 20; minute++) {
      long nowNs = minute * (61 * SECOND_NS);
      Grant grant = key.admit(nowNs, 100, 0, 1).grant();
      assertThat(grant).as("minute %d", minute).isNotNull();
      grant.end(nowNs, 100, 5_000);
    }
  }

  @Test
  void eachAnswerIsBooked() {
    KeyUse key = key(0, 1_000, 0);
    assertThat(key.admit(0, 100, 300, 4).exceeded().needed()).isEqualTo(1_300);
    assertThat(key.admit(0, 100, 300, 3).grant().expected()).isEqualTo(1_000);
  }
}
