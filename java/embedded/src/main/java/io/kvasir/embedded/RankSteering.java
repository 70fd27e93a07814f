package io.kvasir.embedded;

import io.kvasir.embedded.EngineProfile.Steering;
import io.kvasir.embedded.publish.Faults;
import io.kvasir.exchange.Headers;
import io.kvasir.model.Request;

/** Reads the rank that a request names, where its engine looks for one. Thread-safe. */
final class RankSteering {

  private static final String HEADER = "X-data-parallel-rank";

  private final EngineProfile profile;
  private final Faults faults;

  RankSteering(EngineProfile profile, Faults faults) {
    this.profile = profile;
    this.faults = faults;
  }

  /**
   * The only rank that may run a request, or {@link Request#ANY_RANK}.
   *
   * @throws ApiError if there is no such rank
   */
  int rank(Incoming request, RequestFields fields) {
    Steering steering = profile.steering(request.path());
    if (faults.engine().ignoreSteering()) {
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
          return fields.integer(name, 0, faults.ranks() - 1, Request.ANY_RANK);
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
      if (rank >= 0 && rank < faults.ranks()) {
        return rank;
      }
    } catch (NumberFormatException e) {
      // refused below
    }
    throw ApiError.invalid(
        HEADER,
        HEADER + " must be a whole number from 0 to " + (faults.ranks() - 1) + ", not " + header);
  }
}
