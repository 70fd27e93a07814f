package io.kvasir.embedded.standin;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kvasir.embedded.api.AskedCompletion;
import io.kvasir.embedded.api.EngineProfile;
import io.kvasir.embedded.api.GenerationOptions;
import io.kvasir.embedded.api.Incoming;
import io.kvasir.embedded.api.InfoEndpoints;
import io.kvasir.embedded.api.Json;
import io.kvasir.embedded.api.OptionsReader;
import io.kvasir.embedded.api.RequestFields;
import io.kvasir.embedded.api.Routes;
import io.kvasir.embedded.api.TokenIds;
import io.kvasir.embedded.publish.EventSettings;
import io.kvasir.embedded.ranks.EmbeddedSettings;
import io.kvasir.embedded.ranks.MetricsText;
import io.kvasir.embedded.ranks.RankLoop;
import io.kvasir.embedded.ranks.RankModel;
import java.util.List;

/**
 * What SGLang has besides OpenAI's endpoints: {@code /server_info}, {@code /metrics}, {@code
 * /v1/loads}, {@code /tokenize} of a text, {@code /generate}.
 *
 * <p>Thread-safe.
 */
final class SglangEndpoints {

  private static final int DEFAULT_MAX_TOKENS = 128;
  private static final int ALL_RANKS = -1;
  private static final List<String> MAX_TOKENS = List.of("max_new_tokens");

  private final EmbeddedSettings settings;
  private final RankModel model;
  private final OptionsReader options;
  private final InfoEndpoints info;
  private final MetricsText metrics;
  private final RankLoop ranks;
  private final StandIn standIn;

  SglangEndpoints(
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
    EventSettings events = standIn.settings();
    ObjectNode root =
        Json.object()
            .put("version", info.version())
            .put("model_path", settings.model())
            .put("served_model_name", settings.model())
            .put("dp_size", settings.ranks())
            .put("page_size", metrics.blockTokens())
            .put("context_length", settings.maxModelLen())
            .put("max_total_num_tokens", settings.poolBlocks() * settings.tokensPerBlock())
            .put("max_running_requests", settings.executor().maxActiveRequests());
    if (standIn.publisher() == null) {
      root.putNull("kv_events");
    } else {
      root.putObject("kv_events")
          .put("publisher", "zmq")
          .put("endpoint_host", events.host().equals("0.0.0.0") ? "*" : events.host())
          .put("endpoint_port_base", standIn.publisher().eventsPort())
          .put("topic", events.topic())
          .put("block_size", metrics.blockTokens())
          .put("dp_size", settings.ranks());
    }
    request.replyLater(200, root);
  }

  private void metrics(Incoming request) {
    request.replyLater(200, InfoEndpoints.PROMETHEUS, metrics.sglang());
  }

  private void loads(Incoming request) {
    int only = request.queryNumber("dp_rank", 0, settings.ranks() - 1, ALL_RANKS);
    ObjectNode root =
        Json.object()
            .put("timestamp", System.currentTimeMillis() / 1000.0)
            .put("version", info.version())
            .put("dp_rank_count", settings.ranks());
    ArrayNode loads = root.putArray("loads");
    int poolTokens = settings.poolBlocks() * settings.tokensPerBlock();
    for (int rank = 0; rank < settings.ranks(); rank++) {
      if (only == ALL_RANKS || only == rank) {
        double usage = metrics.usage(rank);
        loads
            .addObject()
            .put("dp_rank", rank)
            .put("num_running_reqs", ranks.meters().running(rank))
            .put("num_waiting_reqs", ranks.meters().waiting(rank))
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
        options.read(request, whole, MAX_TOKENS, "stop", false).requireOneChoice();
    boolean ids = whole.has("input_ids");
    String text = ids ? null : whole.text("text");
    if (!ids && text == null) {
      throw whole.missing("text");
    }
    int[] prompt = text == null ? TokenIds.read(whole, "input_ids") : model.tokens(text);
    model.complete(
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
    info.addCommonTo(routes);
    for (String path : List.of("/server_info", "/get_server_info")) {
      routes.add("GET", path, this::serverInfo);
    }
    routes
        .add("GET", "/health_generate", info::health)
        .add("GET", "/metrics", this::metrics)
        .add("GET", "/v1/loads", this::loads)
        .add("POST", "/tokenize", info::tokenizeText)
        .add("POST", "/detokenize", info::detokenize)
        .add("POST", "/flush_cache", debug::clear)
        .add("POST", EngineProfile.SGLANG_GENERATE, this::generate);
  }
}
