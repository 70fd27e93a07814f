package io.kvasir.engine.pool.cuda;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kvasir.engine.device.ShimCall;
import io.kvasir.engine.device.ShimDevice;
import io.kvasir.engine.execute.RankPools;
import io.kvasir.engine.pool.KvShape;
import io.kvasir.engine.pool.PoolShape;
import io.kvasir.engine.pool.PrefixMatches;
import io.kvasir.engine.pool.ProbeBatch;
import io.kvasir.testing.pool.PoolScenario;
import io.kvasir.testing.pool.Prompt;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Look-ups on devices and in mirrors, which must not differ. */
class CudaPrefixMatcherTest {

  private static final int OUT_OF_MEMORY = 2;
  private static final int ILLEGAL_ADDRESS = 700;
  private static final long BYTES = 1 << 24;
  private static final PoolShape SHAPE = PoolScenario.shape(8, 4, 0);

  /** Two ranks on each of two devices; the last one holds what is put off only. */
  private static PrefixMatches match(
      ShimDevice first, ShimDevice second, Runnable before, boolean onDevices) {
    try (RankPools pools = RankPools.onDevices(List.of(first, second), 4, SHAPE, KvShape.NONE)) {
      ProbeBatch batch = new ProbeBatch();
      for (int rank = 0; rank < 4; rank++) {
        PoolScenario pool = new PoolScenario(pools.pools().get(rank));
        Prompt prompt = pool.prompt("ABCD");
        int lease = pool.start(pool.want(prompt));
        pool.commit(lease, prompt, 0, rank + 1);
        if (rank == 0) {
          batch.add(prompt.names(), 4);
          batch.add(prompt.names(), 2);
        }
      }
      CudaPrefixMatcher matcher = (CudaPrefixMatcher) pools.matcher();
      before.run();
      PrefixMatches matches =
          onDevices ? matcher.matchOnDevices(batch) : matcher.matchOnHost(batch);
      return matches;
    }
  }

  private static void assertRight(String at, PrefixMatches matches) {
    for (int rank = 0; rank < 4; rank++) {
      for (int prompt = 0; prompt < 2; prompt++) {
        assertThat(matches.tokens(rank, prompt))
            .as("%s, rank %d, prompt %d", at, rank, prompt)
            .isEqualTo(Math.min(rank + 1, prompt == 0 ? 4 : 2) * SHAPE.tokensPerBlock());
      }
    }
  }

  @Test
  void devicesAndMirrorsAnswerTheSame() {
    for (boolean onDevices : new boolean[] {false, true}) {
      try (ShimDevice first = ShimDevice.of(BYTES, 1);
          ShimDevice second = ShimDevice.of(BYTES, 2)) {
        assertRight("on devices: " + onDevices, match(first, second, () -> {}, onDevices));
      }
    }
  }

  @Test
  void aBatchIsOneUrgentLaunchOnEachDevice() {
    try (ShimDevice first = ShimDevice.of(BYTES, 1);
        ShimDevice second = ShimDevice.of(BYTES, 2);
        RankPools pools = RankPools.onDevices(List.of(first, second), 4, SHAPE, KvShape.NONE)) {
      ProbeBatch batch = new ProbeBatch();
      batch.add(new long[] {1, 2, 3}, 3);
      int launches = first.count(ShimCall.LAUNCH) + second.count(ShimCall.LAUNCH);

      ((CudaPrefixMatcher) pools.matcher()).matchOnDevices(batch);

      assertThat(first.count(ShimCall.LAUNCH) + second.count(ShimCall.LAUNCH))
          .isEqualTo(launches + 2);
      assertThat(first.urgentStreams()).as("of two pools and of look-ups").isEqualTo(3);
      assertThat(second.urgentStreams()).isEqualTo(3);
    }
  }

  @Test
  void moreLookUpsThanAnIntCountsAreRefused() {
    assertThat(CudaPrefixMatcher.searches(1 << 15, (1 << 16) - 1)).isEqualTo(0x7fff8000);
    assertThatThrownBy(() -> CudaPrefixMatcher.searches(1 << 15, 1 << 16))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("a batch must have less than 2^31 look-ups, not 65536 prompts x 32768 pools");
  }

  @Test
  void whereADeviceFailsTheMirrorsAnswer() {
    int failed = 0;
    for (int code : new int[] {OUT_OF_MEMORY, ILLEGAL_ADDRESS}) {
      for (ShimCall call :
          List.of(
              ShimCall.COPY,
              ShimCall.LAUNCH,
              ShimCall.RECORD,
              ShimCall.AWAIT,
              ShimCall.SYNCHRONIZE)) {
        for (int nth = 1; nth <= 7; nth++) {
          int at = nth;
          int[] before = new int[1];
          try (ShimDevice first = ShimDevice.of(BYTES, nth);
              ShimDevice second = ShimDevice.of(BYTES, nth)) {
            Runnable arm =
                () -> {
                  second.failAt(call, at, code);
                  before[0] = second.count(call);
                };
            assertRight(call + " " + nth + " code " + code, match(first, second, arm, true));
            failed += second.count(call) - before[0] >= nth ? 1 : 0;
          }
        }
      }
    }
    assertThat(failed).isGreaterThan(15);
  }
}
