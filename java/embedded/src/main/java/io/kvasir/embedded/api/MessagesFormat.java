package io.kvasir.embedded.api;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Replies of Anthropic's {@code /v1/messages}. As in Anthropic's API, {@code input_tokens} leaves
 * out the tokens that {@code cache_read_input_tokens} counts.
 *
 * <p>Confined to the request's event loop.
 */
final class MessagesFormat implements AnswerFormat {

  private final String model;
  private final String id = OpenAiJson.newId("msg_");
  private ReplyExtras extras = ReplyExtras.NONE;

  /**
   * Creates it.
   *
   * @param model the model's name
   */
  MessagesFormat(String model) {
    this.model = model;
  }

  @Override
  public void extend(ReplyExtras further) {
    extras = further;
  }

  @Override
  public JsonNode whole(List<ReplyChoice> choices) {
    ReplyChoice choice = choices.get(0);
    ObjectNode message = message(choice);
    message.putArray("content").addObject().put("type", "text").put("text", choice.text());
    message.set("usage", usage(choices));
    extras.addTo(message);
    return message;
  }

  /** A message without content and usage; of a choice that has ended, or null. */
  private ObjectNode message(@Nullable ReplyChoice ended) {
    ObjectNode message =
        Json.object()
            .put("id", id)
            .put("type", "message")
            .put("role", "assistant")
            .put("model", model);
    stop(message, ended);
    return message;
  }

  private static void stop(ObjectNode json, @Nullable ReplyChoice ended) {
    String stop = ended == null ? null : ended.stop();
    String reason = null;
    if (ended != null) {
      reason = !ended.complete() ? "max_tokens" : stop != null ? "stop_sequence" : "end_turn";
    }
    json.put("stop_reason", reason).put("stop_sequence", stop);
  }

  private static ObjectNode usage(List<ReplyChoice> choices) {
    ReplyChoice.Usage usage = ReplyChoice.usage(choices);
    return Json.object()
        .put("input_tokens", usage.prompt() - usage.cached())
        .put("cache_creation_input_tokens", 0)
        .put("cache_read_input_tokens", usage.cached())
        .put("output_tokens", usage.output());
  }

  private static ObjectNode event(String type) {
    return Json.object().put("type", type);
  }

  private static void send(EventStream out, ObjectNode event) {
    out.event(event.path("type").asText(), event);
  }

  @Override
  public void begin(EventStream out, List<ReplyChoice> choices) {
    ObjectNode start = event("message_start");
    ObjectNode message = message(null);
    message.putArray("content");
    message.set("usage", usage(choices));
    start.set("message", message);
    send(out, start);
    ObjectNode block = event("content_block_start").put("index", 0);
    block.putObject("content_block").put("type", "text").put("text", "");
    send(out, block);
  }

  @Override
  public void piece(EventStream out, ReplyChoice choice, String text) {
    ObjectNode delta = event("content_block_delta").put("index", 0);
    delta.putObject("delta").put("type", "text_delta").put("text", text);
    send(out, delta);
  }

  @Override
  public void finish(EventStream out, ReplyChoice choice) {
    send(out, event("content_block_stop").put("index", 0));
    ObjectNode delta = event("message_delta");
    stop(delta.putObject("delta"), choice);
    delta.set("usage", usage(List.of(choice)));
    extras.addTo(delta);
    send(out, delta);
  }

  @Override
  public void end(EventStream out, List<ReplyChoice> choices) {
    send(out, event("message_stop"));
  }

  @Override
  public JsonNode error(ApiError error) {
    return errorJson(error);
  }

  /** An error in Anthropic's form. */
  static ObjectNode errorJson(ApiError error) {
    ObjectNode root = event("error");
    root.putObject("error").put("type", error.anthropicType()).put("message", error.getMessage());
    return root;
  }

  @Override
  public void error(EventStream out, ApiError error) {
    send(out, errorJson(error));
  }
}
