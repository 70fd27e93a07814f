package io.kvasir.embedded.api;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.function.Function;

/**
 * vLLM's {@code POST /v1/.../render}: the tokens that a request to the endpoint in front of {@code
 * /render} would have, and no answer. Stateless.
 *
 * <p>Thread-safe.
 */
public final class RenderEndpoints {

  private static final String SUFFIX = "/render";

  private final OptionsReader options;
  private final CompletionEndpoints completions;
  private final MessagesEndpoints messages;
  private final ResponsesEndpoints responses;

  /**
   * Creates the endpoints.
   *
   * @param options reads what requests have in common
   * @param completions makes the prompts of chats and texts
   * @param messages makes the prompts of messages
   * @param responses makes the prompts of responses
   */
  public RenderEndpoints(
      OptionsReader options,
      CompletionEndpoints completions,
      MessagesEndpoints messages,
      ResponsesEndpoints responses) {
    this.options = options;
    this.completions = completions;
    this.messages = messages;
    this.responses = responses;
  }

  private Routes.Endpoint one(Function<RequestFields, int[]> prompt) {
    return request -> {
      RequestFields fields = request.fields();
      options.requireModel(fields);
      request.replyLater(200, rendered(prompt.apply(fields)));
    };
  }

  /** Texts have a list of answers, one for each prompt. */
  private void texts(Incoming request) {
    RequestFields fields = request.fields();
    options.requireModel(fields);
    ArrayNode all = Json.array();
    for (int[] tokens : completions.textPrompts(fields)) {
      all.add(rendered(tokens));
    }
    request.replyLater(200, all);
  }

  private static ObjectNode rendered(int[] tokens) {
    ObjectNode rendered = Json.object().put("request_id", OpenAiJson.newId("render-"));
    ArrayNode ids = rendered.putArray("token_ids");
    for (int token : tokens) {
      ids.add(token);
    }
    return rendered;
  }

  /** Adds the endpoints. */
  public void addTo(Routes routes) {
    routes
        .add("POST", CompletionEndpoints.CHAT_PATH + SUFFIX, one(completions::chatPrompt))
        .add("POST", CompletionEndpoints.TEXT_PATH + SUFFIX, this::texts)
        .add("POST", MessagesEndpoints.PATH + SUFFIX, one(messages::prompt))
        .add("POST", ResponsesEndpoints.PATH + SUFFIX, one(responses::firstPrompt));
  }
}
