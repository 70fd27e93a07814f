package io.kvasir.embedded.api;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kvasir.model.Errors;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * {@code POST /v1/responses}, and {@code GET} and {@code DELETE /v1/responses/{id}}.
 *
 * <p>The prompt has the tools, the instructions as a message of the role system, the items of the
 * previous response's conversation, and the request's items. A response is stored when it is
 * complete, unless {@code store} is false.
 *
 * <p>Thread-safe.
 */
public final class ResponsesEndpoints {

  /** The path of new responses. */
  static final String PATH = "/v1/responses";

  private static final List<String> MAX_TOKENS = List.of("max_output_tokens");

  private final ServedModel model;
  private final OptionsReader options;
  private final ResponseStore store;

  /**
   * Creates the endpoints.
   *
   * @param model the model
   * @param options reads what requests have in common
   * @param storeBytes most bytes of stored responses
   */
  public ResponsesEndpoints(ServedModel model, OptionsReader options, long storeBytes) {
    this.model = model;
    this.options = options;
    this.store = new ResponseStore(storeBytes);
  }

  /** Answers a conversation. */
  void create(Incoming request) {
    RequestFields fields = request.fields();
    requireSupported(fields);
    ArrayNode items = items(fields);
    GenerationOptions asked =
        options
            .read(request, fields, MAX_TOKENS, "stop", CompletionEndpoints.isFirstTurn(items))
            .requireOneChoice();
    String id = OpenAiJson.newId("resp_");
    boolean stored = fields.flag("store", true);
    AnswerFormat format =
        new ResponsesFormat(
            base(id, stored, fields),
            (response, answer) -> {
              if (stored) {
                ArrayNode all = items.add(answer);
                store.put(id, new ResponseStore.Stored(Json.bytes(response), Json.bytes(all)));
              }
            });
    List<int[]> prompts = List.of(prompt(fields, items));
    model.complete(
        request, new AskedCompletion(fields, Conversation.INPUT, format, prompts, asked));
  }

  private static void requireSupported(RequestFields fields) {
    if (fields.flag("background", false)) {
      throw ApiError.unsupported("background", "background is not supported");
    }
    if (fields.has("conversation")) {
      throw ApiError.unsupported(
          "conversation", "conversation is not supported; use previous_response_id");
    }
    RequestFields text = fields.object("text");
    RequestFields format = text == null ? null : text.object("format");
    if (format != null && !"text".equals(format.text("type"))) {
      throw ApiError.unsupported("text.format", "text.format must have type text");
    }
    JsonNode tool = fields.get("tool_choice");
    String choice = tool == null ? "auto" : tool.asText();
    if (!choice.equals("auto") && !choice.equals("none")) {
      throw ApiError.unsupported(
          "tool_choice", "tool_choice must be auto or none: no tool is called");
    }
  }

  /** The items of the conversation, up to and including those of the request. */
  private ArrayNode items(RequestFields fields) {
    ArrayNode items = Json.array();
    String previous = fields.text("previous_response_id");
    if (previous != null) {
      items = Json.readArray(stored(previous).items());
    }
    JsonNode input = fields.get("input");
    if (input == null) {
      throw fields.missing("input");
    }
    if (input.isTextual()) {
      items.addObject().put("role", "user").put("content", input.textValue());
    } else if (input.isArray()) {
      for (JsonNode item : input) {
        if (!item.isObject()) {
          throw fields.wrong("input", "a string or an array of objects", item);
        }
        items.add(item);
      }
    } else {
      throw fields.wrong("input", "a string or an array of objects", input);
    }
    return items;
  }

  /** The tokens of a conversation that names no stored one. */
  int[] firstPrompt(RequestFields fields) {
    if (fields.text("previous_response_id") != null) {
      throw ApiError.unsupported(
          "previous_response_id", "previous_response_id is not supported: nothing is stored here");
    }
    requireSupported(fields);
    return prompt(fields, items(fields));
  }

  private int[] prompt(RequestFields fields, ArrayNode items) {
    JsonNode system = fields.text("instructions") == null ? null : fields.get("instructions");
    Conversation conversation = new Conversation(fields, system, Conversation.INPUT, items);
    return model.chatTokens(conversation);
  }

  /** The constant fields of a response. */
  private ObjectNode base(String id, boolean stored, RequestFields fields) {
    ObjectNode base =
        Json.object()
            .put("id", id)
            .put("object", "response")
            .put("created_at", OpenAiJson.nowSeconds())
            .put("status", "in_progress")
            .put("background", false)
            .putNull("error")
            .putNull("incomplete_details")
            .put("instructions", fields.text("instructions"));
    copy(fields, "max_output_tokens", base, null);
    base.put("model", model.name())
        .put("parallel_tool_calls", fields.flag("parallel_tool_calls", true))
        .put("previous_response_id", fields.text("previous_response_id"));
    base.putObject("reasoning").putNull("effort").putNull("summary");
    base.put("store", stored);
    copy(fields, "temperature", base, Json.object().numberNode(1.0));
    base.putObject("text").putObject("format").put("type", "text");
    copy(fields, "tool_choice", base, Json.object().textNode("auto"));
    copy(fields, "tools", base, Json.array());
    copy(fields, "top_p", base, Json.object().numberNode(1.0));
    base.put("truncation", "disabled").put("user", fields.text("user"));
    copy(fields, "metadata", base, Json.object());
    return base;
  }

  private static void copy(
      RequestFields fields, String name, ObjectNode base, @Nullable JsonNode otherwise) {
    JsonNode value = fields.get(name);
    base.set(name, value == null ? otherwise : value);
  }

  private ResponseStore.Stored stored(String id) {
    ResponseStore.Stored stored = store.get(id);
    if (stored == null) {
      throw notFound(id);
    }
    return stored;
  }

  private static ApiError notFound(String id) {
    return ApiError.of(
        ApiError.NOT_FOUND,
        "response_not_found",
        "Response with id '" + Errors.shown(id) + "' not found.");
  }

  private static String id(Incoming request) {
    return request.path().substring(PATH.length() + 1);
  }

  /** Returns a stored response. */
  void get(Incoming request) {
    byte[] response = stored(id(request)).response();
    request.call().later(() -> request.call().reply(200, request.jsonHeaders(), response));
  }

  /** Removes a stored response. */
  void delete(Incoming request) {
    String id = id(request);
    if (!store.remove(id)) {
      throw notFound(id);
    }
    request.replyLater(
        200, Json.object().put("id", id).put("object", "response").put("deleted", true));
  }

  /** Adds the endpoints. */
  public void addTo(Routes routes) {
    routes
        .add("POST", PATH, this::create)
        .add("GET", PATH + "/", this::get)
        .add("DELETE", PATH + "/", this::delete);
  }
}
