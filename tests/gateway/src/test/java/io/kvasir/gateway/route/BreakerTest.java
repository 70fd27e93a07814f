package io.kvasir.gateway.route;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** When a breaker opens and closes, on a clock of the test. */
class BreakerTest {

  private static final long SECOND = TimeUnit.SECONDS.toNanos(1);
  private static final long REST = 5 * SECOND;

  private final Breaker breaker = new Breaker(new BreakerSettings(5, 50, 10_000, 5_000, 10, 50));
  private long nowNs = -3 * SECOND; // a clock may be negative

  private Breaker.Failure fails(boolean whole) {
    return breaker.onFailure(breaker.onSent(nowNs), whole, nowNs);
  }

  private void succeeds() {
    breaker.onSuccess(breaker.onSent(nowNs), nowNs);
  }

  private void opens() {
    for (int i = 0; i < 5; i++) {
      fails(true);
    }
    assertThat(breaker.open(nowNs)).isTrue();
  }

  @Test
  void fiveFailuresOpenItEvenWithSuccessesBetween() {
    for (int i = 0; i < 4; i++) {
      fails(true);
      succeeds();
    }
    assertThat(breaker.shouldOpen(nowNs)).isFalse();
    fails(true);
    assertThat(breaker.shouldOpen(nowNs)).isTrue();
    assertThat(breaker.open(nowNs)).isTrue();
    assertThat(breaker.isOpen()).isTrue();
    assertThat(breaker.admits(nowNs)).isFalse();
  }

  @Test
  void aSmallShareOfFailuresDoesNotOpenIt() {
    for (int i = 0; i < 100; i++) {
      fails(true);
      succeeds();
      succeeds();
    }
    assertThat(breaker.shouldOpen(nowNs)).isFalse();
  }

  @Test
  void asManyRefusedConnectionsInARowOpenItWhateverTheShare() {
    for (int i = 0; i < 1_000; i++) {
      succeeds();
    }
    for (int i = 0; i < 5; i++) {
      assertThat(breaker.shouldOpen(nowNs)).isFalse();
      isRefused();
    }
    assertThat(breaker.shouldOpen(nowNs)).isTrue();
    succeeds();
    assertThat(breaker.shouldOpen(nowNs)).isFalse();
  }

  private void isRefused() {
    breaker.onUnconnected(nowNs);
    fails(true);
  }

  @Test
  void refusedConnectionsOfEarlierWindowsDoNotOpenIt() {
    for (int i = 0; i < 20; i++) {
      isRefused();
      nowNs += 3 * SECOND;
    }
    assertThat(breaker.isUnreachable(nowNs)).isFalse();
    nowNs += 60 * SECOND;
    for (int i = 0; i < 4; i++) {
      isRefused();
    }
    assertThat(breaker.isUnreachable(nowNs)).isFalse();
    isRefused();
    assertThat(breaker.isUnreachable(nowNs)).isTrue();
  }

  @Test
  void theFirstByteOfAnAnswerEndsARowOfRefusedConnections() {
    long answered = breaker.onSent(nowNs);
    for (int i = 0; i < 5; i++) {
      isRefused();
    }
    assertThat(breaker.isUnreachable(nowNs)).isTrue();
    breaker.onBegun(answered, nowNs);
    assertThat(breaker.isUnreachable(nowNs)).isFalse();
  }

  @Test
  void aTrialWhoseClientLeavesDoesNotCloseIt() {
    opens();
    nowNs += REST;
    long trial = breaker.onSent(nowNs);
    breaker.onBegun(trial, nowNs);
    nowNs += SECOND;
    breaker.onAbandoned(trial, nowNs);
    assertThat(breaker.admits(nowNs)).as("another trial").isTrue();
    nowNs += 10 * REST;
    assertThat(breaker.admits(nowNs)).isTrue();
    assertThat(breaker.isOpen()).isTrue();
    breaker.onSent(nowNs);
    assertThat(breaker.admits(nowNs)).as("a trial at a time").isFalse();
  }

  @Test
  void aSilentTrialWhoseClientLeavesIsNotFollowedAtOnce() {
    opens();
    nowNs += REST;
    long trial = breaker.onSent(nowNs);
    breaker.onAbandoned(trial, nowNs);
    assertThat(breaker.admits(nowNs)).isFalse();
    nowNs += REST;
    assertThat(breaker.admits(nowNs)).isTrue();
  }

  @Test
  void aTrialWhoseClientLeavesAfterTheRestClosesIt() {
    opens();
    nowNs += REST;
    long trial = breaker.onSent(nowNs);
    breaker.onBegun(trial, nowNs);
    nowNs += REST;
    breaker.onAbandoned(trial, nowNs);
    assertThat(breaker.isOpen()).isFalse();
  }

