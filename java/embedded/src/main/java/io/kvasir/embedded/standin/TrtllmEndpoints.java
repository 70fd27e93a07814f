package io.kvasir.embedded.standin;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kvasir.embedded.api.Conversation;
import io.kvasir.embedded.api.Incoming;
import io.kvasir.embedded.api.InfoEndpoints;
import io.kvasir.embedded.api.Json;
import io.kvasir.embedded.api.OpenAiJson;
import io.kvasir.embedded.api.OptionsReader;
import io.kvasir.embedded.api.RequestFields;
import io.kvasir.embedded.api.Routes;
import io.kvasir.embedded.ranks.EmbeddedSettings;
import io.kvasir.embedded.ranks.MetricsText;
import io.kvasir.embedded.ranks.RankLoop;
import io.kvasir.embedded.ranks.RankModel;

/**
 * What trtllm-serve has besides OpenAI's endpoints: {@code /version}, {@code /server_info}, {@code
 * /metrics} in JSON and {@code /prometheus/metrics}, {@code /kv_cache_events}, and the tokens of a
 * chat.
 *
 * <p>Thread-safe.
 */
final class TrtllmEndpoints {

  private static final String HASH_ALGORITHM = "v1_block_key";

  private final EmbeddedSettings settings;
  private final RankModel model;
  private final OptionsReader options;
  private final InfoEndpoints info;
  private final MetricsText metrics;
  private final RankLoop ranks;
  private final StandIn standIn;

  TrtllmEndpoints(
      EmbeddedSettings settings,
      RankModel model,
      OptionsReader options,
      InfoEndpoints info,
      RankLoop ranks,
      StandIn standIn) {
    this.settings = settings;
    this.model = model;
    this.options = options;
    this.info = info;
    this.metrics = new MetricsText(settings, ranks, standIn.faults());
    this.ranks = ranks;
    this.standIn = standIn;
  }

  private void serverInfo(Incoming request) {
    request.replyLater(
        200,
        Json.object()
            .put("version", info.version())
            .put("model", settings.model())
            .put("tokens_per_block", metrics.blockTokens())
            .put("max_batch_size", settings.executor().maxActiveRequests())
            .put("dp_size", settings.ranks())
            .put("kv_cache_hash_algo", HASH_ALGORITHM));
  }

  /** The state of each rank as the statistics of its last iteration. */
  private void statistics(Incoming request) {
    ArrayNode all = Json.array();
    for (int rank = 0; rank < settings.ranks(); rank++) {
      ObjectNode each =
          all.addObject()
              .put("iter", ranks.meters().iterations())
              .put("numActiveRequests", ranks.meters().running(rank))
              .put("numQueuedRequests", ranks.meters().waiting(rank))
              .put("attentionDpRank", rank);
      each.putObject("kvCacheStats")
          .put("maxNumBlocks", settings.poolBlocks())
          .put("usedNumBlocks", Math.round(metrics.usage(rank) * settings.poolBlocks()))
          .put("tokensPerBlock", metrics.blockTokens());
    }
    request.replyLater(200, all);
  }

  private void prometheus(Incoming request) {
    request.replyLater(200, InfoEndpoints.PROMETHEUS, metrics.trtllm());
  }

  /** The events since the last request; none if they are published otherwise. */
  private void events(Incoming request) {
    PolledBlocks polled = standIn.polled();
    request.replyLater(200, polled == null ? Json.array() : polled.drain());
  }

  private void render(Incoming request) {
    RequestFields fields = request.fields();
    options.requireModel(fields);
    JsonNode messages = fields.array("messages");
    if (messages == null) {
      throw fields.missing("messages");
    }
    int[] tokens = model.tokens(model.chatPrompt(Conversation.of(fields, messages), true));
    ObjectNode root =
        Json.object()
            .put("schema_version", 1)
            .put("kind", "chat")
            .put("request_id", OpenAiJson.newId("chatcmpl-"))
            .put("model", settings.model());
    ArrayNode ids = root.putArray("token_ids");
    for (int token : tokens) {
      ids.add(token);
    }
    request.replyLater(200, root);
  }

  /** Adds the endpoints. */
  void addTo(Routes routes) {
    info.addCommonTo(routes);
    routes
        .add("GET", "/health_generate", info::health)
        .add("GET", "/version", info::version)
        .add("GET", "/server_info", this::serverInfo)
        .add("GET", "/metrics", this::statistics)
        .add("GET", "/prometheus/metrics", this::prometheus)
        .add("POST", "/kv_cache_events", this::events)
        .add("POST", "/v1/chat/completions/render", this::render);
  }
}
