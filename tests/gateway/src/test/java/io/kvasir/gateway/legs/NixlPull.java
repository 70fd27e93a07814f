package io.kvasir.gateway.legs;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.util.RawValue;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * vLLM with NixlConnector: the decode server reads the KV that its {@code kv_transfer_params} name,
 * which are those of the prefill server's answer, as they are.
 */
public final class NixlPull extends LegServer {

  private static final int SIDE_CHANNEL = 5600;
  private static final List<String> PLACE =
      List.of("remote_engine_id", "remote_request_id", "remote_host", "remote_port");

  private final AtomicInteger requests = new AtomicInteger();

  /**
   * Starts a server.
   *
   * @param setup its role
   */
  public NixlPull(Setup setup) {
    super(setup, "vllm");
  }

  @Override
  public String description() {
    return url("vllm", ",ranks=2,block_size=16");
  }

  @Override
  Answer serve(Leg leg) {
    if (prefill()) {
      return servePrefill(leg);
    }
    return leg.body().has("kv_transfer_params") ? serveDecode(leg) : serveWhole(leg);
  }

  /** Checks that a request asks a connector of nixl for a prompt alone. */
  static void needPrefill(Leg leg) {
    leg.fields().need("kv_transfer_params", Fields.OBJECT).end();
    leg.oneToken();
    Fields.of("kv_transfer_params", leg.body().path("kv_transfer_params"))
        .need("do_remote_decode", Fields.TRUE)
        .need("do_remote_prefill", Fields.FALSE)
        .need("remote_engine_id", Fields.NULL)
        .need("remote_block_ids", Fields.NULL)
        .need("remote_host", Fields.NULL)
        .need("remote_port", Fields.NULL)
        .end();
  }

  private Answer servePrefill(Leg leg) {
    needPrefill(leg);
    int rank = leg.rankHeader(RANKS);
    String id = "cmpl-" + leg.header("X-Request-Id") + "-" + requests.incrementAndGet();
    String engine = "p" + number() + "_dp" + rank;
    String params = params(engine, id, SIDE_CHANNEL + rank, leg.promptTokens());
    transfers().pin(engine, id, leg.prompt(), NODES.textNode(params));
    Answer answer = Answer.first(leg, CACHED_TOKENS, "length");
    answer.more().putRawValue("kv_transfer_params", new RawValue(params));
    return answer;
  }

  /** The parameters, spelled so that a copy that is not exact differs. */
  private static String params(String engine, String id, int port, int tokens) {
    return "{\"do_remote_prefill\":true, \"do_remote_decode\":false,\"remote_engine_id\":\""
        + engine
        + "\",\"remote_block_ids\":[[1, 2],[9007199254740993]],\"remote_request_id\":\""
        + id
        + "\",\"remote_host\":\"10.0.0.5\",\"remote_port\":"
        + port
        + ",\"tp_size\":2,\"dcp_size\":1,\"pp_size\":1,\"remote_num_tokens\":"
        + tokens
        + ",\"remote_blocks_expiry_time\":1.79580000250E+9,\"transfer_mode\":\"pull\","
        + "\"_lease\":{\"z\":18446744073709551615,\"a\":\"\\u00e9\\/\"}}";
  }

  private Answer serveDecode(Leg leg) {
    leg.fields().need("kv_transfer_params", Fields.OBJECT).end();
    leg.rankHeader(RANKS);
    JsonNode params = leg.body().path("kv_transfer_params");
    Fields.of("kv_transfer_params", params)
        .need("do_remote_prefill", Fields.TRUE)
        .need("do_remote_decode", Fields.FALSE);
    if (!PLACE.stream().allMatch(params::hasNonNull)) {
      return recomputed(leg); // as vLLM does, with a warning
    }
    String engine = params.path("remote_engine_id").textValue();
    String id = params.path("remote_request_id").textValue();
    JsonNode given = transfers().take(engine, id, leg.prompt(), false);
    if (!leg.text().contains(given.textValue())) {
      throw Refused.field("kv_transfer_params are not those of prefill: " + params);
    }
    return Answer.to(leg, leg.promptTokens());
  }

  @Override
  String nullIds() {
    return "{\"id\":\"a\",\"object\":\"text_completion\",\"choices\":[{\"index\":0,\"text\":\"one\","
        + "\"finish_reason\":\"length\"}],\"kv_transfer_params\":{\"do_remote_prefill\":true,"
        + "\"do_remote_decode\":false,\"remote_engine_id\":null,\"remote_block_ids\":null,"
        + "\"remote_request_id\":null,\"remote_host\":null,\"remote_port\":null}}";
  }
}
