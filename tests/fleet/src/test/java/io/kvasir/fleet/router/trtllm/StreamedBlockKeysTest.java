package io.kvasir.fleet.router.trtllm;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.hash.TrtllmBlockKeys;
import io.kvasir.model.CacheScope;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Keys of elements that arrive one by one, against those of the whole prompt. */
class StreamedBlockKeysTest {

  private static final int[] LENGTHS = {
    0, 1, 2, 31, 32, 33, 64, 65, 255, 256, 257, 4095, 4096, 4097, 4098, 4129, 8192, 8193, 20_000
  };

  @Test
  void areThoseOfTheWholePrompt() {
    Random random = new Random(7);
    for (int tokensPerBlock : new int[] {1, 7, 32, 5_000}) {
      for (int length : LENGTHS) {
        for (int skipped : new int[] {0, 1, 40, 30_000}) {
          int[] prompt = random.ints(length).toArray();
          CacheScope scope = random.nextBoolean() ? CacheScope.NONE : CacheScope.NONE.withSalt("s");
          StreamedBlockKeys streamed = new StreamedBlockKeys(tokensPerBlock, skipped, scope);
          streamed.acceptAll(prompt);
          int[] compared = Arrays.copyOfRange(prompt, Math.min(skipped, length), length);
          assertThat(streamed.keys())
              .as("%d elements, blocks of %d, without %d", length, tokensPerBlock, skipped)
              .isEqualTo(TrtllmBlockKeys.ofPrompt(compared, tokensPerBlock, scope));
          assertThat(streamed.length()).isEqualTo(length);
        }
      }
    }
  }
}
