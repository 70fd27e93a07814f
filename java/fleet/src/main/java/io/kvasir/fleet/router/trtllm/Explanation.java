package io.kvasir.fleet.router.trtllm;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * What a router knew when it chose a server.
 *
 * <p>Immutable by contract: token arrays are not copied and must not be changed by anyone.
 *
 * @param reason why this server
 * @param firstTurn whether the request is known to start its conversation; false also when nothing
 *     is known
 * @param conversationId the conversation the request was counted to, made up if it named none; null
 *     if the router keeps no conversations
 * @param matches matched tokens by server, excluded ones left out; a partial last block counts
 *     whole, so that a match may exceed the prompt. Empty if the router does not ask
 * @param matchLength the chosen server's match, or 0
 * @param promptTokens the prompt's tokens as far as the router made or found them, one sequence per
 *     prompt, to be sent on so that the server need not tokenise again; empty otherwise
 */
public record Explanation(
    ServeReason reason,
    boolean firstTurn,
    String conversationId,
    Map<String, Long> matches,
    long matchLength,
    List<int[]> promptTokens) {

  /** Keeps the order of the servers in {@code matches}. */
  public Explanation {
    matches = Collections.unmodifiableMap(new LinkedHashMap<>(matches));
    promptTokens = List.copyOf(promptTokens);
  }

  /** An explanation of a router that looked neither at tokens nor at conversations. */
  static Explanation of(ServeReason reason) {
    return new Explanation(reason, false, null, Map.of(), 0, List.of());
  }

  /**
   * Number of tokens in {@link #promptTokens()}.
   *
   * @return at least 0
   */
  public long tokenCount() {
    return promptTokens.stream().mapToLong(tokens -> tokens.length).sum();
  }
}
