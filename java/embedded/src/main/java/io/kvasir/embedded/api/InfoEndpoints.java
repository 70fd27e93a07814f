package io.kvasir.embedded.api;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * {@code GET /v1/models}, {@code /health}, {@code /version} and {@code /metrics}; {@code POST
 * /tokenize} and {@code /detokenize}.
 *
 * <p>Thread-safe.
 */
public final class InfoEndpoints {

  /** The content type of metrics. */
  public static final String PROMETHEUS = "text/plain; version=0.0.4; charset=utf-8";

  private static final String MODEL_PATH = "/v1/models/";

  private final ServedModel model;
  private final OptionsReader options;
  private final String version;
  private final long created = OpenAiJson.nowSeconds();

  /**
   * Creates the endpoints.
   *
   * @param model the model
   * @param options reads what requests have in common
   * @param version the version that the engine reports
   */
  public InfoEndpoints(ServedModel model, OptionsReader options, String version) {
    this.model = model;
    this.options = options;
    this.version = version;
  }

  /** Lists the served model. */
  void models(Incoming request) {
    ObjectNode root = Json.object().put("object", "list");
    root.putArray("data").add(description());
    request.replyLater(200, root);
  }

  /** Describes the served model. */
  void model(Incoming request) {
    String name = request.path().substring(MODEL_PATH.length());
    if (!name.equals(model.name())) {
      throw OptionsReader.modelNotFound(name);
    }
    request.replyLater(200, description());
  }

  private ObjectNode description() {
    return Json.object()
        .put("id", model.name())
        .put("object", "model")
        .put("created", created)
        .put("owned_by", "kvasir")
        .put("root", model.name())
        .putNull("parent")
        .put("max_model_len", model.maxModelLen());
  }

  /** 200 while the model can serve requests. */
  public void health(Incoming request) {
    ApiError unavailable = model.unavailable();
    if (unavailable != null) {
      throw unavailable;
    }
    request.replyLater(200, "text/plain; charset=utf-8", "");
  }

  /** Replies with the version of the engine. */
  public void version(Incoming request) {
    request.replyLater(200, Json.object().put("version", version));
  }

  /** The version that the engine reports. */
  public String version() {
    return version;
  }

  /** Kvasir's version. */
  public static String kvasirVersion() {
    String version = InfoEndpoints.class.getPackage().getImplementationVersion();
    return version == null ? "development" : version;
  }

  /** The engine's counts, for Prometheus. */
  void metrics(Incoming request) {
    request.replyLater(200, PROMETHEUS, model.metrics());
  }

  /** The tokens of a text or of a chat. */
  public void tokenize(Incoming request) {
    RequestFields fields = request.fields();
    options.requireModel(fields);
    JsonNode messages = fields.array("messages");
    replyTokens(
        request,
        fields,
        messages == null
            ? fields.text("prompt")
            : model.chatPrompt(
                Conversation.of(fields, messages), fields.flag("add_generation_prompt", true)));
  }

  private void replyTokens(Incoming request, RequestFields fields, @Nullable String text) {
    if (text == null) {
      throw fields.missing("prompt");
    }
    int[] tokens = model.tokens(text);
    ObjectNode root =
        Json.object().put("count", tokens.length).put("max_model_len", model.maxModelLen());
    ArrayNode ids = root.putArray("tokens");
    for (int token : tokens) {
      ids.add(token);
    }
    if (fields.flag("return_token_strs", false)) {
      ArrayNode texts = root.putArray("token_strs");
      for (int token : tokens) {
        texts.add(model.tokenText(token));
      }
    } else {
      root.putNull("token_strs");
    }
    request.replyLater(200, root);
  }

  /** The text of tokens. */
  public void detokenize(Incoming request) {
    RequestFields fields = request.fields();
    options.requireModel(fields);
    String text = model.text("tokens", TokenIds.read(fields, "tokens"));
    request.replyLater(200, Json.object().put("prompt", text));
  }

  /** Adds the endpoints. */
  public void addTo(Routes routes) {
    addCommonTo(routes);
    routes
        .add("GET", "/version", this::version)
        .add("GET", "/metrics", this::metrics)
        .add("POST", "/tokenize", this::tokenize)
        .add("POST", "/detokenize", this::detokenize);
  }

  /** Adds the endpoints that every engine has. */
  public void addCommonTo(Routes routes) {
    routes.add("GET", "/v1/models", this::models).add("GET", MODEL_PATH, this::model);
    for (String path : List.of("/health", "/ping")) {
      routes.add("GET", path, this::health);
    }
  }
}
