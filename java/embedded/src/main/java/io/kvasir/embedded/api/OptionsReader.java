package io.kvasir.embedded.api;

import com.fasterxml.jackson.databind.JsonNode;
import io.kvasir.embedded.api.GenerationOptions.Placement;
import io.kvasir.exchange.EngineFlavor;
import io.kvasir.exchange.Headers;
import io.kvasir.model.CacheScope;
import io.kvasir.model.Errors;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Reads what requests of all endpoints have in common.
 *
 * <p>Sampling options such as {@code temperature} are only checked for their type. Options that
 * would change the form of the reply and are not supported are refused.
 *
 * <p>Immutable and thread-safe.
 */
public final class OptionsReader {

  private static final int MAX_CHOICES = 8;
  private static final int MAX_STOPS = 16;
  private static final double DEFAULT_PRIORITY = 0.5;

  private static final List<String> SESSION_HEADERS =
      List.of(EngineFlavor.SESSION_ID, "X-Correlation-ID");
  private static final String PARENT_HEADER = "X-TRTLLM-Subagent-Affinity-ID";

  /** Refused unless missing, false, 0, empty, or an object of type text. */
  private static final List<String> UNSUPPORTED =
      List.of(
          "logprobs",
          "top_logprobs",
          "prompt_logprobs",
          "echo",
          "suffix",
          "stop_token_ids",
          "include_stop_str_in_output",
          "response_format",
          "structured_outputs",
          "guided_json",
          "guided_regex",
          "guided_choice",
          "guided_grammar",
          "use_beam_search",
          "audio");

  private final String model;
  private final RankSteering steering;
  private final String limitation;

  /**
   * Creates it.
   *
   * @param model the name of the served model
   * @param steering finds the rank that a request names
   * @param limitation why options are refused, as the end of a message
   */
  public OptionsReader(String model, RankSteering steering, String limitation) {
    this.model = model;
    this.steering = steering;
    this.limitation = limitation;
  }

  /**
   * Checks that a request is for the served model; a request may leave it out.
   *
   * @throws ApiError if it names another model
   */
  public void requireModel(RequestFields fields) {
    String name = fields.text("model");
    if (name != null && !name.equals(model)) {
      throw modelNotFound(name);
    }
  }

  /** The error for a model that is not served. */
  static ApiError modelNotFound(String name) {
    return ApiError.of(
        ApiError.NOT_FOUND,
        "model_not_found",
        "The model `" + Errors.shown(name) + "` does not exist.");
  }

  /**
   * Reads the options.
   *
   * @param maxTokensFields names of the maximum of tokens; the first that is there counts
   * @param stopField name of the stop strings
   * @param firstTurn whether the request is known to start its conversation
   * @throws ApiError naming a field that is wrong, out of range or not supported
   */
  public GenerationOptions read(
      Incoming request,
      RequestFields fields,
      List<String> maxTokensFields,
      String stopField,
      boolean firstTurn) {
    requireModel(fields);
    UNSUPPORTED.forEach(field -> requireUnused(fields, field));
    fields.requireNumbers("temperature", "top_p", "top_k", "frequency_penalty", "presence_penalty");
    int maxTokens = 0;
    for (String name : maxTokensFields) {
      maxTokens = maxTokens > 0 ? maxTokens : fields.integer(name, 1, Integer.MAX_VALUE, 0);
    }
    int choices = fields.integer("n", 1, MAX_CHOICES, 1);
    fields.integer("best_of", choices, choices, choices);
    Long seed = fields.number("seed", Long.MIN_VALUE, Long.MAX_VALUE);
    return new GenerationOptions(
        maxTokens,
        fields.integer("min_tokens", 0, maxTokens > 0 ? maxTokens : Integer.MAX_VALUE, 0),
        fields.flag("ignore_eos", false),
        fields.texts(stopField, MAX_STOPS),
        choices,
        seed == null ? 0 : seed,
        placement(request, fields, firstTurn));
  }

  private Placement placement(Incoming request, RequestFields fields, boolean firstTurn) {
    String salt = fields.text("cache_salt");
    // As in vLLM, lower values are served first.
    Long priority = fields.number("priority", Integer.MIN_VALUE, Integer.MAX_VALUE);
    return new Placement(
        steering.rank(request, fields),
        conversationId(request.headers(), fields),
        subagentAffinityId(request.headers(), fields),
        firstTurn,
        salt,
        salt == null ? CacheScope.NONE : scope(salt),
        priority == null ? DEFAULT_PRIORITY : DEFAULT_PRIORITY - priority);
  }

  private static CacheScope scope(String salt) {
    try {
      return CacheScope.NONE.withSalt(salt);
    } catch (IllegalArgumentException e) {
      throw ApiError.invalid("cache_salt", "cache_salt must be well-formed Unicode");
    }
  }

  private static @Nullable String conversationId(Headers headers, RequestFields fields) {
    RequestFields params = fields.object("conversation_params");
    if (params != null) {
      String id = params.text("conversation_id");
      if (id == null || id.isBlank()) {
        throw params.missing("conversation_id");
      }
      return id.strip();
    }
    for (String name : SESSION_HEADERS) {
      String id = headers.get(name);
      if (id != null && !id.isBlank()) {
        return id.strip();
      }
    }
    return null;
  }

  private static @Nullable String subagentAffinityId(Headers headers, RequestFields fields) {
    RequestFields params = fields.object("conversation_params");
    String id = params == null ? null : params.text("subagent_affinity_id");
    if (id == null || id.isBlank()) {
      id = headers.get(PARENT_HEADER);
    }
    return id == null || id.isBlank() ? null : id.strip();
  }

  private void requireUnused(RequestFields fields, String name) {
    JsonNode value = fields.get(name);
    boolean unused =
        value == null
            || (value.isBoolean() && !value.booleanValue())
            || (value.isNumber() && value.doubleValue() == 0)
            || (value.isTextual() && value.textValue().isEmpty())
            || (value.isArray() && value.isEmpty())
            || value.path("type").asText().equals("text");
    if (!unused) {
      throw ApiError.unsupported(name, name + " is not supported: " + limitation);
    }
  }
}
