package io.kvasir.simulator.selection;

/**
 * What an engine's metrics tell of its load. Immutable.
 *
 * @param activeBlocks blocks that its requests hold
 * @param totalBlocks blocks of its pools
 * @param waitingRequests requests that it has not begun to run
 */
public record InstanceLoad(long activeBlocks, long totalBlocks, int waitingRequests) {

  /** Nothing to do, and nothing known of the pools. */
  public static final InstanceLoad NONE = new InstanceLoad(0, 0, 0);
}
