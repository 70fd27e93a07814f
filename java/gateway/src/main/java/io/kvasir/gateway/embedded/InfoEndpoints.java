package io.kvasir.gateway.embedded;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.List;

/**
 * {@code GET /v1/models}, {@code /health}, {@code /version}, {@code /metrics} and {@code
 * /server_info}; {@code POST /tokenize} and {@code /detokenize}.
 *
 * <p>Thread-safe.
 */
final class InfoEndpoints {

  private static final String MODEL_PATH = "/v1/models/";

  private final EmbeddedSettings settings;
  private final RankLoop ranks;
  private final OptionsReader options;
  private final MetricsText metrics;
  private final long created = OpenAiJson.nowSeconds();

  InfoEndpoints(EmbeddedSettings settings, OptionsReader options, RankLoop ranks) {
    this.settings = settings;
    this.ranks = ranks;
    this.options = options;
    this.metrics = new MetricsText(settings, ranks);
  }

  /** Lists the served model. */
  void models(Incoming request) {
    ObjectNode root = Json.object().put("object", "list");
    root.putArray("data").add(model());
    request.replyLater(200, root);
  }

  /** Describes the served model. */
  void model(Incoming request) {
    String name = request.path().substring(MODEL_PATH.length());
    if (!name.equals(settings.model())) {
      throw OptionsReader.modelNotFound(name);
    }
    request.replyLater(200, model());
  }

  private ObjectNode model() {
    return model(settings.model(), created, settings.maxModelLen());
  }

  /** The description of a model. */
  static ObjectNode model(String name, long created, int maxModelLen) {
    return Json.object()
        .put("id", name)
        .put("object", "model")
        .put("created", created)
        .put("owned_by", "kvasir")
        .put("root", name)
        .putNull("parent")
        .put("max_model_len", maxModelLen);
  }

  /** 200 while at least one rank is live. */
  void health(Incoming request) {
    String unavailable = ranks.unavailable();
    if (unavailable != null) {
      throw ApiError.of(ApiError.UNAVAILABLE, "no_live_rank", unavailable);
    }
    request.replyLater(200, "text/plain; charset=utf-8", "");
  }

  /** The version of Kvasir. */
  void version(Incoming request) {
    request.replyLater(200, Json.object().put("version", version()));
  }

  /** Kvasir's version. */
  static String version() {
    String version = InfoEndpoints.class.getPackage().getImplementationVersion();
    return version == null ? "development" : version;
  }

  /** The engine's settings and its live ranks. */
  void serverInfo(Incoming request) {
    ObjectNode root =
        Json.object()
            .put("model", settings.model())
            .put("version", version())
            .put("tokens_per_block", settings.tokensPerBlock())
            .put("dp_size", settings.ranks())
            .put("num_blocks_per_rank", settings.poolBlocks())
            .put("max_model_len", settings.maxModelLen())
            .put("max_num_tokens", settings.executor().tokenBudget())
            .put("max_batch_size", settings.executor().maxActiveRequests())
            .put("hash_format", settings.hashFormat().id())
            .put("adp_router", settings.router().id())
            .put("speed", settings.speed());
    ArrayNode live = root.putArray("live_ranks");
    for (int rank = 0; rank < settings.ranks(); rank++) {
      if (!ranks.meters().isRetired(rank)) {
        live.add(rank);
      }
    }
    request.replyLater(200, root);
  }

  /** Counts of the ranks, for Prometheus. */
  void metrics(Incoming request) {
    request.replyLater(200, "text/plain; version=0.0.4; charset=utf-8", metrics.text());
  }

  /** The tokens of a text or of a chat. */
  void tokenize(Incoming request) {
    RequestFields fields = request.fields();
    options.requireModel(fields);
    JsonNode messages = fields.array("messages");
    String text = messages == null ? fields.text("prompt") : chat(fields, messages);
    if (text == null) {
      throw fields.missing("prompt");
    }
    int[] tokens = WordVocabulary.tokens(text);
    ObjectNode root =
        Json.object().put("count", tokens.length).put("max_model_len", settings.maxModelLen());
    ArrayNode ids = root.putArray("tokens");
    for (int token : tokens) {
      ids.add(token);
    }
    if (fields.flag("return_token_strs", false)) {
      ArrayNode texts = root.putArray("token_strs");
      for (int token : tokens) {
        texts.add(String.valueOf((char) token)); // a byte as the Latin-1 character of that value
      }
    } else {
      root.putNull("token_strs");
    }
    request.replyLater(200, root);
  }

  private static String chat(RequestFields fields, JsonNode messages) {
    ChatTemplate template = CompletionEndpoints.template(fields, messages);
    return fields.flag("add_generation_prompt", true)
        ? template.toPrompt()
        : template.withoutAnswer();
  }

  /** The text of tokens. */
  void detokenize(Incoming request) {
    RequestFields fields = request.fields();
    options.requireModel(fields);
    String text = WordVocabulary.text(TokenIds.read(fields, "tokens"));
    request.replyLater(200, Json.object().put("prompt", text));
  }

  /** Adds the endpoints. */
  void addTo(Routes routes) {
    routes
        .add("GET", "/v1/models", this::models)
        .add("GET", MODEL_PATH, this::model)
        .add("GET", "/version", this::version)
        .add("GET", "/server_info", this::serverInfo)
        .add("GET", "/metrics", this::metrics)
        .add("POST", "/tokenize", this::tokenize)
        .add("POST", "/detokenize", this::detokenize);
    for (String path : List.of("/health", "/ping")) {
      routes.add("GET", path, this::health);
    }
  }
}
