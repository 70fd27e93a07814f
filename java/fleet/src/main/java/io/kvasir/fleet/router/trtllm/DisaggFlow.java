package io.kvasir.fleet.router.trtllm;

import io.kvasir.fleet.router.trtllm.DisaggParams.RequestType;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The rules by which a request is split between a context server and a generation server, as pure
 * functions; sending is the caller's.
 *
 * <p>The two servers differ: where the generation server is reserved first, it is excluded from the
 * choice of the context server, and otherwise the other way round.
 *
 * <p>Thread-safe and stateless.
 */
public final class DisaggFlow {

  private static final Set<String> UNFINISHED = Set.of("length", "not_finished");

  private DisaggFlow() {}

  /** Which server is asked first ({@code schedule_style}). */
  public enum Style {
    /** The context server; the generation server when its answer is there. */
    CONTEXT_FIRST,
    /**
     * Both at once, the generation server first: the context server waits for it to take its
     * blocks.
     */
    GENERATION_FIRST
  }

  /**
   * Whether a context server is needed, or the generation server computes what little it lacks
   * itself.
   *
   * @param matchLength matched tokens of the chosen generation server alone; blocks of other
   *     servers do not help it. Values above the length of the prompt count as that
   * @param promptTokens tokens of the prompt
   * @param maxLocalPrefillLength most tokens that a generation server computes itself
   * @return true if nothing is matched or too much is missing
   */
  public static boolean needsContext(
      long matchLength, long promptTokens, long maxLocalPrefillLength) {
    long missing = promptTokens - Math.min(matchLength, promptTokens);
    return matchLength == 0 || missing > maxLocalPrefillLength;
  }

  /**
   * The parameters of the context part.
   *
   * @param own the request's parameters, conversation included
   * @param disaggRequestId the id that both parts share
   * @return the parameters
   */
  public static DisaggParams contextParams(DisaggParams own, long disaggRequestId) {
    return new DisaggParams(
        RequestType.CONTEXT_ONLY,
        null,
        disaggRequestId,
        own.conversationId(),
        own.firstTurn(),
        own.others());
  }

  /**
   * Checks a context server's answer.
   *
   * @param choices the number of its choices
   * @param params the parameters of the first; null if there are none
   * @return the only choice's parameters
   * @throws IllegalArgumentException naming what is missing
   */
  public static DisaggParams verified(int choices, @Nullable DisaggParams params) {
    if (choices != 1) {
      throw new IllegalArgumentException(
          "context answer must have exactly 1 choice, not " + choices);
    }
    if (params == null) {
      throw new IllegalArgumentException("context answer must have disaggregated_params");
    }
    if (params.contextRequestId() == null || params.disaggRequestId() == null) {
      throw new IllegalArgumentException(
          "context answer must have ctx_request_id and disagg_request_id");
    }
    return params;
  }

  /**
   * Whether anything is left to generate.
   *
   * @param finishReason why the context server stopped; null if it does not say
   * @return false if the answer is complete
   */
  public static boolean needsGeneration(@Nullable String finishReason) {
    return finishReason != null && UNFINISHED.contains(finishReason);
  }

  /**
   * The parameters of the generation part after a verified context answer. The conversation is the
   * request's own, whatever the context server made of it.
   *
   * @param own the request's parameters
   * @param context the context server's
   * @return the parameters
   */
  public static DisaggParams generationParams(DisaggParams own, DisaggParams context) {
    return new DisaggParams(
        RequestType.GENERATION_ONLY,
        context.contextRequestId(),
        context.disaggRequestId(),
        own.conversationId(),
        own.firstTurn(),
        context.others());
  }

  /**
   * The parameters of the generation part when it is sent before any context answer.
   *
   * @param own the request's parameters
   * @param serverParams what the chosen context server says of itself, merged in; of a list of
   *     endpoints the first is taken
   * @param disaggRequestId the id that both parts share
   * @return the parameters
   */
  public static DisaggParams generationFirstParams(
      DisaggParams own, Map<String, ?> serverParams, long disaggRequestId) {
    Map<String, Object> others = new LinkedHashMap<>(own.others());
    serverParams.forEach(
        (key, value) ->
            others.put(
                key, value instanceof List<?> list && !list.isEmpty() ? list.get(0) : value));
    return new DisaggParams(
        RequestType.GENERATION_ONLY,
        null,
        disaggRequestId,
        own.conversationId(),
        own.firstTurn(),
        others);
  }
}
