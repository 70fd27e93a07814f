package io.kvasir.gateway.proxy;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** How long a client may take for a body that is streamed. */
class UploadPaceTest {

  private static final long START_NS = 77_000_000_000L;

  private final UploadPace pace = new UploadPace(3_000, 60_000, 1_000, START_NS);

  private long leftMs(long atMs) {
    return pace.leftMs(START_NS + 1_000_000 * atMs);
  }

  @Test
  void dribblingDoesNotExtendTheTime() {
    for (int second = 0; second < 3; second++) {
      assertThat(leftMs(1_000L * second)).isBetween(1L, 3_000L);
      pace.onBytes(1);
    }
    assertThat(leftMs(3_100)).isNotPositive();
  }

  @Test
  void bytesEarnTimeUpToTheLimitOfTheWholeBody() {
    pace.onBytes(10_000);
    assertThat(leftMs(0)).isEqualTo(13_000);
    assertThat(leftMs(12_999)).isEqualTo(1);
    assertThat(leftMs(13_000)).isZero();
    pace.onBytes(1 << 30);
    assertThat(leftMs(13_000)).isEqualTo(47_000);
    assertThat(leftMs(60_000)).isZero();
  }

  @Test
  void timeOfTheEngineIsNotTheClients() {
    pace.pause(START_NS);
    pace.pause(START_NS + 5_000_000_000L);
    assertThat(leftMs(100_000)).isEqualTo(3_000);
    pace.resume(START_NS + 100_000_000_000L);
    pace.resume(START_NS + 200_000_000_000L);
    assertThat(leftMs(101_000)).isEqualTo(2_000);
  }
}
