package io.kvasir.gateway.tokens;

import java.util.List;
import java.util.Set;

/**
 * A way to ask an engine for the tokens of a request. Immutable by contract: the arrays are not
 * copied.
 *
 * @param target the path to ask with {@code POST}
 * @param bodies the JSON to send, one for each prompt
 * @param absent statuses that mean that the engine does not have this way
 */
record TokenWay(String target, List<byte[]> bodies, Set<Integer> absent) {

  /** The endpoint is missing. */
  static final Set<Integer> MISSING = Set.of(404, 405, 501);

  /** The endpoint is missing, or does not take such questions. */
  static final Set<Integer> MISSING_OR_REFUSED = Set.of(400, 404, 405, 422, 501);

  /** Names the way in memories of what an engine lacks. */
  String id() {
    return target + (absent.contains(400) ? " for chats" : "");
  }
}
