package io.kvasir.fleet.load;

/**
 * A router's side of the exchange of loads with other routers in front of the same ranks.
 *
 * <p>Thread-safe.
 */
public interface LoadExchange {

  /**
   * Books what another router has placed, and ends what has ended there. O(messages + blocks).
   *
   * @param frame a {@link LoadFrame} in bytes; own ones are passed over
   * @throws IllegalArgumentException if it is no frame; nothing has changed then, but a count
   */
  void onFrame(byte[] frame);

  /**
   * Ends everything that routers have placed which are gone. O(their attempts + their blocks).
   *
   * @param silentNs time without a frame after which a router counts as gone, in nanoseconds
   * @return the number of routers that are gone
   */
  int removeSilent(long silentNs);

  /** {@return a snapshot of the counts so far} */
  ReplicatedLoads.Stats stats();
}
