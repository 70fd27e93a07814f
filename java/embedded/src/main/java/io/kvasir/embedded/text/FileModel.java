package io.kvasir.embedded.text;

import com.fasterxml.jackson.databind.JsonNode;
import io.kvasir.embedded.api.AnswerCall;
import io.kvasir.embedded.api.ApiError;
import io.kvasir.embedded.api.AskedCompletion;
import io.kvasir.embedded.api.ChatTemplate;
import io.kvasir.embedded.api.Conversation;
import io.kvasir.embedded.api.GenerationOptions;
import io.kvasir.embedded.api.Incoming;
import io.kvasir.embedded.api.ReplyChoice;
import io.kvasir.embedded.api.RequestFields;
import io.kvasir.embedded.api.ServedModel;
import io.kvasir.embedded.text.TextModel.ChatMessage;
import io.kvasir.embedded.text.TextRequest.Sampling;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A {@link TextModel} as endpoints see it. A request is tokenised on its event loop. */
final class FileModel implements ServedModel {

  private static final int DEFAULT_TEXT_TOKENS = 16;
  private static final double MAX_TEMPERATURE = 100;
  private static final double LEAST_TOP_P = 1e-6;
  private static final double MAX_PENALTY = 2;

  private final TextModel model;
  private final TextLoop loop;
  private final int maxSequences;

  FileModel(TextModel model, TextLoop loop, int maxSequences) {
    this.model = model;
    this.loop = loop;
    this.maxSequences = maxSequences;
  }

  @Override
  public String name() {
    return model.name();
  }

  @Override
  public int maxModelLen() {
    return model.maxModelLen();
  }

  @Override
  public @Nullable ApiError unavailable() {
    return loop.isLive()
        ? null
        : ApiError.of(ApiError.UNAVAILABLE, "no_model", "the model has failed");
  }

  @Override
  public String metrics() {
    return loop.meters().text(model.name());
  }

  @Override
  public int[] tokens(String text) {
    return model.tokens(text);
  }

  @Override
  public String text(String field, int[] tokens) {
    requireVocabulary(field, tokens);
    return model.text(tokens);
  }

  @Override
  public String tokenText(int token) {
    return model.text(new int[] {token});
  }

  /** Contents must be texts or parts that are texts. */
  @Override
  public String chatPrompt(Conversation conversation, boolean withAnswer) {
    List<ChatMessage> messages = new ArrayList<>();
    if (conversation.system() != null) {
      messages.add(new ChatMessage("system", content("system", conversation.system())));
    }
    for (int i = 0; i < conversation.messages().size(); i++) {
      messages.add(message(conversation.path(i), conversation.messages().get(i)));
    }
    return model.chatPrompt(messages, withAnswer);
  }

  private static ChatMessage message(String path, JsonNode message) {
    JsonNode role = message.get("role");
    if (role == null || !role.isTextual() || role.textValue().isBlank()) {
      throw ApiError.invalid(
          path + ".role", path + " must be an object with a role that is a text");
    }
    return new ChatMessage(role.textValue(), content(path + ".content", message.path("content")));
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
      if (!ChatTemplate.isText(part.path("type").asText()) || !part.path("text").isTextual()) {
        throw ApiError.unsupported(path, path + " may only have parts of type text");
      }
      text.append(part.path("text").textValue());
    }
    return text.toString();
  }

  @Override
  public void complete(Incoming request, AskedCompletion asked) {
    GenerationOptions options = asked.options();
    JsonNode tools = asked.chat() ? asked.fields().array("tools") : null;
    if (tools != null && !tools.isEmpty()) {
      throw ApiError.unsupported("tools", "tools are not supported for a model in a file");
    }
    if (options.minTokens() > 0) {
      throw ApiError.unsupported("min_tokens", "min_tokens is not supported; use ignore_eos");
    }
    Sampling sampling = sampling(asked.fields(), options);
    boolean streamed = asked.streamed();
    List<Integer> most = new ArrayList<>();
    for (int[] prompt : asked.prompts()) {
      most.add(maxTokens(prompt, asked.promptField(), options.maxTokens(), asked.chat()));
    }
    reserve(most.size() * options.choices());
    List<ReplyChoice> choices = new ArrayList<>();
    List<GrowingAnswer> answers = new ArrayList<>();
    List<TextRequest> requests = new ArrayList<>();
    for (int i = 0; i < most.size(); i++) {
      int[] prompt = asked.prompts().get(i);
      for (int choice = 0; choice < options.choices(); choice++) {
        GrowingAnswer answer = new GrowingAnswer();
        answers.add(answer);
        choices.add(new ReplyChoice(choices.size(), choice == 0, prompt.length, answer));
        requests.add(new TextRequest(prompt, most.get(i), sampling.forChoice(choice)));
      }
    }
    List<TextSequence> sequences = new ArrayList<>();
    AnswerCall call =
        new AnswerCall(request, asked.format(), streamed, choices, () -> loop.cancel(sequences));
    for (int i = 0; i < choices.size(); i++) {
      sequences.add(new TextSequence(requests.get(i), answers.get(i), call, i));
    }
    loop.submit(sequences);
  }

  private void reserve(int sequences) {
    ApiError unavailable = unavailable();
    if (unavailable != null) {
      throw unavailable;
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
    requireVocabulary(promptField, prompt);
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

  /**
   * Checks token ids.
   *
   * @throws ApiError if one is not in the vocabulary
   */
  private void requireVocabulary(String field, int[] tokens) {
    for (int token : tokens) {
      if (token >= model.vocabularySize()) {
        throw ApiError.invalid(
            field,
            field
                + " must have token ids from 0 to "
                + (model.vocabularySize() - 1)
                + ", not "
                + token);
      }
    }
  }
}
