package io.kvasir.gateway.events;

import io.kvasir.event.BlockEvent;
import io.kvasir.model.RankId;
import java.util.List;

/** Sees the events of ranks after the index has them, unless they wait for missing ones. */
@FunctionalInterface
public interface AppliedListener {

  /** Sees nothing. */
  AppliedListener NONE = (rank, batch) -> {};

  /**
   * A batch was applied, or waits for an earlier one. Called on the pump's thread.
   *
   * @param rank the rank
   * @param batch its events
   */
  void onApplied(RankId rank, List<BlockEvent> batch);
}
