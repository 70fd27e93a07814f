package io.kvasir.engine.adp;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class CPythonShuffleTest {

  @Test
  void equalsTheWholeGeneratorOnRandomSeedsAndSizes() {
    SplittableRandom random = new SplittableRandom(42);
    CPythonShuffle shuffle = new CPythonShuffle(1200); // beyond one generation of the state
    for (int i = 0; i < 3000; i++) {
      long seed = random.nextLong() >> random.nextInt(64);
      int size = i % 100 == 0 ? random.nextInt(1201) : random.nextInt(65);
      List<Integer> expected = new ArrayList<>();
      for (int element = 0; element < size; element++) {
        expected.add(element);
      }
      new PythonRandom(seed).shuffle(expected);
      assertThat(Arrays.stream(shuffle.shuffle(seed, size)).limit(size).boxed())
          .as("seed %d, size %d", seed, size)
          .containsExactlyElementsOf(expected);
    }
  }

  @Test
  void theFirstOfSomePositionsIsTheOneThatTheShuffledOrderNamesFirst() {
    CPythonShuffle shuffle = new CPythonShuffle(8); // Random(0) leaves 4 1 5 2 0 3 7 6
    assertThat(shuffle.firstOf(new int[] {0, 2, 3}, 3, 0, 8)).isEqualTo(2);
    assertThat(shuffle.firstOf(new int[] {0, 3, 4}, 2, 0, 8)).isEqualTo(0);
    assertThat(shuffle.firstOf(new int[] {6, 7}, 2, 0, 8)).isEqualTo(7);
  }
}
