package io.kvasir.simulator.replay;

import io.kvasir.hash.HashedRequest;
import io.kvasir.model.Request;

/**
 * Chooses an instance for each request when it arrives (port). Confined to the thread that drives
 * the replay.
 */
interface ServeLayer extends AutoCloseable {

  /** There is but one instance, and nobody to choose it. */
  ServeLayer NONE =
      new ServeLayer() {
        @Override
        public int instances() {
          return 1;
        }

        @Override
        public boolean followsBlocks() {
          return false;
        }

        @Override
        public Served serve(HashedRequest request, long nowNs) {
          return new Served(0, request);
        }

        @Override
        public void onEnded(Request request, boolean success, long atNs) {}

        @Override
        public void onIterated(int instance, IteratedWorker ran, long endNs) {}

        @Override
        public ServeResult result() {
          return null;
        }
      };

  /** A request's instance, and the request as that sees it. */
  record Served(int instance, HashedRequest request) {}

  /** Instances to choose from, at least 1. */
  int instances();

  /** Whether it wants to be told what instances hold. */
  boolean followsBlocks();

  /** Chooses an instance. */
  Served serve(HashedRequest request, long nowNs);

  /** Takes note, ahead of time, of a token that comes at a moment, which may be still to come. */
  default void onToken(Request request, long atNs) {}

  /** Takes note that a request was answered or rejected at a moment that has come. */
  void onEnded(Request request, boolean success, long atNs);

  /** Takes note, ahead of time, of what an instance has done when its iteration ends. */
  void onIterated(int instance, IteratedWorker ran, long endNs);

  /** What was done; null if there is nobody to choose. */
  ServeResult result();

  @Override
  default void close() {}
}
