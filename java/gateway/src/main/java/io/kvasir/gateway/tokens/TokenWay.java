package io.kvasir.gateway.tokens;

import java.util.List;
import java.util.Set;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A way to ask an engine for the tokens of a request. What is sent is made when it is needed first,
 * since most requests need one way of several. Used by one thread at a time.
 */
final class TokenWay {

  /** The endpoint is missing. */
  static final Set<Integer> MISSING = Set.of(404, 405, 501);

  /** The endpoint is missing, or does not take such questions. */
  static final Set<Integer> MISSING_OR_REFUSED = Set.of(400, 404, 405, 422, 501);

  private final String target;
  private final String id;
  private final int prompts;
  private final Supplier<List<byte[]>> maker;
  private final Set<Integer> absent;
  private @Nullable List<byte[]> bodies;

  /**
   * A way.
   *
   * @param target the path to ask with {@code POST}
   * @param prompts the number of prompts
   * @param maker makes the JSON to send, one for each prompt
   * @param absent statuses that mean that the engine does not have this way
   */
  private TokenWay(String target, int prompts, Supplier<List<byte[]>> maker, Set<Integer> absent) {
    this.target = target;
    this.id = target + (absent.contains(400) ? " for chats" : "");
    this.prompts = prompts;
    this.maker = maker;
    this.absent = absent;
  }

  /**
   * A way for one prompt.
   *
   * @param target the path to ask with {@code POST}
   * @param maker makes the JSON to send
   * @param absent statuses that mean that the engine does not have this way
   */
  TokenWay(String target, Supplier<byte[]> maker, Set<Integer> absent) {
    this(target, 1, () -> List.of(maker.get()), absent);
  }

  /**
   * A way whose JSON is made.
   *
   * @param target the path to ask with {@code POST}
   * @param bodies the JSON to send, one for each prompt
   * @param absent statuses that mean that the engine does not have this way
   */
  TokenWay(String target, List<byte[]> bodies, Set<Integer> absent) {
    this(target, bodies.size(), () -> bodies, absent);
  }

  /** The path to ask with {@code POST}. */
  String target() {
    return target;
  }

  /** Names the way in memories of what an engine lacks. */
  String id() {
    return id;
  }

  /** The number of prompts. */
  int prompts() {
    return prompts;
  }

  /** The JSON to send, one for each prompt. O(bytes) for the first call. */
  List<byte[]> bodies() {
    List<byte[]> made = bodies;
    if (made == null) {
      made = maker.get();
      bodies = made;
    }
    return made;
  }

  /** Whether the status of an answer means that the engine does not have this way. */
  boolean isAbsence(int status) {
    return absent.contains(status);
  }
}
