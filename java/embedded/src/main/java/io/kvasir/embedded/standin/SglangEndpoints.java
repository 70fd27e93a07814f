package io.kvasir.embedded.standin;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kvasir.embedded.api.AskedCompletion;
import io.kvasir.embedded.api.EngineProfile;
import io.kvasir.embedded.api.GenerationOptions;
import io.kvasir.embedded.api.Incoming;
import io.kvasir.embedded.api.InfoEndpoints;
import io.kvasir.embedded.api.Json;
import io.kvasir.embedded.api.RequestFields;
import io.kvasir.embedded.api.Routes;
import io.kvasir.embedded.api.TokenIds;
import io.kvasir.embedded.publish.EventSettings;
import io.kvasir.embedded.ranks.EmbeddedSettings;
import java.util.List;

/**
 * What SGLang has besides OpenAI's endpoints: {@code /server_info}, {@code /metrics}, {@code
 * /v1/loads}, {@code /tokenize}, {@code /generate}.
 *
 * <p>Thread-safe.
 */
final class SglangEndpoints {

  private static final int DEFAULT_MAX_TOKENS = 128;
  private static final int ALL_RANKS = -1;
  private static final List<String> MAX_TOKENS = List.of("max_new_tokens");

  private final StandInParts parts;

  SglangEndpoints(StandInParts parts) {
    this.parts = parts;
  }

  private void serverInfo(Incoming request) {
    EmbeddedSettings settings = parts.settings();
    EventSettings events = parts.standIn().settings();
    ObjectNode root =
        Json.object()
            .put("version", parts.info().version())
            .put("model_path", settings.model())
            .put("served_model_name", settings.model())
            .put("dp_size", settings.ranks())
            .put("page_size", parts.metrics().blockTokens())
            .put("context_length", settings.maxModelLen())
            .put("max_total_num_tokens", settings.poolBlocks() * settings.tokensPerBlock())
            .put("max_running_requests", settings.executor().maxActiveRequests());
    if (parts.standIn().publisher() == null) {
      root.putNull("kv_events");
    } else {
      root.putObject("kv_events")
          .put("publisher", "zmq")
          .put("endpoint_host", events.host().equals("0.0.0.0") ? "*" : events.host())
          .put("endpoint_port_base", parts.standIn().publisher().eventsPort())
          .put("topic", events.topic())
          .put("block_size", parts.metrics().blockTokens())
          .put("dp_size", settings.ranks());
    }
    if (parts.disagg() != null) {
      parts.disagg().describe(root);
    }
    request.replyLater(200, root);
  }

  private void metrics(Incoming request) {
    request.replyLater(200, InfoEndpoints.PROMETHEUS, parts.metrics().sglang());
  }

  private void loads(Incoming request) {
    EmbeddedSettings settings = parts.settings();
    int only = request.queryNumber("dp_rank", 0, settings.ranks() - 1, ALL_RANKS);
    ObjectNode root =
        Json.object()
            .put("timestamp", System.currentTimeMillis() / 1000.0)
            .put("version", parts.info().version())
            .put("dp_rank_count", settings.ranks());
    ArrayNode loads = root.putArray("loads");
    int poolTokens = settings.poolBlocks() * settings.tokensPerBlock();
    for (int rank = 0; rank < settings.ranks(); rank++) {
      if (only == ALL_RANKS || only == rank) {
        double usage = parts.metrics().usage(rank);
        loads
            .addObject()
            .put("dp_rank", rank)
            .put("num_running_reqs", parts.ranks().meters().running(rank))
            .put("num_waiting_reqs", parts.ranks().meters().waiting(rank))
            .put("num_total_tokens", Math.round(usage * poolTokens))
            .put("token_usage", usage)
            .put("max_total_num_tokens", poolTokens)
            .put("max_running_requests", settings.executor().maxActiveRequests());
      }
    }
    request.replyLater(200, root);
  }

  /** Continues a text or tokens. Sampling options may be in an object of their own. */
  private void generate(Incoming request) {
    ObjectNode body = Json.read(request.body());
    RequestFields whole = new RequestFields(body);
    if (whole.object("sampling_params") != null) {
      body.setAll((ObjectNode) body.get("sampling_params"));
    }
    GenerationOptions asked =
        parts.options().read(request, whole, MAX_TOKENS, "stop", false).requireOneChoice();
    boolean ids = whole.has("input_ids");
    String text = ids ? null : whole.text("text");
    if (!ids && text == null) {
      throw whole.missing("text");
    }
    int[] prompt = text == null ? TokenIds.read(whole, "input_ids") : parts.model().tokens(text);
    parts
        .model()
        .complete(
            request,
            new AskedCompletion(
                whole,
                ids ? "input_ids" : "text",
                new GenerateFormat(),
                List.of(prompt),
                asked.maxTokens() > 0 ? asked : asked.withMaxTokens(DEFAULT_MAX_TOKENS)));
  }

  /** Adds the endpoints. */
  void addTo(Routes routes, DebugEndpoints debug) {
    parts.info().addCommonTo(routes);
    for (String path : List.of("/server_info", "/get_server_info")) {
      routes.add("GET", path, this::serverInfo);
    }
    routes
        .add("GET", "/health_generate", parts.info()::health)
        .add("GET", "/metrics", this::metrics)
        .add("GET", "/v1/loads", this::loads)
        .add("POST", "/tokenize", parts.info()::tokenize)
        .add("POST", "/detokenize", parts.info()::detokenize)
        .add("POST", "/flush_cache", debug::clear)
        .add("POST", EngineProfile.SGLANG_GENERATE, this::generate);
  }
}
