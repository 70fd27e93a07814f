package io.kvasir.gateway.events;

import io.kvasir.fleet.index.RecoverySource;

/** Takes the batches of one rank, on the thread of the {@link EventPump}. */
interface BatchSink {

  /**
   * A batch has arrived. Batches may be missing before it.
   *
   * @param number its number in the rank's sequence, at least 0
   * @param payload MessagePack
   * @param last whether the rank has no other copy of it, so that what is readable must do
   * @return false if it cannot be read, counts as missing, and should be asked for again
   */
  boolean onBatch(long number, byte[] payload, boolean last);

  /** The engine has started over: everything received before is void. */
  void onRestart();

  /**
   * Where questions about missing batches are to go.
   *
   * @param feed answers them
   */
  void recoverFrom(Feed feed);

  /**
   * Whether the rank's events go on has become certain, or uncertain: for a while there was neither
   * a batch nor a heartbeat. At first it is certain.
   *
   * @param proven whether it is certain now
   */
  default void onProven(boolean proven) {}

  /** Asks again for what is still missing. Called about once a second. */
  void retry();

  /** Recovers missing batches of one rank. */
  interface Feed {

    /**
     * Asks for batches.
     *
     * @param first the first missing one
     * @param answer receives the end of the attempt
     */
    void recover(long first, RecoverySource.Answer answer);
  }
}
