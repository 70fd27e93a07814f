package io.kvasir.gateway.embedded;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
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
    Fields fields = request.fields();
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
            : Words.tokens(chatPrompt(fields, messages));
    start(request, fields, true, List.of(prompt), "messages", asked);
  }

  /** The prompt of a chat. */
  static String chatPrompt(Fields fields, JsonNode messages) {
    return new ChatTemplate()
        .tools(fields.array("tools"))
        .messages("messages", messages)
        .toPrompt();
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

  private static void requireNoForcedTool(Fields fields) {
    JsonNode tool = fields.get("tool_choice");
    String name = tool == null ? "auto" : tool.asText();
    if (!name.equals("auto") && !name.equals("none")) {
      throw ApiError.unsupported(
          "tool_choice", "tool_choice must be auto or none: no tool is called");
    }
  }

  /** Answers a text completion. */
  void text(Incoming request) {
    Fields fields = request.fields();
    GenerationOptions asked = options.read(request, fields, TEXT_MAX_TOKENS, "stop", false);
    start(request, fields, false, prompts(fields), "prompt", asked);
  }

  /** The prompts: a text, texts, token ids, or lists of token ids. */
  private static List<int[]> prompts(Fields fields) {
    JsonNode prompt = fields.get("prompt");
    if (prompt == null) {
      throw fields.missing("prompt");
    }
    if (prompt.isTextual()) {
      return List.of(Words.tokens(prompt.textValue()));
    }
    String allowed = "a string, token ids, or an array of either";
    if (!prompt.isArray() || prompt.isEmpty()) {
      throw fields.wrong("prompt", allowed, prompt);
    }
    if (prompt.get(0).isNumber()) {
      return List.of(TokenIds.read(fields, "prompt"));
    }
    if (prompt.size() > MAX_PROMPTS) {
      throw ApiError.invalid(
          "prompt", "prompt must have at most " + MAX_PROMPTS + " prompts, not " + prompt.size());
    }
    List<int[]> prompts = new ArrayList<>();
    for (JsonNode each : prompt) {
      prompts.add(
          each.isTextual() ? Words.tokens(each.textValue()) : TokenIds.read("prompt", each));
    }
    return prompts;
  }

  private void start(
      Incoming request,
      Fields fields,
      boolean chat,
      List<int[]> prompts,
      String promptField,
      GenerationOptions asked) {
    boolean streamed = fields.flag("stream", false);
    Fields streamOptions = fields.object("stream_options");
    boolean usage = streamOptions != null && streamOptions.flag("include_usage", false);
    AnswerFormat format = new CompletionFormat(chat, model, usage);
    generator.start(request, format, streamed, prompts, promptField, asked);
  }
}
