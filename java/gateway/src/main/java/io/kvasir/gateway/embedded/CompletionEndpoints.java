package io.kvasir.gateway.embedded;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.List;

/**
 * {@code POST /v1/chat/completions} and {@code POST /v1/completions}.
 *
 * <p>Thread-safe.
 */
final class CompletionEndpoints {

  private static final int MAX_PROMPTS = 64;
  private static final List<String> CHAT_MAX_TOKENS =
      List.of("max_completion_tokens", "max_tokens");
  private static final List<String> TEXT_MAX_TOKENS = List.of("max_tokens");

  private final String model;
  private final OptionsReader options;
  private final Generator generator;

  CompletionEndpoints(EmbeddedSettings settings, OptionsReader options, Generator generator) {
    this.model = settings.model();
    this.options = options;
    this.generator = generator;
  }

  /** Answers a chat completion. */
  void chat(Incoming request) {
    RequestFields fields = request.fields();
    JsonNode messages = fields.array("messages");
    if (messages == null) {
      throw fields.missing("messages");
    }
    requireNoForcedTool(fields);
    GenerationOptions asked =
        options.read(request, fields, CHAT_MAX_TOKENS, "stop", isFirstTurn(messages));
    int[] prompt =
        fields.has("prompt_token_ids")
            ? TokenIds.read(fields, "prompt_token_ids")
            : WordVocabulary.tokens(template(fields, messages).toPrompt());
    start(request, fields, true, List.of(prompt), "messages", asked);
  }

  /** The conversation of a chat. */
  static ChatTemplate template(RequestFields fields, JsonNode messages) {
    return new ChatTemplate().tools(fields.array("tools")).messages("messages", messages);
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
    start(
        request,
        fields,
        false,
        PromptLists.read(fields, "prompt", MAX_PROMPTS, WordVocabulary::tokens),
        "prompt",
        asked);
  }

  /** Adds the endpoints. */
  void addTo(Routes routes) {
    routes
        .add("POST", "/v1/chat/completions", this::chat)
        .add("POST", "/v1/completions", this::text);
  }

  private void start(
      Incoming request,
      RequestFields fields,
      boolean chat,
      List<int[]> prompts,
      String promptField,
      GenerationOptions asked) {
    boolean streamed = fields.flag("stream", false);
    RequestFields streamOptions = fields.object("stream_options");
    boolean usage = streamOptions != null && streamOptions.flag("include_usage", false);
    AnswerFormat format = new CompletionFormat(chat, model, usage);
    generator.start(request, format, streamed, prompts, promptField, asked);
  }
}
