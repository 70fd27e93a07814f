package io.kvasir.gateway.embedded;

import com.fasterxml.jackson.databind.JsonNode;
import io.kvasir.gateway.embedded.TextModel.ChatMessage;
import io.kvasir.gateway.embedded.TextRequest.Sampling;
import java.util.ArrayList;
import java.util.List;

/**
 * {@code POST /v1/chat/completions} and {@code POST /v1/completions} of a {@link TextModel}.
 *
 * <p>Thread-safe. A request is tokenised on its event loop.
 */
final class TextEndpoints {

  private static final int MAX_PROMPTS = 64;
  private static final int DEFAULT_TEXT_TOKENS = 16;
  private static final double MAX_TEMPERATURE = 100;
  private static final double LEAST_TOP_P = 1e-6;
  private static final double MAX_PENALTY = 2;
  private static final List<String> CHAT_MAX_TOKENS =
      List.of("max_completion_tokens", "max_tokens");
  private static final List<String> TEXT_MAX_TOKENS = List.of("max_tokens");

  private final TextModel model;
  private final OptionsReader options;
  private final TextLoop loop;
  private final int maxSequences;

  TextEndpoints(TextModel model, OptionsReader options, TextLoop loop, int maxSequences) {
    this.model = model;
    this.options = options;
    this.loop = loop;
    this.maxSequences = maxSequences;
  }

  /** Answers a chat completion. */
  void chat(Incoming request) {
    RequestFields fields = request.fields();
    JsonNode messages = fields.array("messages");
    if (messages == null) {
      throw fields.missing("messages");
    }
    JsonNode tools = fields.array("tools");
    if (tools != null && !tools.isEmpty()) {
      throw ApiError.unsupported("tools", "tools are not supported for a model in a file");
    }
    int[] prompt =
        fields.has("prompt_token_ids")
            ? TokenIds.read(fields, "prompt_token_ids")
            : model.tokens(model.chatPrompt(messages(messages), true));
    start(request, fields, true, CHAT_MAX_TOKENS, List.of(prompt), "messages");
  }

  /** The messages of a conversation, whose contents must be texts or parts that are texts. */
  static List<ChatMessage> messages(JsonNode messages) {
    List<ChatMessage> read = new ArrayList<>();
    for (int i = 0; i < messages.size(); i++) {
      String path = "messages[" + i + "]";
      JsonNode role = messages.get(i).get("role");
      if (role == null || !role.isTextual() || role.textValue().isBlank()) {
        throw ApiError.invalid(
            path + ".role", path + " must be an object with a role that is a text");
      }
      String content = content(path + ".content", messages.get(i).path("content"));
      read.add(new ChatMessage(role.textValue(), content));
    }
    return read;
  }

  private static String content(String path, JsonNode content) {
    if (content.isNull() || content.isMissingNode()) {
      return "";
    }
    if (content.isTextual()) {
      return content.textValue();
    }
    if (!content.isArray()) {
      throw RequestFields.wrongValue(path, "a string or an array of parts", content);
    }
    StringBuilder text = new StringBuilder();
    for (JsonNode part : content) {
      if (!part.path("type").asText().equals("text") || !part.path("text").isTextual()) {
        throw ApiError.unsupported(path, path + " may only have parts of type text");
      }
      text.append(part.path("text").textValue());
    }
    return text.toString();
  }

  /** Answers a text completion. */
  void text(Incoming request) {
    RequestFields fields = request.fields();
    List<int[]> prompts = PromptLists.read(fields, "prompt", MAX_PROMPTS, model::tokens);
    start(request, fields, false, TEXT_MAX_TOKENS, prompts, "prompt");
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
      List<String> maxTokensFields,
      List<int[]> prompts,
      String promptField) {
    GenerationOptions asked = options.read(request, fields, maxTokensFields, "stop", false);
    if (asked.minTokens() > 0) {
      throw ApiError.unsupported("min_tokens", "min_tokens is not supported; use ignore_eos");
    }
    Sampling sampling = sampling(fields, asked);
    boolean streamed = fields.flag("stream", false);
    RequestFields streamOptions = fields.object("stream_options");
    boolean usage = streamOptions != null && streamOptions.flag("include_usage", false);
    List<Integer> most = new ArrayList<>();
    for (int[] prompt : prompts) {
      most.add(maxTokens(prompt, promptField, asked.maxTokens(), chat));
    }
    reserve(prompts.size() * asked.choices());
    List<ReplyChoice> choices = new ArrayList<>();
    List<GrowingAnswer> answers = new ArrayList<>();
    List<TextRequest> requests = new ArrayList<>();
    for (int i = 0; i < prompts.size(); i++) {
      int[] prompt = prompts.get(i);
      for (int choice = 0; choice < asked.choices(); choice++) {
        GrowingAnswer answer = new GrowingAnswer();
        answers.add(answer);
        choices.add(new ReplyChoice(choices.size(), choice == 0, prompt.length, answer));
        requests.add(new TextRequest(prompt, most.get(i), sampling.forChoice(choice)));
      }
    }
    List<TextSequence> sequences = new ArrayList<>();
    AnswerCall call =
        new AnswerCall(
            request,
            new CompletionFormat(chat, model.name(), usage),
            streamed,
            choices,
            () -> loop.cancel(sequences));
    for (int i = 0; i < choices.size(); i++) {
      sequences.add(new TextSequence(requests.get(i), answers.get(i), call, i));
    }
    loop.submit(sequences);
  }

  private void reserve(int sequences) {
    if (!loop.isLive()) {
      throw ApiError.of(ApiError.UNAVAILABLE, "no_model", "the model has failed");
    }
    if (!loop.reserve(sequences)) {
      throw ApiError.of(
          ApiError.TOO_MANY,
          "queue_full",
          "at most " + maxSequences + " sequences may wait and run together");
    }
  }

  private static Sampling sampling(RequestFields fields, GenerationOptions asked) {
    Long topK = fields.number("top_k", -1, Integer.MAX_VALUE);
    Long seed = fields.number("seed", Long.MIN_VALUE, Long.MAX_VALUE);
    return new Sampling(
        fields.decimal("temperature", 0, MAX_TEMPERATURE),
        fields.decimal("top_p", LEAST_TOP_P, 1),
        topK == null ? null : Math.max(0, topK.intValue()),
        fields.decimal("min_p", 0, 1),
        fields.decimal("frequency_penalty", -MAX_PENALTY, MAX_PENALTY),
        fields.decimal("presence_penalty", -MAX_PENALTY, MAX_PENALTY),
        seed == null ? null : seed & 0xffff_ffffL,
        asked.ignoreEos(),
        asked.stops());
  }

  /** The most tokens that an answer may have. */
  private int maxTokens(int[] prompt, String promptField, int asked, boolean chat) {
    if (prompt.length == 0) {
      throw ApiError.invalid(promptField, promptField + " must have at least one token");
    }
    TextInfoEndpoints.requireVocabulary(model, promptField, prompt);
    int limit = model.maxModelLen();
    int room = limit - prompt.length;
    int most = asked > 0 ? asked : chat ? room : Math.min(DEFAULT_TEXT_TOKENS, room);
    if (most < 1 || most > room) {
      throw ApiError.tooLong(
          promptField,
          "This model's maximum context length is "
              + limit
              + " tokens. However, the request has "
              + (prompt.length + (long) Math.max(most, 1))
              + " tokens: "
              + prompt.length
              + " in the prompt and "
              + Math.max(most, 1)
              + " for the answer.");
    }
    return most;
  }
}
