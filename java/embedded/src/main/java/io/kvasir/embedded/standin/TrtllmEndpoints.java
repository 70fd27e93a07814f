package io.kvasir.embedded.standin;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kvasir.embedded.api.Conversation;
import io.kvasir.embedded.api.Incoming;
import io.kvasir.embedded.api.InfoEndpoints;
import io.kvasir.embedded.api.Json;
import io.kvasir.embedded.api.OpenAiJson;
import io.kvasir.embedded.api.RequestFields;
import io.kvasir.embedded.api.Routes;
import io.kvasir.embedded.ranks.EmbeddedSettings;

/**
 * What trtllm-serve has besides OpenAI's endpoints: {@code /version}, {@code /server_info}, {@code
 * /metrics} in JSON and {@code /prometheus/metrics}, {@code /kv_cache_events}, and the tokens of a
 * chat.
 *
 * <p>Thread-safe.
 */
final class TrtllmEndpoints {

  private static final String HASH_ALGORITHM = "v1_block_key";

  private final StandInParts parts;

  TrtllmEndpoints(StandInParts parts) {
    this.parts = parts;
  }

  private void serverInfo(Incoming request) {
    EmbeddedSettings settings = parts.settings();
    ObjectNode root =
        Json.object()
            .put("version", parts.info().version())
            .put("model", settings.model())
            .put("tokens_per_block", parts.metrics().blockTokens())
            .put("max_batch_size", settings.executor().maxActiveRequests())
            .put("dp_size", settings.ranks())
            .put("kv_cache_hash_algo", HASH_ALGORITHM);
    if (parts.disagg() != null) {
      parts.disagg().describe(root);
    }
    request.replyLater(200, root);
  }

  /** The state of each rank as the statistics of its last iteration. */
  private void statistics(Incoming request) {
    EmbeddedSettings settings = parts.settings();
    ArrayNode all = Json.array();
    for (int rank = 0; rank < settings.ranks(); rank++) {
      ObjectNode each =
          all.addObject()
              .put("iter", parts.ranks().meters().iterations())
              .put("numActiveRequests", parts.ranks().meters().running(rank))
              .put("numQueuedRequests", parts.ranks().meters().waiting(rank))
              .put("attentionDpRank", rank);
      each.putObject("kvCacheStats")
          .put("maxNumBlocks", settings.poolBlocks())
          .put("usedNumBlocks", Math.round(parts.metrics().usage(rank) * settings.poolBlocks()))
          .put("tokensPerBlock", parts.metrics().blockTokens());
    }
    request.replyLater(200, all);
  }

  private void prometheus(Incoming request) {
    request.replyLater(200, InfoEndpoints.PROMETHEUS, parts.metrics().trtllm());
  }

  /** The events since the last request; none if they are published otherwise. */
  private void events(Incoming request) {
    PolledBlocks polled = parts.standIn().polled();
    request.replyLater(200, polled == null ? Json.array() : polled.drain());
  }

  private void render(Incoming request) {
    RequestFields fields = request.fields();
    parts.options().requireModel(fields);
    JsonNode messages = fields.array("messages");
    if (messages == null) {
      throw fields.missing("messages");
    }
    int[] tokens =
        parts.model().tokens(parts.model().chatPrompt(Conversation.of(fields, messages), true));
    ObjectNode root =
        Json.object()
            .put("schema_version", 1)
            .put("kind", "chat")
            .put("request_id", OpenAiJson.newId("chatcmpl-"))
            .put("model", parts.settings().model());
    ArrayNode ids = root.putArray("token_ids");
    for (int token : tokens) {
      ids.add(token);
    }
    request.replyLater(200, root);
  }

  /** Adds the endpoints. */
  void addTo(Routes routes) {
    parts.info().addCommonTo(routes);
    routes
        .add("GET", "/health_generate", parts.info()::health)
        .add("GET", "/version", parts.info()::version)
        .add("GET", "/server_info", this::serverInfo)
        .add("GET", "/metrics", this::statistics)
        .add("GET", "/prometheus/metrics", this::prometheus)
        .add("POST", "/kv_cache_events", this::events)
        .add("POST", "/v1/chat/completions/render", this::render);
  }
}
