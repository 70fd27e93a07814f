package io.kvasir.engine.adp;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** Ticks of pools told in requests that were placed in the instance. */
class PlacementClockTest {

  private final PlacementClock clock = new PlacementClock(2);

  private void place(int requests) {
    for (int i = 0; i < requests; i++) {
      clock.advance();
    }
  }

  @Test
  void anAgeIsTheNumberOfRequestsPlacedSinceThePoolWasSeenAtOrBeforeTheTick() {
    clock.sample(0, 5);
    place(3);
    clock.sample(0, 50);
    place(4);
    assertThat(clock.age(0, 50)).isEqualTo(4);
    assertThat(clock.age(0, 1_000)).as("later than all that was seen").isEqualTo(4);
    assertThat(clock.age(0, 49)).isEqualTo(7);
    assertThat(clock.age(0, 4)).as("before the first sample: since the beginning").isEqualTo(7);
    assertThat(clock.age(1, 50)).as("a pool that was never seen").isEqualTo(7);
  }

  @Test
  void aPoolThatStandsStillKeepsTheTimeAtWhichItsTickWasFirstSeen() {
    clock.sample(0, 5);
    place(2);
    clock.sample(0, 5);
    place(2);
    assertThat(clock.age(0, 5)).isEqualTo(4);
  }

  @Test
  void aPoolWhoseTicksGoBackIsAnotherOne() {
    clock.sample(0, 10);
    place(5);
    clock.sample(0, 100);
    place(5);
    clock.sample(0, 20);
    assertThat(clock.age(0, 20)).isZero();
    assertThat(clock.age(0, 15)).as("what the old pool was at is forgotten").isEqualTo(10);
    place(1);
    clock.sample(0, 30);
    assertThat(clock.age(0, 25)).isEqualTo(1);
  }

  @Test
  void ticksThatGoBackWithinOneMomentReplaceWhatWasSeen() {
    clock.sample(0, 10);
    clock.sample(0, 3);
    place(1);
    clock.sample(0, 5);
    assertThat(clock.age(0, 4)).isEqualTo(1);
    assertThat(clock.age(0, 5)).isZero();
  }

  /** Thinned out, samples make an age longer by an eighth at most; never shorter. */
  @Test
  void thinnedSamplesReachBackToTheBeginningAndMakeNoAgeShorter() {
    long calls = 200L * PlacementClock.SAMPLES;
    for (long call = 0; call < calls; call++) {
      clock.sample(0, 2 * call);
      place(1);
    }
    assertThat(clock.age(0, 0)).isEqualTo(calls);
    for (long call = 0; call < calls; call++) {
      long exact = calls - call;
      long longest = exact + exact / 7 + 1;
      assertThat(clock.age(0, 2 * call)).as("age %d", exact).isBetween(exact, longest);
    }
  }

  @Test
  void agesAreThoseOfAPlainListThatIsThinnedAlike() {
    for (long seed = 0; seed < 20; seed++) {
      SplittableRandom random = new SplittableRandom(seed);
      PlacementClock tested = new PlacementClock(1);
      List<long[]> plain = new ArrayList<>();
      long tick = 0;
      long now = 0;
      for (int call = 0; call < 1_500; call++) {
        tick = random.nextInt(1_000) == 0 ? random.nextLong(tick + 1) : tick + random.nextInt(3);
        tested.sample(0, tick);
        long[] last = plain.isEmpty() ? null : plain.get(plain.size() - 1);
        if (last != null && tick < last[0]) {
          plain.clear();
          last = null;
        }
        if (last == null || (tick > last[0] && now > last[1])) {
          if (plain.size() == PlacementClock.SAMPLES) {
            long[] newer = plain.get(plain.size() - 1);
            for (int i = plain.size() - 2; i > 0; i--) {
              long[] older = plain.get(i - 1);
              if ((newer[1] - older[1]) * 8 <= now - older[1]) {
                plain.remove(i);
              } else {
                newer = plain.get(i);
              }
            }
          }
          plain.add(new long[] {tick, now});
        }
        long asked = random.nextLong(tick + 2);
        long since = 0;
        for (long[] sample : plain) {
          since = sample[0] <= asked ? sample[1] : since;
        }
        assertThat(tested.age(0, asked)).as("seed %d, call %d", seed, call).isEqualTo(now - since);
        if (random.nextInt(4) > 0) {
          tested.advance();
          now++;
        }
      }
    }
  }
}
