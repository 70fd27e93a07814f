package io.kvasir.fleet.index;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.kvasir.event.CacheChange;
import io.kvasir.hash.HashFormat;
import io.kvasir.model.RankId;
import org.junit.jupiter.api.Test;

/** Holds the native index to the contract. */
class NativePrefixIndexTest extends PrefixIndexContract {

  @Override
  PrefixIndex create(HashFormat format) {
    return new NativePrefixIndex(format, 4, Long.MAX_VALUE);
  }

  @Test
  void refusesLocalHashesWhereTheFormatDoesNotChainThem() {
    long[] hashes = {1, 2, 3};
    try (PrefixIndex index = create(HashFormat.TRTLLM_V1)) {
      assertThatIllegalArgumentException()
          .isThrownBy(() -> index.apply(new RankId(1, 0), CacheChange.Stored.root(hashes, hashes)))
          .withMessage("local hashes need format kvasir or dynamo: trtllm-v1 does not chain them");
      assertThat(index.stats().memberships()).isZero();
    }
  }
}
