package io.kvasir.fleet.index;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.kvasir.hash.HashFormat;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** One index for each model and block size. */
class PrefixIndexesTest {

  private final List<PrefixIndexes.Key> closed = new ArrayList<>();

  @Test
  void modelsAndBlockSizesHaveIndexesOfTheirOwn() {
    PrefixIndexes.Key small = new PrefixIndexes.Key("llama", 16);
    PrefixIndexes.Key large = new PrefixIndexes.Key("llama", 64);
    PrefixIndexes indexes = new PrefixIndexes(this::index);
    PrefixIndex first = indexes.get(small);

    assertThat(indexes.get(new PrefixIndexes.Key("llama", 16))).isSameAs(first);
    assertThat(indexes.find(large)).isEmpty();
    assertThat(indexes.get(large)).isNotSameAs(first);
    assertThat(indexes.keys()).containsExactlyInAnyOrder(small, large);
    indexes.close();
    indexes.close();
    assertThat(closed).containsExactlyInAnyOrder(small, large);
    assertThat(indexes.keys()).isEmpty();
  }

  @Test
  void aBlockHasATokenAtLeast() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new PrefixIndexes.Key("llama", 0))
        .withMessage("tokensPerBlock must be at least 1, not 0");
  }

  private PrefixIndex index(PrefixIndexes.Key key) {
    return new NaiveIndex(HashFormat.KVASIR) {
      @Override
      public void close() {
        closed.add(key);
      }
    };
  }
}
