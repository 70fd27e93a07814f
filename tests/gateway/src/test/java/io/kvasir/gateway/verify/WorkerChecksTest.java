package io.kvasir.gateway.verify;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.IntUnaryOperator;
import org.junit.jupiter.api.Test;

/** Verdicts on one worker. */
class WorkerChecksTest {

  private static final int BLOCK = 16;
  private static final Witness CLIENT = new Witness("10.0.0.1");

  private final List<String> verdicts = new ArrayList<>();
  private long nowNs = -5;

  private WorkerChecks checks(int ranks) {
    return new WorkerChecks(
        "w",
        ranks,
        BLOCK,
        "--usage",
        (tokens, steering) -> verdicts.add(tokens + " " + steering),
        () -> nowNs);
  }

  private static void serve(
      WorkerChecks checks, int ranks, int requests, IntUnaryOperator servedBy) {
    for (int i = 0; i < requests; i++) {
      checks.onStoredAsExpected(CLIENT);
      checks.onServedBy(i % ranks, servedBy.applyAsInt(i % ranks));
    }
  }

  @Test
  void requestsToASingleRankNameNoneAndAreItsOwn() {
    WorkerChecks checks = checks(1);
    checks.onServed(-1, 32, 16);
    assertThat(checks.hits(0)).isEqualTo(new WorkerChecks.Hits(1, 32, 16, 16));
    checks.onServed(-1, 32, -1);
    assertThat(checks.hits(0))
        .as("a number that is left out is 0 where others were reported")
        .isEqualTo(new WorkerChecks.Hits(2, 64, 16, 48));
    WorkerChecks silent = checks(1);
    for (int i = 0; i < 8; i++) {
      silent.onServed(-1, 32, -1);
    }
    assertThat(silent.missingUsageOption()).isEqualTo("--usage");
    WorkerChecks several = checks(2);
    several.onServed(-1, 32, 16);
    assertThat(several.hits(0).requests()).isZero();
  }

  @Test
  void ranksInReverseContradict() {
    WorkerChecks checks = checks(4);
    serve(checks, 4, 9, rank -> 3 - rank);
    assertThat(checks.steering().verdict()).isEqualTo(Verdict.UNKNOWN);
    serve(checks, 4, 1, rank -> 3 - rank);
    assertThat(checks.steering().verdict()).isEqualTo(Verdict.CONTRADICTED);
    assertThat(checks.steering().text()).contains("none of 10 was served by its rank");
  }

  /** Tokens that are confirmed are compared no more, so only age can end the verdict. */
  @Test
  void confirmedTokensAreComparedAgainAfterTenMinutesWithoutEvidence() {
    WorkerChecks checks = checks(1);
    serve(checks, 1, 50, rank -> rank);
    assertThat(checks.compares()).isFalse();
    nowNs += TimeUnit.MINUTES.toNanos(10);
    checks.onSent();
    assertThat(checks.compares()).isTrue();
    for (int i = 0; i < 20; i++) {
      checks.onNotStored(new int[BLOCK], CLIENT);
    }
    assertThat(checks.tokens().verdict()).isEqualTo(Verdict.CONTRADICTED);
    assertThat(verdicts).last().isEqualTo("false true");
    nowNs += TimeUnit.MINUTES.toNanos(10);
    checks.onSent();
    assertThat(checks.tokens().verdict()).isEqualTo(Verdict.UNKNOWN);
    assertThat(verdicts).last().isEqualTo("true true");
  }

  @Test
  void steeringIsTriedAgainAfterTenMinutes() {
    WorkerChecks checks = checks(4);
    serve(checks, 4, 10, rank -> (rank + 1) % 4);
    assertThat(checks.steering().text()).contains("rank r + 1 modulo 4");
    assertThat(verdicts).last().isEqualTo("true false");
    serve(checks, 4, 100, rank -> rank);
    assertThat(checks.steering().verdict())
        .as("requests from before the verdict")
        .isEqualTo(Verdict.CONTRADICTED);
    nowNs += TimeUnit.MINUTES.toNanos(10) - 1;
    checks.onSent();
    assertThat(checks.steering().verdict()).isEqualTo(Verdict.CONTRADICTED);
    nowNs++;
    checks.onSent();
    assertThat(checks.steering().verdict()).isEqualTo(Verdict.UNKNOWN);
    assertThat(verdicts).last().isEqualTo("true true");
    serve(checks, 4, 8, rank -> rank);
    assertThat(checks.steering().verdict()).isEqualTo(Verdict.CONFIRMED);
  }

  @Test
  void textsOfADifferenceAreAskedForOnce() {
    WorkerChecks checks = checks(1);
    StoredBlocks.of(BLOCK, 3, 2 * BLOCK).passTo(checks.stored());
    int[] prompt = new int[2 * BLOCK + 1];
    for (int i = 0; i < 19; i++) {
      checks.onNotStored(prompt, CLIENT);
    }
    assertThat(checks.difference()).isNotNull();
    assertThat(checks.undescribed()).as("a verdict is missing").isNull();
    checks.onNotStored(prompt, CLIENT);
    TokenDifference difference = checks.undescribed();
    assertThat(difference).isSameAs(checks.difference());
    checks.describe(difference, "", "");
    checks.onNotStored(prompt, CLIENT);
    assertThat(checks.undescribed()).isNull();
  }

  @Test
  void theLogHasNoTokensOfPrompts() {
    PrintStream before = System.err;
    ByteArrayOutputStream log = new ByteArrayOutputStream();
    System.setErr(new PrintStream(log, true, StandardCharsets.UTF_8));
    try {
      WorkerChecks checks = checks(1);
      StoredBlocks.of(BLOCK, 77_777, 2 * BLOCK).passTo(checks.stored());
      int[] prompt = new int[2 * BLOCK + 1];
      Arrays.fill(prompt, 66_666);
      for (int i = 0; i < 20; i++) {
        checks.onNotStored(prompt, CLIENT);
      }
      assertThat(checks.tokens().text()).contains("66666");
    } finally {
      System.setErr(before);
    }
    assertThat(log.toString(StandardCharsets.UTF_8))
        .contains("placed by load alone")
        .doesNotContain("66666")
        .doesNotContain("7777");
  }
}
