package io.kvasir.embedded.ranks;

import io.kvasir.embedded.api.AskedCompletion;
import io.kvasir.embedded.api.Incoming;
import org.jspecify.annotations.Nullable;

/** Decides which requests are legs of others. Thread-safe. */
public interface KvLegs {

  /** No request is a leg. */
  KvLegs NONE = (request, asked) -> null;

  /**
   * Reads a request.
   *
   * @param request the request
   * @param asked what it asks for
   * @return its leg; null if this engine answers it alone
   * @throws io.kvasir.embedded.api.ApiError naming a field that is wrong
   */
  @Nullable KvLeg legOf(Incoming request, AskedCompletion asked);
}
