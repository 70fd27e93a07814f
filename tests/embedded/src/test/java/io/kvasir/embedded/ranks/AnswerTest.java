package io.kvasir.embedded.ranks;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.embedded.api.GenerationOptions;
import io.kvasir.model.CacheScope;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Answers by themselves. */
class AnswerTest {

  private static GenerationOptions options(
      int maxTokens, int minTokens, boolean ignoreEos, String... stops) {
    return new GenerationOptions(
        maxTokens,
        minTokens,
        ignoreEos,
        List.of(stops),
        1,
        0,
        new GenerationOptions.Placement(-1, null, null, false, null, CacheScope.NONE, 0.5));
  }

  private static String text(Answer answer) {
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < answer.tokens(); i++) {
      text.append(answer.piece(i));
    }
    return text.toString();
  }

  @Test
  void answersEndByThemselvesWithinTheirBounds() {
    for (int prompt = 0; prompt < 1000; prompt++) {
      Answer free = Answer.of(1, new int[] {prompt}, 0, options(1000, 0, false));
      assertThat(free.tokens()).isBetween(Answer.MIN_TOKENS, Answer.MAX_TOKENS);
      assertThat(free.complete()).isTrue();
      Answer limited = Answer.of(1, new int[] {prompt}, 0, options(40, 0, false));
      assertThat(limited.complete()).isEqualTo(free.tokens() <= 40);
      assertThat(limited.tokens()).isEqualTo(Math.min(40, free.tokens()));
      assertThat(text(free)).startsWith(text(limited));
      Answer endless = Answer.of(1, new int[] {prompt}, 0, options(300, 0, true));
      assertThat(endless.tokens()).isEqualTo(300);
      assertThat(endless.complete()).isFalse();
      Answer longer = Answer.of(1, new int[] {prompt}, 0, options(1000, 500, false));
      assertThat(longer.tokens()).isEqualTo(500);
    }
  }

  @Test
  void theFirstStopStringEndsTheText() {
    Random random = new Random(5);
    for (int run = 0; run < 2000; run++) {
      int[] prompt = {run};
      String whole = text(Answer.of(2, prompt, 0, options(30, 0, true)));
      String[] stops = new String[1 + random.nextInt(3)];
      int first = Integer.MAX_VALUE;
      for (int i = 0; i < stops.length; i++) {
        int from = random.nextInt(whole.length());
        int to = from + 1 + random.nextInt(Math.min(12, whole.length() - from));
        stops[i] = whole.substring(from, to);
      }
      Answer stopped = Answer.of(2, prompt, 0, options(30, 0, true, stops));
      // The stop string that is complete first ends the answer, as when it is generated.
      int end = Integer.MAX_VALUE;
      for (String stop : stops) {
        end = Math.min(end, whole.indexOf(stop) + stop.length());
      }
      int tokens = 1 + (int) whole.substring(0, end).strip().chars().filter(c -> c == ' ').count();
      for (String stop : stops) {
        int wordEnd = whole.indexOf(' ', end);
        String seen = whole.substring(0, wordEnd < 0 ? whole.length() : wordEnd);
        if (seen.contains(stop)) {
          first = Math.min(first, seen.indexOf(stop));
        }
      }
      assertThat(text(stopped)).as("run %d", run).isEqualTo(whole.substring(0, first));
      assertThat(stopped.stop()).isIn((Object[]) stops);
      assertThat(stopped.complete()).isTrue();
      assertThat(stopped.tokens()).isBetween(tokens, tokens + 1);
    }
  }

  @Test
  void choicesAndSeedsDiffer() {
    int[] prompt = {1, 2, 3};
    GenerationOptions options = options(50, 0, true);
    String text = text(Answer.of(1, prompt, 0, options));
    assertThat(text(Answer.of(1, prompt.clone(), 0, options))).isEqualTo(text);
    assertThat(text(Answer.of(2, prompt, 0, options))).isNotEqualTo(text);
    assertThat(text(Answer.of(1, prompt, 1, options))).isNotEqualTo(text);
    assertThat(text(Answer.of(1, new int[] {3, 2, 1}, 0, options))).isNotEqualTo(text);
  }
}
