package io.kvasir.embedded.api;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Replies of {@code /v1/chat/completions} and {@code /v1/completions}.
 *
 * <p>Confined to the request's event loop.
 */
final class CompletionFormat implements AnswerFormat {

  private final boolean chat;
  private final boolean includeUsage;
  private final String model;
  private final String id;
  private final long created = OpenAiJson.nowSeconds();
  private ReplyExtras extras = ReplyExtras.NONE;

  /** The chunk of a token, around the number of its choice and its text. */
  private final String chunkHead;

  private final String chunkMiddle;
  private final String chunkTail;

  /**
   * Creates it.
   *
   * @param chat whether it is a chat completion
   * @param model the model's name
   * @param includeUsage whether a stream ends with its usage
   */
  CompletionFormat(boolean chat, String model, boolean includeUsage) {
    this.chat = chat;
    this.model = model;
    this.includeUsage = includeUsage;
    this.id = OpenAiJson.newId(chat ? "chatcmpl-" : "cmpl-");
    String fields = Json.text(object(chunkType()));
    this.chunkHead = fields.substring(0, fields.length() - 1) + ",\"choices\":[{\"index\":";
    this.chunkMiddle = chat ? ",\"delta\":{\"content\":\"" : ",\"text\":\"";
    this.chunkTail =
        (chat ? "\"}" : "\"")
            + ",\"logprobs\":null,\"finish_reason\":null,\"stop_reason\":null}]"
            + (includeUsage ? ",\"usage\":null}" : "}");
  }

  private String chunkType() {
    return chat ? "chat.completion.chunk" : "text_completion";
  }

  private ObjectNode object(String type) {
    return Json.object()
        .put("id", id)
        .put("object", type)
        .put("created", created)
        .put("model", model);
  }

  @Override
  public void extend(ReplyExtras further) {
    extras = further;
  }

  @Override
  public JsonNode whole(List<ReplyChoice> choices) {
    ObjectNode root = object(chat ? "chat.completion" : "text_completion");
    ArrayNode all = root.putArray("choices");
    for (ReplyChoice choice : choices) {
      ObjectNode each = all.addObject().put("index", choice.number());
      if (chat) {
        each.putObject("message")
            .put("role", "assistant")
            .put("content", choice.text())
            .putNull("refusal");
      } else {
        each.put("text", choice.text());
      }
      end(each, choice);
    }
    root.set("usage", OpenAiJson.usage(ReplyChoice.usage(choices)));
    extras.addTo(root);
    return root;
  }

  private static void end(ObjectNode json, @Nullable ReplyChoice ended) {
    json.putNull("logprobs");
    json.put("finish_reason", ended == null ? null : ended.finishReason());
    json.put("stop_reason", ended == null ? null : ended.stop());
  }

  @Override
  public void begin(EventStream out, List<ReplyChoice> choices) {
    if (chat) {
      for (ReplyChoice choice : choices) {
        ObjectNode delta = Json.object().put("role", "assistant").put("content", "");
        chunk(out, choice, delta, null);
      }
    }
  }

  @Override
  public void piece(EventStream out, ReplyChoice choice, String text) {
    // Written without a tree: this is the only event whose number grows with the answer.
    out.data(chunkHead, choice.number(), chunkMiddle, text, chunkTail);
  }

  @Override
  public void finish(EventStream out, ReplyChoice choice) {
    chunk(out, choice, Json.object(), choice);
  }

  private void chunk(
      EventStream out, ReplyChoice choice, ObjectNode delta, @Nullable ReplyChoice ended) {
    ObjectNode root = object(chunkType());
    ObjectNode json = root.putArray("choices").addObject().put("index", choice.number());
    if (chat) {
      json.set("delta", delta);
    } else {
      json.put("text", "");
    }
    end(json, ended);
    if (includeUsage) {
      root.putNull("usage");
    }
    if (ended != null) {
      extras.addTo(root);
    }
    out.data(root);
  }

  @Override
  public void end(EventStream out, List<ReplyChoice> choices) {
    if (includeUsage) {
      ObjectNode root = object(chunkType());
      root.putArray("choices");
      root.set("usage", OpenAiJson.usage(ReplyChoice.usage(choices)));
      out.data(root);
    }
    out.data("[DONE]");
  }

  @Override
  public JsonNode error(ApiError error) {
    return OpenAiJson.error(error);
  }

  @Override
  public void error(EventStream out, ApiError error) {
    out.data(OpenAiJson.error(error));
    out.data("[DONE]");
  }
}
