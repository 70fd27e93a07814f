package io.kvasir.embedded.disagg;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kvasir.embedded.api.AskedCompletion;
import io.kvasir.embedded.api.Incoming;
import io.kvasir.embedded.api.Routes;
import org.jspecify.annotations.Nullable;

/** What routers say to engines of one kind about KV that moves. Thread-safe. */
interface Dialect {

  /**
   * Reads a request.
   *
   * @return what its leg is to do; null if the engine answers it alone
   * @throws io.kvasir.embedded.api.ApiError naming a field that is wrong
   */
  @Nullable LegPlan read(Incoming request, AskedCompletion asked);

  /** Which rank a question means that names none. */
  default Pin.RankRule rankRule() {
    return Pin.RankRule.any("rank");
  }

  /** Whether another engine may fetch KV if the first one has gone meanwhile. */
  default boolean allowsAnotherFetch() {
    return false;
  }

  /** Whether a decode leg may come before its prefill leg. */
  boolean awaitsPrefill();

  /** Adds what an engine says about itself. */
  default void describe(ObjectNode info) {}

  /** Adds the endpoints that routers ask. */
  default void addTo(Routes routes) {}
}
