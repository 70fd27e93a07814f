package io.kvasir.engine.pool;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.testing.pool.PoolEvent;
import io.kvasir.testing.pool.PoolScenario;
import org.junit.jupiter.api.Test;

/** The event stream. */
interface EventContract extends PoolContract {

  @Test
  default void eventsCarryNumbersBlocksAndParents() {
    try (PoolScenario pool = pool(2)) {
      pool.cache("AB");
      pool.cache("C");
      pool.pool().clear();
      assertThat(PoolEvent.drain(pool.pool()))
          .containsExactly(
              PoolEvent.firstStored(0, pool.name("A")),
              PoolEvent.storedAfter(1, pool.name("A"), pool.name("AB")),
              PoolEvent.removed(2, pool.name("AB")),
              PoolEvent.firstStored(3, pool.name("C")),
              PoolEvent.cleared(4));
    }
  }

  @Test
  default void clearingAnEmptyPoolIsAnEventToo() {
    try (PoolScenario pool = pool(2)) {
      pool.pool().clear();
      pool.pool().clear();
      assertThat(PoolEvent.drain(pool.pool()))
          .containsExactly(PoolEvent.cleared(0), PoolEvent.cleared(1));
    }
  }

  @Test
  default void eventsAreHandedOutOnce() {
    try (PoolScenario pool = pool(4)) {
      pool.cache("AB");
      assertThat(PoolEvent.drain(pool.pool()))
          .extracting(PoolEvent::eventId)
          .containsExactly(0L, 1L);
      assertThat(PoolEvent.drain(pool.pool())).isEmpty();
      pool.cache("ABC");
      assertThat(PoolEvent.drain(pool.pool())).extracting(PoolEvent::eventId).containsExactly(2L);
    }
  }

  @Test
  default void aFullRingLosesItsOldestEventsAndTheNumbersGoOn() {
    try (PoolScenario pool = new PoolScenario(create(PoolScenario.shape(8, 4, 3)))) {
      pool.cache("ABCDE");
      assertThat(PoolEvent.drain(pool.pool()))
          .extracting(PoolEvent::eventId)
          .containsExactly(2L, 3L, 4L);
      pool.cache("AX");
      assertThat(PoolEvent.drain(pool.pool()))
          .containsExactly(PoolEvent.storedAfter(5, pool.name("A"), pool.name("AX")));
    }
  }

  @Test
  default void aRingOfNoEventsTurnsThemOff() {
    try (PoolScenario pool = new PoolScenario(create(PoolScenario.shape(4, 4, 0)))) {
      pool.cache("ABC");
      pool.cache("DE");
      pool.pool().clear();
      assertThat(PoolEvent.drain(pool.pool())).isEmpty();
    }
  }
}
