package io.kvasir.engine.pool;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.event.BlockEvent;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The event stream. */
interface EventContract extends PoolContract {

  @Test
  default void eventsCarryNumbersNamesParentsAndDepths() {
    try (PoolScenario pool = pool(2)) {
      pool.cache("AB");
      pool.cache("C");
      pool.pool().clear();
      assertThat(drain(pool))
          .containsExactly(
              new BlockEvent.Stored(0, pool.name("A"), 0, 0),
              new BlockEvent.Stored(1, pool.name("AB"), pool.name("A"), 1),
              new BlockEvent.Removed(2, pool.name("AB")),
              new BlockEvent.Stored(3, pool.name("C"), 0, 0),
              new BlockEvent.Cleared(4));
    }
  }

  @Test
  default void clearingAnEmptyPoolIsAnEventToo() {
    try (PoolScenario pool = pool(2)) {
      pool.pool().clear();
      pool.pool().clear();
      assertThat(drain(pool)).containsExactly(new BlockEvent.Cleared(0), new BlockEvent.Cleared(1));
    }
  }

  @Test
  default void eventsAreHandedOutOnce() {
    try (PoolScenario pool = pool(4)) {
      pool.cache("AB");
      List<BlockEvent> events = new ArrayList<>();
      assertThat(pool.pool().drainEvents(events::add)).isEqualTo(2);
      assertThat(pool.pool().drainEvents(events::add)).isZero();
      pool.cache("ABC");
      assertThat(pool.pool().drainEvents(events::add)).isEqualTo(1);
      assertThat(events).extracting(BlockEvent::sequence).containsExactly(0L, 1L, 2L);
    }
  }

  @Test
  default void aFullRingLosesItsOldestEventsAndTheNumbersGoOn() {
    try (PoolScenario pool = new PoolScenario(create(PoolScenario.shape(8, 4, 3)))) {
      pool.cache("ABCDE");
      assertThat(drain(pool)).extracting(BlockEvent::sequence).containsExactly(2L, 3L, 4L);
      pool.cache("AX");
      assertThat(drain(pool))
          .containsExactly(new BlockEvent.Stored(5, pool.name("AX"), pool.name("A"), 1));
    }
  }

  @Test
  default void aRingOfNoEventsTurnsThemOff() {
    try (PoolScenario pool = new PoolScenario(create(PoolScenario.shape(4, 4, 0)))) {
      pool.cache("ABC");
      pool.cache("DE");
      pool.pool().clear();
      assertThat(drain(pool)).isEmpty();
    }
  }

  private static List<BlockEvent> drain(PoolScenario pool) {
    List<BlockEvent> events = new ArrayList<>();
    pool.pool().drainEvents(events::add);
    return events;
  }
}
