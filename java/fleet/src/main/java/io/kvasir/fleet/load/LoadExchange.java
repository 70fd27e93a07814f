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
   * @param frame a {@link LoadFrame}, {@link LoadStatement} or {@link LoadRequest} in bytes; own
   *     ones are passed over
   * @throws IllegalArgumentException if it is no frame; nothing has changed then, but a count
   */
  void onFrame(byte[] frame);

  /**
   * States what this router has in flight, and asks other routers for placements that are missing
   * here. To be called at equal intervals. O(own attempts x log(own attempts)).
   *
   * @param port receives the frames, without the router's lock, on the calling thread
   */
  void state(ReplicaPort port);

  /**
   * Ends all requests placed by routers that have been silent for too long. O(their attempts +
   * their blocks). If such a router still runs, its next statement restores what it has in flight.
   *
   * @param silentNs time without a frame after which a router counts as gone, in nanoseconds
   * @return the number of routers that are gone
   */
  int removeSilent(long silentNs);

  /** {@return a snapshot of the counts so far} */
  ReplicatedLoads.Stats stats();
}
