package io.kvasir.engine.pool;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.event.BlockEvent;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** What a reader knows who started with an empty index and applied every event. */
final class EventReplay {

  private final Map<Long, BlockEvent.Stored> named = new HashMap<>();
  private long nextSequence;
  private boolean complete = true;

  void apply(List<BlockEvent> events) {
    for (BlockEvent event : events) {
      assertThat(event.sequence()).as("event number").isGreaterThanOrEqualTo(nextSequence);
      complete &= event.sequence() == nextSequence;
      nextSequence = event.sequence() + 1;
      if (event instanceof BlockEvent.Cleared) {
        named.clear();
        complete = true;
      } else if (complete) {
        apply(event);
      }
    }
  }

  private void apply(BlockEvent event) {
    if (event instanceof BlockEvent.Stored stored) {
      assertThat(named).as("names before %s", stored).doesNotContainKey(stored.blockHash());
      if (stored.depth() == 0) {
        assertThat(stored.parentHash()).as("parent of %s", stored).isZero();
      } else {
        BlockEvent.Stored parent = named.get(stored.parentHash());
        assertThat(parent).as("parent of %s", stored).isNotNull();
        assertThat(parent.depth())
            .as("depth of parent of %s", stored)
            .isEqualTo(stored.depth() - 1);
      }
      named.put(stored.blockHash(), stored);
    } else if (event instanceof BlockEvent.Removed removed) {
      BlockEvent.Stored block = named.remove(removed.blockHash());
      assertThat(block).as("block of %s", removed).isNotNull();
      assertThat(named.values())
          .as("children of %s", block)
          .noneMatch(
              other ->
                  other.parentHash() == block.blockHash() && other.depth() == block.depth() + 1);
    }
  }

  /** Whether no event was lost since the start or the last clear. */
  boolean complete() {
    return complete;
  }

  int names() {
    return named.size();
  }

  /** Leading blocks of a prompt that the reader believes to be held. */
  int held(Prompt prompt) {
    int held = 0;
    while (held < prompt.blocks() && named.containsKey(prompt.names()[held])) {
      held++;
    }
    return held;
  }
}
