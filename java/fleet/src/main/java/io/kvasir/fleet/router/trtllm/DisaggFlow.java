package io.kvasir.fleet.router.trtllm;

import io.kvasir.fleet.router.Prompt;
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

  /** The first token, the context id of a benchmark that only generates. */
  private static final int BENCHMARK_FIRST_TOKEN = 7;

  private static final long BENCHMARK_CONTEXT_ID = 1;
  private static final Set<String> UNFINISHED = Set.of("length", "not_finished");

  private DisaggFlow() {}

  /** Which server is asked first ({@code schedule_style}). */
  public enum Style {
    /** The context server; the generation server when its answer is there. */
    CONTEXT_FIRST,
    /** Both at once. */
    GENERATION_FIRST
  }

  /** One thing to do. */
  public enum Step {
    /** Send the context part. */
    SEND_CONTEXT,
    /** Wait for the context server's answer and verify it. */
    AWAIT_CONTEXT,
    /** Send the generation part; a stream is opened now, not when it is first read. */
    START_GENERATION
  }

  /**
   * What to do in which order. With generation first, the generation must have been started before
   * the context is awaited: the context server waits for the generation server to take its blocks.
   *
   * @param style which server is asked first
   * @return the steps
   */
  public static List<Step> steps(Style style) {
    return switch (style) {
      case CONTEXT_FIRST -> List.of(Step.SEND_CONTEXT, Step.AWAIT_CONTEXT, Step.START_GENERATION);
      case GENERATION_FIRST ->
          List.of(Step.START_GENERATION, Step.SEND_CONTEXT, Step.AWAIT_CONTEXT);
    };
  }

  /**
   * Whether a context server is needed, or the generation server computes what little it lacks
   * itself.
   *
   * @param matchLength matched tokens of the chosen generation server alone; what others hold does
   *     not help it. More than the prompt counts as the prompt
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
   * Refuses requests while there are not enough servers.
   *
   * @param ready whether the cluster is ready
   * @throws IllegalStateException if it is not
   */
  public static void requireReady(boolean ready) {
    if (!ready) {
      throw new IllegalStateException("cluster is not ready: a context or generation server lacks");
    }
  }

  /**
   * The one prompt of a completion.
   *
   * @param prompt the prompt
   * @return the same, if it is chat messages, one text or one token sequence
   * @throws IllegalArgumentException if it is several, or none
   */
  public static Prompt requireSingle(Prompt prompt) {
    int count = 1;
    if (prompt instanceof Prompt.Texts texts) {
      count = texts.texts().size();
    } else if (prompt instanceof Prompt.Tokens tokens) {
      count = tokens.sequences().size();
    }
    if (count != 1) {
      throw new IllegalArgumentException(
          "prompt must be one text, one list of token ids, or a list of one of them; not a list of "
              + count);
    }
    return prompt;
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
   * @param answer the answer
   * @return the only choice's parameters
   * @throws IllegalArgumentException naming what is missing
   */
  public static DisaggParams verified(ContextAnswer answer) {
    if (answer.choices().size() != 1) {
      throw new IllegalArgumentException(
          "context answer must have exactly 1 choice, not " + answer.choices().size());
    }
    DisaggParams params = answer.choices().get(0).params();
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
   * The prompt of the generation part: the context server's tokens, so that it is tokenised once.
   *
   * @param own the request's prompt
   * @param answer the context server's answer
   * @return the prompt
   */
  public static Prompt generationPrompt(Prompt own, ContextAnswer answer) {
    return answer.promptTokenIds() == null ? own : Prompt.of(answer.promptTokenIds());
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

  /**
   * The parameters of a request that goes to the generation server alone: what would make it a
   * context request is cleared, its conversation stays.
   *
   * @param own the request's parameters
   * @return the parameters
   */
  public static DisaggParams withoutContext(DisaggParams own) {
    return new DisaggParams(null, null, null, own.conversationId(), own.firstTurn(), Map.of());
  }

  /**
   * The parameters of a benchmark that only generates ({@code TRTLLM_DISAGG_BENCHMARK_GEN_ONLY=1}):
   * no context server is asked, and the end-of-sequence token is to be ignored.
   *
   * @param own the request's parameters
   * @return the parameters
   */
  public static DisaggParams benchmarkParams(DisaggParams own) {
    Map<String, Object> others = new LinkedHashMap<>(own.others());
    others.put("first_gen_tokens", List.of(BENCHMARK_FIRST_TOKEN));
    return new DisaggParams(
        RequestType.GENERATION_ONLY,
        BENCHMARK_CONTEXT_ID,
        BENCHMARK_CONTEXT_ID,
        own.conversationId(),
        own.firstTurn(),
        others);
  }
}
