package io.kvasir.engine.pool;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.testing.pool.PoolEvent;
import io.kvasir.testing.pool.Prompt;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** What a reader knows who started with an empty index and applied every event. */
final class EventReplay {

  private final Map<Long, PoolEvent> stored = new HashMap<>();
  private long nextEvent;
  private boolean complete = true;

  void apply(List<PoolEvent> events) {
    for (PoolEvent event : events) {
      assertThat(event.eventId()).as("event number").isGreaterThanOrEqualTo(nextEvent);
      complete &= event.eventId() == nextEvent;
      nextEvent = event.eventId() + 1;
      if (event.kind() == PoolEvent.Kind.CLEARED) {
        stored.clear();
        complete = true;
      } else if (complete) {
        apply(event);
      }
    }
  }

  private void apply(PoolEvent event) {
    if (event.kind() == PoolEvent.Kind.REMOVED) {
      assertThat(stored.remove(event.block())).as("block of %s", event).isNotNull();
      assertThat(stored.values())
          .as("children of %s", event)
          .noneMatch(
              other ->
                  other.kind() == PoolEvent.Kind.STORED_AFTER && other.parent() == event.block());
      return;
    }
    assertThat(stored).as("blocks before %s", event).doesNotContainKey(event.block());
    if (event.kind() == PoolEvent.Kind.STORED_AFTER) {
      assertThat(stored).as("parent of %s", event).containsKey(event.parent());
    }
    stored.put(event.block(), event);
  }

  /** Whether no event was lost since the start or the last clear. */
  boolean complete() {
    return complete;
  }

  int blocks() {
    return stored.size();
  }

  /** Leading blocks of a prompt that the reader believes to be held. */
  int held(Prompt prompt) {
    int held = 0;
    while (held < prompt.blocks() && stored.containsKey(prompt.names()[held])) {
      held++;
    }
    return held;
  }
}
