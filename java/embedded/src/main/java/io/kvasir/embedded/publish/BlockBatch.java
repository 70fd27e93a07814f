package io.kvasir.embedded.publish;

import java.util.List;

/**
 * What one message of an engine says. Immutable.
 *
 * @param number its number in the rank's stream, from 0
 * @param timeSeconds when it was made, in Unix seconds
 * @param changes at least one change, in order
 */
public record BlockBatch(long number, double timeSeconds, List<BlockChange> changes) {

  /** Copies the list. */
  public BlockBatch {
    changes = List.copyOf(changes);
  }
}
