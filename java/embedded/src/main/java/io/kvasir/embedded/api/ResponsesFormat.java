package io.kvasir.embedded.api;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.List;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Replies of {@code /v1/responses}. A stream ends with {@code response.completed}, or with {@code
 * response.incomplete} if the answer reached its maximum of tokens.
 *
 * <p>Confined to the request's event loop.
 */
final class ResponsesFormat implements AnswerFormat {

  private final ObjectNode base;
  private final BiConsumer<ObjectNode, ObjectNode> onDone;
  private final String itemId = OpenAiJson.newId("msg_");
  private int sequenceNumber;
  private ReplyExtras extras = ReplyExtras.NONE;

  /**
   * Creates it.
   *
   * @param base the response's constant fields, with its id
   * @param onDone receives the complete response and its output item
   */
  ResponsesFormat(ObjectNode base, BiConsumer<ObjectNode, ObjectNode> onDone) {
    this.base = base;
    this.onDone = onDone;
  }

  @Override
  public void extend(ReplyExtras further) {
    extras = further;
  }

  @Override
  public JsonNode whole(List<ReplyChoice> choices) {
    ObjectNode item = item(choices.get(0));
    ObjectNode response = response(choices, item);
    onDone.accept(response, item);
    return response;
  }

  private static String status(ReplyChoice choice) {
    return choice.complete() ? "completed" : "incomplete";
  }

  /** The response once it is complete. */
  private ObjectNode response(List<ReplyChoice> choices, ObjectNode item) {
    ReplyChoice choice = choices.get(0);
    ObjectNode response = base.deepCopy().put("status", status(choice));
    if (!choice.complete()) {
      response.putObject("incomplete_details").put("reason", "max_output_tokens");
    }
    response.putArray("output").add(item);
    response.set("usage", usage(ReplyChoice.usage(choices)));
    extras.addTo(response);
    return response;
  }

  private static ObjectNode usage(ReplyChoice.Usage usage) {
    ObjectNode root = Json.object().put("input_tokens", usage.prompt());
    root.putObject("input_tokens_details").put("cached_tokens", usage.cached());
    root.put("output_tokens", usage.output());
    root.putObject("output_tokens_details").put("reasoning_tokens", 0);
    return root.put("total_tokens", usage.total());
  }

  /** The output item; without a choice it has no content yet. */
  private ObjectNode item(@Nullable ReplyChoice ended) {
    ObjectNode item =
        Json.object()
            .put("id", itemId)
            .put("type", "message")
            .put("role", "assistant")
            .put("status", ended == null ? "in_progress" : status(ended));
    var content = item.putArray("content");
    if (ended != null) {
      content.add(part(ended.text()));
    }
    return item;
  }

  private static ObjectNode part(String text) {
    ObjectNode part = Json.object().put("type", "output_text").put("text", text);
    part.putArray("annotations");
    return part;
  }

  private ObjectNode event(String type) {
    return Json.object().put("type", type).put("sequence_number", sequenceNumber++);
  }

  private ObjectNode itemEvent(String type) {
    return event(type).put("output_index", 0);
  }

  private ObjectNode partEvent(String type) {
    return itemEvent(type).put("item_id", itemId).put("content_index", 0);
  }

  private static void send(EventStream out, ObjectNode event) {
    out.event(event.path("type").asText(), event);
  }

  private static ObjectNode with(ObjectNode event, String name, JsonNode value) {
    event.set(name, value);
    return event;
  }

  @Override
  public void begin(EventStream out, List<ReplyChoice> choices) {
    ObjectNode response = base.deepCopy().put("status", "in_progress");
    response.putArray("output");
    response.putNull("usage");
    send(out, with(event("response.created"), "response", response));
    send(out, with(event("response.in_progress"), "response", response));
    send(out, with(itemEvent("response.output_item.added"), "item", item(null)));
    send(out, with(partEvent("response.content_part.added"), "part", part("")));
  }

  @Override
  public void piece(EventStream out, ReplyChoice choice, String text) {
    ObjectNode event = partEvent("response.output_text.delta").put("delta", text);
    event.putArray("logprobs");
    send(out, event);
  }

  @Override
  public void finish(EventStream out, ReplyChoice choice) {
    ObjectNode text = partEvent("response.output_text.done").put("text", choice.text());
    text.putArray("logprobs");
    send(out, text);
    send(out, with(partEvent("response.content_part.done"), "part", part(choice.text())));
    send(out, with(itemEvent("response.output_item.done"), "item", item(choice)));
  }

  @Override
  public void end(EventStream out, List<ReplyChoice> choices) {
    ObjectNode item = item(choices.get(0));
    ObjectNode response = response(choices, item);
    onDone.accept(response, item);
    send(out, with(event("response." + status(choices.get(0))), "response", response));
  }

  @Override
  public JsonNode error(ApiError error) {
    return OpenAiJson.error(error);
  }

  @Override
  public void error(EventStream out, ApiError error) {
    send(
        out,
        event("error")
            .put("code", error.code())
            .put("message", error.getMessage())
            .put("param", error.param()));
  }
}
