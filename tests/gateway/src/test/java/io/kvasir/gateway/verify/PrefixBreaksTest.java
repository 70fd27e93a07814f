package io.kvasir.gateway.verify;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.gateway.verify.PrefixBreaks.Finding;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class PrefixBreaksTest {

  private static final int VOCABULARY = 50_000;

  private final Random random = new Random(37);
  private final PrefixBreaks breaks = new PrefixBreaks();

  private int[] tokens(int count) {
    return random.ints(count, 0, VOCABULARY).toArray();
  }

  private static int[] join(int[]... parts) {
    return IntStream.range(0, parts.length).flatMap(i -> IntStream.of(parts[i])).toArray();
  }

  private void prompts(int count, java.util.function.IntFunction<int[]> prompt) {
    IntStream.range(0, count).mapToObj(prompt).forEach(breaks::onPrompt);
  }

  @Test
  void aNonceOfAnyShortLengthIsFound() {
    int[] begin = tokens(37);
    int[] rest = tokens(500);
    prompts(20, i -> join(begin, tokens(1 + random.nextInt(40)), rest, tokens(30)));
    Finding finding = breaks.finding();
    assertThat(finding).isEqualTo(new Finding(37, 19, 20));
    assertThat(breaks.broken()).isEqualTo(19);
    assertThat(breaks.lostTokens()).isGreaterThan(19 * 400);
  }

  @Test
  void oneAtTheVeryBeginningIsFound() {
    int[] rest = tokens(3_000);
    prompts(12, i -> join(new int[] {VOCABULARY + i}, rest));
    assertThat(breaks.finding()).isEqualTo(new Finding(0, 11, 12));
  }

  @Test
  void turnsOfConversationsAreNone() {
    int[][] conversations = new int[5][];
    int[] system = tokens(200);
    for (int turn = 0; turn < 10; turn++) {
      for (int i = 0; i < conversations.length; i++) {
        int[] before = conversations[i] == null ? system : conversations[i];
        conversations[i] = join(before, tokens(100));
        breaks.onPrompt(conversations[i]);
      }
    }
    assertThat(breaks.broken()).isZero();
  }

  @Test
  void otherTextsAreNone() {
    int[] template = tokens(40);
    int[] question = tokens(100);
    prompts(30, i -> join(template, tokens(300), question)); // documents
    prompts(30, i -> tokens(200));
    assertThat(breaks.broken()).isZero();
    assertThat(breaks.finding()).isNull();
  }

  @Test
  void whatStopsIsNoLongerNamed() {
    int[] rest = tokens(300);
    prompts(20, i -> join(new int[] {VOCABULARY + i}, rest));
    assertThat(breaks.finding()).isNotNull();
    prompts(14, i -> join(rest, tokens(20)));
    assertThat(breaks.finding()).isNull();
  }

  @Test
  void shortPromptsDoNotCount() {
    prompts(30, i -> tokens(79));
    assertThat(breaks.finding()).isNull();
  }
}
