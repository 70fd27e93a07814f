package io.kvasir.gateway.legs;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.List;

/**
 * An answer of at most five words.
 *
 * @param words how many
 * @param finishReason why it ends
 * @param promptTokens tokens of the prompt
 * @param cachedTokens those that were not computed
 * @param more members besides the choices
 * @param inChoice members within the choice
 */
record Answer(
    int words,
    String finishReason,
    int promptTokens,
    int cachedTokens,
    ObjectNode more,
    ObjectNode inChoice) {

  /** The text of an answer with all words. */
  static final List<String> WORDS = List.of("one", " two", " three", " four", " five");

  private static final JsonNodeFactory NODES = JsonNodeFactory.instance;

  /** An answer as long as the request allows. */
  static Answer to(Leg leg, int cachedTokens) {
    int words = Math.min(leg.maxTokens(), WORDS.size());
    return new Answer(
        words,
        words < WORDS.size() ? "length" : "stop",
        leg.promptTokens(),
        cachedTokens,
        NODES.objectNode(),
        NODES.objectNode());
  }

  /** The first word, with the reason why it is the last. */
  static Answer first(Leg leg, int cachedTokens, String finishReason) {
    Answer answer = to(leg, cachedTokens);
    return new Answer(
        1, finishReason, answer.promptTokens, cachedTokens, answer.more, answer.inChoice);
  }

  private ObjectNode usage() {
    ObjectNode usage = NODES.objectNode();
    usage.put("prompt_tokens", promptTokens).put("completion_tokens", words);
    usage.put("total_tokens", promptTokens + words);
    usage.putObject("prompt_tokens_details").put("cached_tokens", cachedTokens);
    return usage;
  }

  private ObjectNode head(Leg leg, boolean chunk) {
    String object = leg.chat() ? "chat.completion" : "text_completion";
    ObjectNode head = NODES.objectNode().put("id", "a-1");
    head.put("object", leg.chat() && chunk ? object + ".chunk" : object);
    return head.put("created", 1).put("model", "m");
  }

  /** The answer in one piece. */
  ObjectNode whole(Leg leg) {
    ObjectNode choice = NODES.objectNode().put("index", 0);
    String text = String.join("", WORDS.subList(0, words));
    if (leg.chat()) {
      choice.putObject("message").put("role", "assistant").put("content", text);
    } else {
      choice.put("text", text);
    }
    choice.put("finish_reason", finishReason).setAll(inChoice);
    ObjectNode whole = head(leg, false);
    whole.putArray("choices").add(choice);
    whole.set("usage", usage());
    return whole.setAll(more);
  }

  private ObjectNode chunk(Leg leg, ArrayNode choices) {
    ObjectNode chunk = head(leg, true);
    chunk.set("choices", choices);
    if (leg.wantsUsage()) {
      chunk.putNull("usage");
    }
    return chunk;
  }

  private static ObjectNode piece(Leg leg, String text, boolean first) {
    ObjectNode choice = NODES.objectNode().put("index", 0);
    if (!leg.chat()) {
      return choice.put("text", text).putNull("finish_reason");
    }
    ObjectNode delta = choice.putObject("delta").put("content", text);
    if (first) {
      delta.put("role", "assistant");
    }
    return choice.putNull("finish_reason");
  }

  /** The answer as the data of events. */
  List<String> events(Leg leg) {
    List<String> events = new ArrayList<>();
    for (int i = 0; i < words; i++) {
      ObjectNode piece = piece(leg, WORDS.get(i), i == 0);
      if (i == words - 1) {
        piece.put("finish_reason", finishReason);
      }
      events.add(chunk(leg, NODES.arrayNode().add(piece)).toString());
    }
    if (leg.wantsUsage()) {
      events.add(chunk(leg, NODES.arrayNode()).set("usage", usage()).toString());
    }
    events.add("[DONE]");
    return events;
  }
}
