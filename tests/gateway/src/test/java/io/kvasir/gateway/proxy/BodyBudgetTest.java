package io.kvasir.gateway.proxy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kvasir.fleet.router.PromptSource;
import io.kvasir.gateway.openai.BodyScan;
import io.kvasir.gateway.openai.InvalidBodyException;
import io.kvasir.testing.harness.Await;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;

/** What requests hold of the budget of bodies, and what one client may hold. */
class BodyBudgetTest {

  private final BodyBudget budget = new BodyBudget(1_000, 400, 2);

  @Test
  void oneClientHasAShare() {
    BodyHold first = budget.open("10.0.0.1");
    BodyHold second = budget.open("10.0.0.1");
    BodyHold other = budget.open("10.0.0.2");
    assertThat(first.take(300)).isTrue();
    assertThat(second.take(101)).isFalse();
    assertThat(second.take(100)).isTrue();
    assertThat(other.take(400)).isTrue();
    assertThat(budget.open("10.0.0.3").take(201)).isFalse();
    assertThat(budget.used()).isEqualTo(800);
    first.release();
    first.release();
    assertThat(second.take(300)).isTrue();
    second.release();
    other.release();
    assertThat(budget.used()).isZero();
    assertThat(budget.clients()).isZero();
  }

  @Test
  void addressesOfOneNetworkOfIpv6AreOneClient() {
    assertThat(budget.open("2001:db8:0:1:0:0:0:1").take(400)).isTrue();
    assertThat(budget.open("2001:db8:0:1:aaaa:0:0:2").take(1)).isFalse();
    assertThat(budget.open("2001:db8:0:2:0:0:0:1").take(400)).isTrue();
  }

  @Test
  void oneClientHasAShareOfThePlacesForUploads() {
    BodyHold first = budget.open("a");
    BodyHold second = budget.open("a");
    BodyHold third = budget.open("a");
    assertThat(first.takeUpload()).isTrue();
    assertThat(first.takeUpload()).isTrue();
    assertThat(second.takeUpload()).isTrue();
    assertThat(third.takeUpload()).isFalse();
    assertThat(budget.open("b").takeUpload()).isTrue();
    first.endUpload();
    first.endUpload();
    assertThat(third.takeUpload()).isTrue();
    assertThat(first.takeUpload()).isFalse();
  }

  @Test
  void whatAThreadWorksOnCountsUntilItIsDone() {
    BodyHold hold = budget.open("a");
    assertThat(hold.take(100)).isTrue();
    CountDownLatch begun = new CountDownLatch(1);
    CountDownLatch go = new CountDownLatch(1);
    try (BodyThreads threads = new BodyThreads(1, 1)) {
      assertThat(
              threads.run(
                  hold,
                  () -> {
                    begun.countDown();
                    Await.opened("the signal to go on", go);
                  }))
          .isTrue();
      Await.opened("the beginning of the task", begun);
      hold.release();
      assertThat(hold.take(1)).isFalse();
      assertThat(budget.used()).isEqualTo(100);
      assertThat(threads.run(budget.open("b"), () -> {})).isTrue();
      assertThat(threads.run(budget.open("c"), () -> {})).as("a third task").isFalse();
      CountDownLatch after = new CountDownLatch(1);
      go.countDown();
      Await.until("room for a task", () -> threads.run(budget.open("d"), after::countDown));
      Await.opened("the end of another task", after);
      assertThat(budget.used()).isZero();
      assertThat(budget.clients()).isZero();
    }
  }

  @Test
  void aPromptIsDecodedOnceAndCounts() throws InvalidBodyException {
    BodyScan body = scan("{\"prompt\":[\"abc\",\"def\"]}");
    BodyHold hold = budget.open("a");
    PromptSource prompt = BodyPrompt.of(body, hold);
    assertThat(prompt.form()).isEqualTo(PromptSource.Form.TEXTS);
    long[] count = {0};
    prompt.forEachCodePoint(c -> count[0]++);
    assertThat(count[0]).isEqualTo(7);
    assertThat(budget.used()).as("without decoding").isZero();
    assertThat(prompt.prompt()).isSameAs(prompt.prompt());
    assertThat(budget.used()).isEqualTo(body.decodedBytes()).isPositive();
    hold.release();
    assertThat(budget.used()).isZero();
  }

  @Test
  void aPromptForWhichThereIsNoRoomIsNotDecoded() throws InvalidBodyException {
    BodyHold other = budget.open("a");
    assertThat(other.take(200)).isTrue();
    assertRefused(100, 503, "body_budget_exhausted");
    other.release();
    assertThat(budget.used()).isZero();
  }

  /** A time to retry would be of no use. */
  @Test
  void aPromptThatNeverFitsIsTooLarge() throws InvalidBodyException {
    assertRefused(300, 413, "body_too_large");
    assertThat(budget.used()).isZero();
  }

  private void assertRefused(int characters, int status, String code) throws InvalidBodyException {
    PromptSource prompt =
        BodyPrompt.of(scan("{\"prompt\":\"" + "x".repeat(characters) + "\"}"), budget.open("a"));
    assertThatThrownBy(prompt::prompt)
        .isInstanceOfSatisfying(
            BodyPrompt.NoRoom.class,
            e -> {
              assertThat(e.problem().status()).isEqualTo(status);
              assertThat(e.problem().code()).isEqualTo(code);
            });
  }

  private static BodyScan scan(String json) throws InvalidBodyException {
    byte[] bytes = json.getBytes(StandardCharsets.UTF_8);
    return BodyScan.of(bytes, 0, bytes.length);
  }
}
