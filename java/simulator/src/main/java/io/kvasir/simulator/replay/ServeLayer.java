package io.kvasir.simulator.replay;

import io.kvasir.hash.HashedRequest;
import io.kvasir.model.Request;
import io.kvasir.serve.CacheEvent;
import java.util.List;

/**
 * Chooses an instance for each request when it arrives (port). Confined to the thread that drives
 * the replay.
 */
interface ServeLayer {

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
        public void onEnded(Request request, boolean success) {}

        @Override
        public void onBlocks(int instance, List<CacheEvent> events, long nowNs) {}

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

  /** Takes note that a request was answered or rejected. */
  void onEnded(Request request, boolean success);

  /** Takes note of what an instance came to hold at a moment, never before an earlier one of it. */
  void onBlocks(int instance, List<CacheEvent> events, long nowNs);

  /** What was done; null if there is nobody to choose. */
  ServeResult result();
}
