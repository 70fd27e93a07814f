package io.kvasir.fleet.load;

/** Carries frames to all replicas of a router, as well as it can. Called from one thread. */
@FunctionalInterface
public interface ReplicaPort {

  /**
   * Sends a frame to all routers. Frames that cannot be sent are lost.
   *
   * @param frame a {@link LoadFrame}, {@link LoadStatement} or {@link LoadRequest} in bytes
   */
  void send(byte[] frame);
}
