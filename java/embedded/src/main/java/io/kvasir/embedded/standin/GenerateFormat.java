package io.kvasir.embedded.standin;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kvasir.embedded.api.AnswerFormat;
import io.kvasir.embedded.api.ApiError;
import io.kvasir.embedded.api.EventStream;
import io.kvasir.embedded.api.Json;
import io.kvasir.embedded.api.OpenAiJson;
import io.kvasir.embedded.api.ReplyChoice;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Replies of SGLang's {@code /generate}. Each event of a stream has the whole text so far.
 *
 * <p>Confined to the request's event loop.
 */
final class GenerateFormat implements AnswerFormat {

  private final String id = OpenAiJson.newId("");

  @Override
  public JsonNode whole(List<ReplyChoice> choices) {
    return reply(choices.get(0), choices.get(0));
  }

  private ObjectNode reply(ReplyChoice choice, @Nullable ReplyChoice ended) {
    ReplyChoice.Usage usage = ReplyChoice.usage(List.of(choice));
    ObjectNode root = Json.object().put("text", choice.text());
    ObjectNode meta = root.putObject("meta_info").put("id", id);
    if (ended == null) {
      meta.putNull("finish_reason");
    } else if (ended.complete()) {
      meta.putObject("finish_reason").put("type", "stop").put("matched", ended.stop());
    } else {
      meta.putObject("finish_reason").put("type", "length").put("length", usage.output());
    }
    meta.put("prompt_tokens", usage.prompt())
        .put("completion_tokens", usage.output())
        .put("cached_tokens", usage.cached());
    return root;
  }

  @Override
  public void begin(EventStream out, List<ReplyChoice> choices) {}

  @Override
  public void piece(EventStream out, ReplyChoice choice, String text) {
    out.data(reply(choice, null));
  }

  @Override
  public void finish(EventStream out, ReplyChoice choice) {
    out.data(reply(choice, choice));
  }

  @Override
  public void end(EventStream out, List<ReplyChoice> choices) {
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
