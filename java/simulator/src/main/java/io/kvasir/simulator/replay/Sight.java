package io.kvasir.simulator.replay;

import io.kvasir.hash.HashedRequest;
import io.kvasir.model.Checks;
import io.kvasir.model.Digest64;
import io.kvasir.model.Request;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/**
 * What routers see of the requests of a replay, and what these ask for. Some conversations are
 * hidden, as a whole and the same ones in every replay; a request without a conversation is one of
 * its own.
 *
 * <p>Immutable.
 *
 * @param foreignLoad share of the conversations that clients send to the workers past the fleet
 *     router, each to one worker; from 0 to 1
 * @param forgottenIds share of the conversations whose requests do not name them; from 0 to 1
 * @param askedTokens tokens that requests ask for, although their answers end earlier; 0 if they
 *     ask for as many as they get
 */
public record Sight(double foreignLoad, double forgottenIds, int askedTokens) {

  /** Routers see all requests as they are. */
  public static final Sight WHOLE = new Sight(0, 0, 0);

  private static final long FOREIGN = 1;
  private static final long FORGOTTEN = 2;
  private static final long WORKER = 3;

  /**
   * Checks the ranges.
   *
   * @throws IllegalArgumentException naming the field that is out of range
   */
  public Sight {
    Checks.within("foreignLoad", foreignLoad, 0, 1);
    Checks.within("forgottenIds", forgottenIds, 0, 1);
    Checks.atLeast("askedTokens", askedTokens, 0);
  }

  /** Whether a request goes past the fleet router. */
  boolean isForeign(Request request) {
    return foreignLoad > 0 && drawn(request, FOREIGN).nextDouble() < foreignLoad;
  }

  /** The worker of a request that goes past the fleet router. */
  int workerOf(Request request, int workers) {
    return drawn(request, WORKER).nextInt(workers);
  }

  /** A request as routers see it. */
  HashedRequest of(HashedRequest hashed) {
    Request request = hashed.request();
    boolean forgotten =
        forgottenIds > 0
            && request.conversationId() != null
            && drawn(request, FORGOTTEN).nextDouble() < forgottenIds;
    boolean asks = request.maxNewTokens() < askedTokens;
    if (!forgotten && !asks) {
      return hashed;
    }
    Request.Builder seen = request.toBuilder();
    if (forgotten) {
      seen.conversationId(null);
    }
    if (asks) {
      seen.maxNewTokens(askedTokens).answerTokens(request.maxNewTokens());
    }
    return new HashedRequest(seen.build(), hashed.hashes());
  }

  private static SplittableRandom drawn(Request request, long what) {
    long digest = Digest64.fold(Digest64.EMPTY, what);
    String conversation = request.conversationId();
    return new SplittableRandom(
        conversation == null
            ? Digest64.fold(digest, request.id())
            : Digest64.fold(digest, conversation));
  }

  /** {@return what is hidden, for example {@code foreign load 0.2}; nothing if nothing is} */
  public String difference() {
    List<String> hidden = new ArrayList<>();
    if (foreignLoad > 0) {
      hidden.add("foreign load " + foreignLoad);
    }
    if (forgottenIds > 0) {
      hidden.add("forgotten ids " + forgottenIds);
    }
    if (askedTokens > 0) {
      hidden.add("unknown answers of " + askedTokens);
    }
    return String.join(" ", hidden);
  }
}
