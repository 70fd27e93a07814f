package io.kvasir.gateway.proxy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kvasir.exchange.BodyBudget;
import io.kvasir.exchange.BodyHold;
import io.kvasir.fleet.router.PromptSource;
import io.kvasir.gateway.openai.BodyScan;
import io.kvasir.gateway.openai.InvalidBodyException;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

/** What is decoded of a body counts against the budget of bodies. */
class BodyPromptTest {

  private final BodyBudget budget = new BodyBudget(1_000, 400, 2);

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
    assertThat(budget.used()).isEqualTo(body.prompt().decodedBytes()).isPositive();
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
