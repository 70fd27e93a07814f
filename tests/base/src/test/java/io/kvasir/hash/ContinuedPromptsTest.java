package io.kvasir.hash;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class ContinuedPromptsTest {

  private static final long SEED = Long.getLong("kvasir.test.seed", 23);

  @Test
  void aPromptThatBeginsWithAnotherContinuesIt() {
    ContinuedPrompts prompts = new ContinuedPrompts(100);
    long[] first = {1, 2, 3};
    long key = prompts.key(first);
    assertThat(key).isNotEqualTo(ContinuedPrompts.NONE);
    prompts.placed(key, first);
    long[] second = {1, 2, 3, 4, 5};
    assertThat(prompts.key(second)).isEqualTo(key);
    prompts.placed(key, second);
    assertThat(prompts.key(new long[] {1, 2, 3, 4, 5, 6})).isEqualTo(key);
  }

  @Test
  void aSharedBeginningIsNoConversation() {
    ContinuedPrompts prompts = new ContinuedPrompts(100);
    long[] one = {1, 2, 3};
    long[] other = {1, 2, 4};
    long key = prompts.key(one);
    prompts.placed(key, one);
    assertThat(prompts.key(other)).isNotEqualTo(key).isNotEqualTo(ContinuedPrompts.NONE);
    assertThat(prompts.key(new long[] {1, 2})).isNotEqualTo(key);
    assertThat(prompts.key(new long[0])).isEqualTo(ContinuedPrompts.NONE);
  }

  @Test
  void onlyTheLastPromptOfAConversationIsContinued() {
    ContinuedPrompts prompts = new ContinuedPrompts(100);
    long[] first = {1, 2};
    long key = prompts.key(first);
    prompts.placed(key, first);
    prompts.placed(key, new long[] {1, 2, 3});
    long branch = prompts.key(new long[] {1, 2, 9});
    assertThat(branch).as("an earlier turn again, changed").isNotEqualTo(key);
  }

  @Test
  void tenThousandThatBeginAlikeAreToldApart() {
    ContinuedPrompts prompts = new ContinuedPrompts(100_000);
    long[] begin = {1, 2};
    Set<Long> keys = new HashSet<>();
    for (int i = 0; i < 10_000; i++) {
      long key = prompts.key(begin);
      assertThat(prompts.key(begin)).isEqualTo(key);
      keys.add(key);
      prompts.placed(key, begin);
      prompts.placed(key, new long[] {1, 2, 10 + i});
    }
    assertThat(keys).hasSize(10_000);
  }

  @Test
  void conversationsThatBeginAlikeAreTwo() {
    ContinuedPrompts prompts = new ContinuedPrompts(100);
    long[] begin = {1, 2};
    long one = prompts.key(begin);
    prompts.placed(one, begin);
    prompts.placed(one, new long[] {1, 2, 3});
    long other = prompts.key(begin);
    assertThat(other).isNotEqualTo(one);
    prompts.placed(other, begin);
    assertThat(prompts.key(new long[] {1, 2, 3, 4})).isEqualTo(one);
    assertThat(prompts.key(new long[] {1, 2, 5})).isEqualTo(other);
  }

  /** Against a map from the last prompts' ends to keys, in the order of placements. */
  @Test
  void agreesWithAMapFromEndsToKeys() {
    SplittableRandom random = new SplittableRandom(SEED);
    ContinuedPrompts prompts = new ContinuedPrompts(5);
    Map<Long, Long> keys = new LinkedHashMap<>();
    List<long[]> seen = new ArrayList<>(List.of(new long[] {1}));
    for (int step = 0; step < 20_000; step++) {
      long[] before = seen.get(random.nextInt(seen.size()));
      long[] prompt = Arrays.copyOf(before, before.length + 1 + random.nextInt(3));
      for (int i = before.length; i < prompt.length; i++) {
        prompt[i] = random.nextLong(1, 41);
      }
      Long expected = null;
      for (int i = prompt.length - 1; i >= 0 && expected == null; i--) {
        expected = keys.get(prompt[i]);
      }
      long key = prompts.key(prompt);
      if (expected == null) {
        assertThat(keys.values()).as("seed %d, step %d", SEED, step).doesNotContain(key);
      } else {
        assertThat(key).as("seed %d, step %d", SEED, step).isEqualTo(expected);
      }
      prompts.placed(key, prompt);
      long end = prompt[prompt.length - 1];
      keys.values().removeIf(other -> other.equals(key));
      keys.remove(end);
      keys.put(end, key);
      if (keys.size() > 5) {
        keys.remove(keys.keySet().iterator().next());
      }
      if (prompt.length < 600) {
        seen.add(prompt);
      }
      if (seen.size() > 8) {
        seen.remove(random.nextInt(seen.size()));
      }
    }
  }
}
