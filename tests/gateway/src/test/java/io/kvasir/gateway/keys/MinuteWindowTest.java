package io.kvasir.gateway.keys;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** The sum of a minute, compared with a list of everything that was used. */
class MinuteWindowTest {

  private static final long MINUTE_NS = 60_000_000_000L;

  private record Used(long atNs, long amount) {}

  /** What was used at a time or later. */
  private static long since(List<Used> all, long fromNs) {
    return all.stream().filter(used -> used.atNs() >= fromNs).mapToLong(Used::amount).sum();
  }

  @Test
  void anAmountCountsForAMinuteAndLessThanASlotMore() {
    long seed = new SplittableRandom().nextLong();
    SplittableRandom random = new SplittableRandom(seed);
    long nowNs = random.nextLong() >> 1;
    MinuteWindow window = new MinuteWindow(nowNs);
    List<Used> all = new ArrayList<>();
    for (int i = 0; i < 3_000; i++) {
      nowNs += random.nextInt(50) == 0 ? random.nextLong(3 * MINUTE_NS) : random.nextLong(1 << 29);
      long amount = random.nextInt(100);
      if (random.nextBoolean()) {
        window.add(nowNs, amount);
        all.add(new Used(nowNs, amount));
      }
      assertThat(window.used(nowNs))
          .as("seed %d, step %d", seed, i)
          .isGreaterThanOrEqualTo(since(all, nowNs - MINUTE_NS))
          .isLessThanOrEqualTo(since(all, nowNs - MINUTE_NS - MinuteWindow.SLOT_NS));
      long left = random.nextInt(2_000);
      long waitNs = window.waitNs(nowNs, left);
      if (waitNs > 0) {
        assertThat(most(all, nowNs + waitNs - 1)).as("seed %d, before", seed).isGreaterThan(left);
        assertThat(since(all, nowNs + waitNs - MINUTE_NS))
            .as("seed %d", seed)
            .isLessThanOrEqualTo(left);
      } else {
        assertThat(window.used(nowNs)).isLessThanOrEqualTo(left);
      }
    }
  }

  /** The most that can count at a time. */
  private static long most(List<Used> all, long nowNs) {
    return since(all, nowNs - MINUTE_NS - MinuteWindow.SLOT_NS);
  }

  @Test
  void whatIsRemovedCountsNoMoreUnlessItHasLeft() {
    MinuteWindow window = new MinuteWindow(0);
    long first = window.add(0, 10);
    long second = window.add(MINUTE_NS / 2, 20);
    window.remove(MINUTE_NS / 2, first, 4);
    assertThat(window.used(MINUTE_NS / 2)).isEqualTo(26);
    long afterNs = MINUTE_NS + 2 * MinuteWindow.SLOT_NS;
    window.remove(afterNs, first, 6);
    assertThat(window.used(afterNs)).isEqualTo(20);
    window.remove(afterNs, second, 50);
    assertThat(window.used(afterNs)).isZero();
  }
}
