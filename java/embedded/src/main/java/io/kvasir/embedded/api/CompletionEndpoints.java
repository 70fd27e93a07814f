package io.kvasir.embedded.api;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.List;

/**
 * {@code POST /v1/chat/completions} and {@code POST /v1/completions}.
 *
 * <p>Thread-safe.
 */
public final class CompletionEndpoints {

  /** The path of chats. */
  static final String CHAT_PATH = "/v1/chat/completions";

  /** The path of texts. */
  static final String TEXT_PATH = "/v1/completions";

  private static final int MAX_PROMPTS = 64;
  private static final List<String> CHAT_MAX_TOKENS =
      List.of("max_completion_tokens", "max_tokens");
  private static final List<String> TEXT_MAX_TOKENS = List.of("max_tokens");

  private final ServedModel model;
  private final OptionsReader options;
  private final List<String> chatTokenFields;

  /**
   * Creates them.
   *
   * @param chatTokenFields fields of a chat that may have its tokens, in the place of its messages
   */
  public CompletionEndpoints(
      ServedModel model, OptionsReader options, List<String> chatTokenFields) {
    this.model = model;
    this.options = options;
    this.chatTokenFields = chatTokenFields;
  }

  /** Answers a chat completion. */
  void chat(Incoming request) {
    RequestFields fields = request.fields();
    JsonNode messages = messages(fields);
    requireNoForcedTool(fields);
    GenerationOptions asked =
        options.read(request, fields, CHAT_MAX_TOKENS, "stop", isFirstTurn(messages));
    complete(request, fields, Conversation.MESSAGES, List.of(chatTokens(fields, messages)), asked);
  }

  private static JsonNode messages(RequestFields fields) {
    JsonNode messages = fields.array("messages");
    if (messages == null) {
      throw fields.missing("messages");
    }
    return messages;
  }

  /** The tokens of a chat. */
  int[] chatPrompt(RequestFields fields) {
    return chatTokens(fields, messages(fields));
  }

  /** The tokens of the prompts of a text completion. */
  List<int[]> textPrompts(RequestFields fields) {
    return PromptLists.read(fields, AskedCompletion.PROMPT, MAX_PROMPTS, model::tokens);
  }

  /** The tokens that a chat brings, or else those of its messages. */
  private int[] chatTokens(RequestFields fields, JsonNode messages) {
    for (String name : chatTokenFields) {
      if (fields.has(name)) {
        return TokenIds.read(fields, name);
      }
    }
    return model.chatTokens(Conversation.of(fields, messages));
  }

  /** Whether a conversation has no answer yet. */
  static boolean isFirstTurn(JsonNode messages) {
    for (JsonNode message : messages) {
      if (message.path("role").asText().equals("assistant")) {
        return false;
      }
    }
    return true;
  }

  private static void requireNoForcedTool(RequestFields fields) {
    JsonNode tool = fields.get("tool_choice");
    String name = tool == null ? "auto" : tool.asText();
    if (!name.equals("auto") && !name.equals("none")) {
      throw ApiError.unsupported(
          "tool_choice", "tool_choice must be auto or none: no tool is called");
    }
  }

  /** Answers a text completion. */
  void text(Incoming request) {
    RequestFields fields = request.fields();
    GenerationOptions asked = options.read(request, fields, TEXT_MAX_TOKENS, "stop", false);
    List<int[]> prompts = textPrompts(fields);
    complete(request, fields, AskedCompletion.PROMPT, prompts, asked);
  }

  private void complete(
      Incoming request,
      RequestFields fields,
      String promptField,
      List<int[]> prompts,
      GenerationOptions asked) {
    RequestFields streamOptions = fields.object("stream_options");
    boolean usage = streamOptions != null && streamOptions.flag("include_usage", false);
    boolean chat = AskedCompletion.isChat(promptField);
    AnswerFormat format = new CompletionFormat(chat, model.name(), usage);
    model.complete(request, new AskedCompletion(fields, promptField, format, prompts, asked));
  }

  /** Adds the endpoints. */
  public void addTo(Routes routes) {
    routes.add("POST", CHAT_PATH, this::chat).add("POST", TEXT_PATH, this::text);
  }
}
