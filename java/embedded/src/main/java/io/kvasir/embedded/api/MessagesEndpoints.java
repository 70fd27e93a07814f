package io.kvasir.embedded.api;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.List;

/**
 * Anthropic's {@code POST /v1/messages} and {@code POST /v1/messages/count_tokens}. {@code system}
 * is rendered as a first message of that role.
 *
 * <p>Thread-safe.
 */
public final class MessagesEndpoints {

  /** What all paths of these endpoints start with; their errors have Anthropic's form. */
  static final String PATH = "/v1/messages";

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
    if (!fields.has("max_tokens")) {
      throw fields.missing("max_tokens");
    }
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

  private int[] prompt(RequestFields fields, JsonNode messages) {
    Conversation conversation =
        new Conversation(fields, fields.get("system"), Conversation.MESSAGES, messages);
    return model.chatTokens(conversation);
  }

  /** Adds the endpoints. */
  public void addTo(Routes routes) {
    routes.add("POST", PATH, this::create).add("POST", PATH + "/count_tokens", this::count);
  }
}
