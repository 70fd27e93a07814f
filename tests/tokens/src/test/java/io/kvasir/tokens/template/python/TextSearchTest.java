package io.kvasir.tokens.template.python;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Searches of texts find what a slower search finds. */
class TextSearchTest {

  @Test
  void aSearchFindsWhatASlowerOneFinds() {
    Budget budget = new Budget(Long.MAX_VALUE, 1 << 20, 200, Duration.ofSeconds(1), () -> 0);
    Random random = new Random(20240205);
    for (int i = 0; i < 2_000; i++) {
      String text = letters(random, 400);
      int begin = random.nextInt(200);
      String wanted = text.substring(begin, begin + 60 + random.nextInt(140));
      int at = random.nextInt(401);
      assertThat(TextSearch.forward(budget, text, wanted).next(at))
          .isEqualTo(text.indexOf(wanted, at));
      assertThat(TextSearch.backward(budget, text, wanted).next(at))
          .isEqualTo(text.lastIndexOf(wanted, at - wanted.length()));
    }
  }

  private static String letters(Random random, int length) {
    String period = random.nextBoolean() ? "a" : "aab";
    StringBuilder text = new StringBuilder(period.repeat(length)).delete(length, 3 * length);
    for (int i = random.nextInt(3); i > 0; i--) {
      text.setCharAt(random.nextInt(length), 'b');
    }
    return text.toString();
  }
}
