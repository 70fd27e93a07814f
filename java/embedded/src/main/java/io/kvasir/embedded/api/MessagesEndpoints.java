package io.kvasir.embedded.api;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Anthropic's {@code POST /v1/messages} and {@code POST /v1/messages/count_tokens}. {@code system}
 * is rendered as a first message of that role.
 *
 * <p>Thread-safe.
 */
public final class MessagesEndpoints {

  /** What all paths of these endpoints start with; their errors have Anthropic's form. */
  static final String PATH = "/v1/messages";

  private static final String BILLING = "x-anthropic-billing-header";

  private static final List<String> MAX_TOKENS = List.of("max_tokens");

  private final ServedModel model;
  private final OptionsReader options;

  /**
   * Creates the endpoints.
   *
   * @param model the model
   * @param options reads what requests have in common
   */
  public MessagesEndpoints(ServedModel model, OptionsReader options) {
    this.model = model;
    this.options = options;
  }

  /** Answers a conversation. */
  void create(Incoming request) {
    RequestFields fields = request.fields();
    JsonNode messages = messages(fields);
    requireMaxTokens(fields);
    RequestFields tool = fields.object("tool_choice");
    String choice = tool == null ? "auto" : String.valueOf(tool.text("type"));
    if (!choice.equals("auto") && !choice.equals("none")) {
      throw ApiError.unsupported(
          "tool_choice", "tool_choice must have type auto or none: no tool is called");
    }
    GenerationOptions asked =
        options
            .read(
                request,
                fields,
                MAX_TOKENS,
                "stop_sequences",
                CompletionEndpoints.isFirstTurn(messages))
            .requireOneChoice();
    AnswerFormat format = new MessagesFormat(model.name());
    List<int[]> prompts = List.of(prompt(fields, messages));
    model.complete(
        request, new AskedCompletion(fields, Conversation.MESSAGES, format, prompts, asked));
  }

  private static void requireMaxTokens(RequestFields fields) {
    if (!fields.has("max_tokens")) {
      throw fields.missing("max_tokens");
    }
  }

  /** Counts the tokens of a conversation's prompt. */
  void count(Incoming request) {
    RequestFields fields = request.fields();
    options.requireModel(fields);
    int tokens = prompt(fields, messages(fields)).length;
    request.replyLater(200, Json.object().put("input_tokens", tokens));
  }

  private static JsonNode messages(RequestFields fields) {
    JsonNode messages = fields.array("messages");
    if (messages == null) {
      throw fields.missing("messages");
    }
    return messages;
  }

  /** The tokens of a request's conversation. */
  int[] prompt(RequestFields fields) {
    requireMaxTokens(fields);
    return prompt(fields, messages(fields));
  }

  private int[] prompt(RequestFields fields, JsonNode messages) {
    JsonNode system = withoutBilling(fields.get("system"));
    Conversation conversation = new Conversation(fields, system, Conversation.MESSAGES, messages);
    return model.chatTokens(conversation);
  }

  /**
   * Drops the texts that Claude Code writes for its own bills, which differ with each request: as
   * vLLM does, so that they do not end all matches.
   */
  private static @Nullable JsonNode withoutBilling(@Nullable JsonNode system) {
    if (system == null || !system.isArray()) {
      return system;
    }
    ArrayNode kept = Json.array();
    for (JsonNode part : system) {
      if (!part.path("text").asText().startsWith(BILLING)) {
        kept.add(part);
      }
    }
    return kept.isEmpty() ? null : kept;
  }

  /** Adds the endpoints. */
  public void addTo(Routes routes) {
    routes.add("POST", PATH, this::create).add("POST", PATH + "/count_tokens", this::count);
  }
}
