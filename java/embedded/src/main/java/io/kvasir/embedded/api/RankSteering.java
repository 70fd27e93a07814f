package io.kvasir.embedded.api;

import io.kvasir.embedded.api.EngineProfile.Steering;
import io.kvasir.exchange.Headers;
import io.kvasir.model.Request;
import java.util.function.BooleanSupplier;

/** Reads the rank that a request names, where its engine looks for one. Thread-safe. */
public final class RankSteering {

  private static final String HEADER = "X-data-parallel-rank";

  private final EngineProfile profile;
  private final int ranks;
  private final BooleanSupplier ignored;

  /**
   * Creates a reader.
   *
   * @param profile where the engine looks for a rank
   * @param ranks number of ranks
   * @param ignored whether the engine ignores named ranks at the moment; any thread may ask
   */
  public RankSteering(EngineProfile profile, int ranks, BooleanSupplier ignored) {
    this.profile = profile;
    this.ranks = ranks;
    this.ignored = ignored;
  }

  /**
   * The only rank that may run a request, or {@link Request#ANY_RANK}.
   *
   * @throws ApiError if there is no such rank
   */
  int rank(Incoming request, RequestFields fields) {
    Steering steering = profile.steering(request.path());
    if (ignored.getAsBoolean()) {
      return Request.ANY_RANK;
    }
    if (steering == Steering.HEADER || steering == Steering.BOTH) {
      int rank = header(request.headers());
      if (rank != Request.ANY_RANK) {
        return rank;
      }
    }
    if (steering == Steering.BODY || steering == Steering.BOTH) {
      for (String name : profile.rankFields()) {
        if (fields.has(name)) {
          return fields.integer(name, 0, ranks - 1, Request.ANY_RANK);
        }
      }
    }
    return Request.ANY_RANK;
  }

  private int header(Headers headers) {
    String header = headers.get(HEADER);
    if (header == null) {
      return Request.ANY_RANK;
    }
    try {
      int rank = Integer.parseInt(header.strip());
      if (rank >= 0 && rank < ranks) {
        return rank;
      }
    } catch (NumberFormatException e) {
      // refused below
    }
    throw ApiError.invalid(
        HEADER, HEADER + " must be a whole number from 0 to " + (ranks - 1) + ", not " + header);
  }
}