  @Test
  void anUndoneFailureThatWasForgottenTakesNothingElse() {
    OutcomeWindow window = new OutcomeWindow(10 * SECOND);
    window.add(2, 0);
    window.clear();
    window.add(0, 0);
    window.remove(2, 0);
    assertThat(window.failedHalves(0)).isZero();
    assertThat(window.outcomes(0)).isEqualTo(1);
    window.add(1, 0);
    window.remove(2, 0);
    assertThat(window.failedHalves(0)).isEqualTo(1);
  }

  @Test
  void aFailureThatMayBeTheRequestsCountsHalf() {
    for (int i = 0; i < 9; i++) {
      fails(false);
      assertThat(breaker.shouldOpen(nowNs)).isFalse();
    }
    fails(false);
    assertThat(breaker.shouldOpen(nowNs)).isTrue();
    succeeds(); // any other answer shows that not all requests fail
    assertThat(breaker.shouldOpen(nowNs)).isFalse();
  }

  @Test
  void oldFailuresLeaveTheWindow() {
    for (int i = 0; i < 4; i++) {
      fails(true);
    }
    nowNs += 11 * SECOND;
    fails(true);
    assertThat(breaker.shouldOpen(nowNs)).isFalse();
  }

  @Test
  void oneRequestAtATimeTriesAfterTheRest() {
    opens();
    nowNs += REST - 1;
    assertThat(breaker.admits(nowNs)).isFalse();
    nowNs++;
    assertThat(breaker.admits(nowNs)).isTrue();
    long trial = breaker.onSent(nowNs);
    assertThat(breaker.admits(nowNs)).isFalse();
    breaker.onSuccess(trial, nowNs);
    assertThat(breaker.isOpen()).isFalse();
    fails(true); // the failures before are forgotten
    assertThat(breaker.shouldOpen(nowNs)).isFalse();
  }

  @Test
  void aTrialThatFailsExtendsTheRest() {
    opens();
    nowNs += REST;
    long trial = breaker.onSent(nowNs);
    breaker.onBegun(trial, nowNs);
    nowNs += 4 * SECOND;
    breaker.onFailure(trial, true, nowNs);
    nowNs += REST - 1;
    assertThat(breaker.admits(nowNs)).isFalse();
    nowNs++;
    assertThat(breaker.admits(nowNs)).isTrue();
    assertThat(breaker.isOpen()).isTrue();
  }

  @Test
  void aTrialThatStreamsForAsLongAsTheRestClosesIt() {
    opens();
    nowNs += REST;
    breaker.onBegun(breaker.onSent(nowNs), nowNs);
    nowNs += REST - 1;
    assertThat(breaker.admits(nowNs)).isFalse();
    nowNs++;
    assertThat(breaker.admits(nowNs)).isTrue();
    assertThat(breaker.isOpen()).isFalse();
  }

  @Test
  void requestsThatWereSentBeforeItOpenedAreNoTrials() {
    long before = breaker.onSent(nowNs);
    long other = breaker.onSent(nowNs);
    opens();
    breaker.onSuccess(before, nowNs);
    assertThat(breaker.isOpen()).isTrue();
    nowNs += REST;
    breaker.onFailure(other, true, nowNs);
    assertThat(breaker.admits(nowNs)).isTrue();
  }

  @Test
  void whatAnUndoneFailureHasCausedIsUndone() {
    Breaker.Failure first = fails(true);
    for (int i = 0; i < 4; i++) {
      fails(true);
    }
    breaker.open(nowNs);
    nowNs += 3 * SECOND;
    breaker.undo(first, nowNs);
    assertThat(breaker.isOpen()).isFalse();
    fails(true); // the other four still count
    assertThat(breaker.shouldOpen(nowNs)).isTrue();
  }

  @Test
  void anUndoneFailureThatWasNotNeededLeavesItOpen() {
    Breaker.Failure first = fails(true);
    fails(true);
    opens();
    breaker.undo(first, nowNs);
    assertThat(breaker.isOpen()).isTrue();
  }

  @Test
  void aTrialWhoseFailureIsUndoneIsFollowedByAnotherAtOnce() {
    opens();
    nowNs += REST;
    Breaker.Failure trial = fails(true);
    assertThat(breaker.admits(nowNs)).isFalse();
    breaker.undo(trial, nowNs);
    assertThat(breaker.admits(nowNs)).isTrue();
    assertThat(breaker.isOpen()).isTrue();
  }
}
