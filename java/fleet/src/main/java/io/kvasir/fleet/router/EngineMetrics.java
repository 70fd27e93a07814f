package io.kvasir.fleet.router;

/**
 * The load that an engine reports of one rank. Immutable.
 *
 * @param activeBlocks blocks that its requests hold
 * @param totalBlocks blocks of its pool; 0 if unknown
 * @param waitingRequests requests that the engine has not begun to run
 */
public record EngineMetrics(long activeBlocks, long totalBlocks, int waitingRequests) {

  /** No load, and a pool of unknown size. */
  public static final EngineMetrics NONE = new EngineMetrics(0, 0, 0);
}
