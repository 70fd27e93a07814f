package io.kvasir.gateway.legs;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kvasir.gateway.legs.Fields.Rule;

/**
 * vLLM with NixlPushConnector: the decode server registers its blocks with the prefill rank that
 * its {@code kv_transfer_params} name, and the request id of both legs joins them.
 */
public final class NixlPush extends LegServer {

  private static final String HOST = "10.0.0.5";
  private static final int TP_SIZE = 2;
  private static final Rule TEXT_OR_NULL = Fields.TEXT.or(Fields.NULL);

  /**
   * Starts a server.
   *
   * @param setup its role
   */
  public NixlPush(Setup setup) {
    super(setup, "vllm");
  }

  @Override
  public String description() {
    String own =
        ",engine_id=p"
            + number()
            + "_dp{r},tp_size="
            + TP_SIZE
            + ",side_channel="
            + HOST
            + ":"
            + sideChannel(0);
    return url("vllm", ",disagg=nixl_push,ranks=2,block_size=16" + (prefill() ? own : ""));
  }

  private int sideChannel(int rank) {
    return 5600 + 10 * number() + rank;
  }

  private String engineId(int rank) {
    return "p" + number() + "_dp" + rank;
  }

  @Override
  Answer serve(Leg leg) {
    if (prefill()) {
      return servePrefill(leg);
    }
    return leg.body().has("kv_transfer_params") ? serveDecode(leg) : serveWhole(leg);
  }

  private Answer servePrefill(Leg leg) {
    NixlPull.needPrefill(leg);
    int rank = leg.rankHeader(RANKS);
    String id = leg.header("X-Request-Id");
    String place = engineId(rank) + "@" + HOST + ":" + sideChannel(rank) + "/" + TP_SIZE;
    transfers().pin(place, id, leg.prompt(), NODES.nullNode());
    Answer answer = Answer.first(leg, CACHED_TOKENS, "length");
    ObjectNode params = answer.more().putObject("kv_transfer_params");
    params.put("do_remote_prefill", true).put("do_remote_decode", false);
    params.put("remote_engine_id", engineId(rank)).putArray("remote_block_ids").addArray().add(1);
    params.put("remote_request_id", "cmpl-" + id).put("remote_host", HOST);
    params.put("remote_port", sideChannel(rank)).put("tp_size", TP_SIZE);
    params.put("transfer_mode", "push");
    return answer;
  }

  private Answer serveDecode(Leg leg) {
    leg.fields().need("kv_transfer_params", Fields.OBJECT).end();
    leg.rankHeader(RANKS);
    JsonNode params = leg.body().path("kv_transfer_params");
    Fields.of("kv_transfer_params", params)
        .need("do_remote_prefill", Fields.TRUE)
        .need("do_remote_decode", Fields.FALSE)
        .need("remote_engine_id", Fields.TEXT)
        .need("remote_request_id", Fields.TEXT)
        .need("remote_host", Fields.TEXT)
        .need("remote_port", Fields.integer(1, 65535))
        .need("tp_size", Fields.integer(1, 1024))
        .may("remote_block_ids", Fields.NULL)
        .may("transfer_mode", TEXT_OR_NULL)
        .end();
    String place =
        params.path("remote_engine_id").textValue()
            + "@"
            + params.path("remote_host").textValue()
            + ":"
            + params.path("remote_port")
            + "/"
            + params.path("tp_size");
    transfers().take(place, leg.header("X-Request-Id"), leg.prompt(), true);
    return Answer.to(leg, leg.promptTokens());
  }

  @Override
  String nullIds() {
    return "{\"kv_transfer_params\":{\"do_remote_prefill\":true,\"do_remote_decode\":false,"
        + "\"remote_engine_id\":null,\"remote_request_id\":null}}";
  }
}
