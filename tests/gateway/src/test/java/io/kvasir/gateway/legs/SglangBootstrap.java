package io.kvasir.gateway.legs;

import com.fasterxml.jackson.databind.JsonNode;

/**
 * SGLang: both legs name the bootstrap server of the prefill server and a room, and the prefill
 * server answers when the KV has been fetched.
 */
public final class SglangBootstrap extends LegServer {

  private static final String HOST = "10.0.0.5";

  /**
   * Starts a server.
   *
   * @param setup its role
   */
  public SglangBootstrap(Setup setup) {
    super(setup, "sglang");
  }

  private int bootstrapPort() {
    return 8998 + number();
  }

  @Override
  public String description() {
    return url("sglang", prefill() ? ",bootstrap=" + HOST + ":" + bootstrapPort() : "");
  }

  @Override
  String answerTo(String path) {
    if (!path.equals("/server_info")) {
      return super.answerTo(path);
    }
    return "{\"dp_size\":"
        + RANKS
        + ",\"page_size\":16,\"kv_events\":null,\"disaggregation_mode\":\""
        + (prefill() ? "prefill" : "decode")
        + "\",\"disaggregation_bootstrap_port\":"
        + bootstrapPort()
        + "}";
  }

  @Override
  Answer serve(Leg leg) {
    Fields fields =
        leg.fields()
            .need("bootstrap_host", Fields.TEXT)
            .need("bootstrap_port", Fields.integer(1, 65535))
            .need("bootstrap_room", Fields.integer(0, Long.MAX_VALUE))
            .need("routed_dp_rank", Fields.integer(0, RANKS - 1));
    JsonNode body = leg.body();
    long room = body.path("bootstrap_room").longValue();
    String place = body.path("bootstrap_host").textValue() + ":" + body.path("bootstrap_port");
    int prefillRank = (int) (room % RANKS);
    if (prefill()) {
      fields.end();
      return servePrefill(leg, place, Long.toString(room), prefillRank);
    }
    fields
        .need("disagg_prefill_dp_rank", Fields.integer(prefillRank, prefillRank))
        .may("decode_tp_size", Fields.integer(1, 1024))
        .end();
    transfers().take(place, Long.toString(room), leg.prompt(), true);
    return Answer.to(leg, CACHED_TOKENS);
  }

  private Answer servePrefill(Leg leg, String place, String room, int rank) {
    if (!place.equals(HOST + ":" + bootstrapPort())) {
      throw Refused.field("the bootstrap server is another: " + place);
    }
    if (leg.body().path("routed_dp_rank").intValue() != rank) {
      throw Refused.field("room " + room + " is not of rank " + leg.body().path("routed_dp_rank"));
    }
    transfers().pin(place, room, leg.prompt(), NODES.nullNode());
    transfers().awaitTaken(place, room);
    return Answer.first(leg, CACHED_TOKENS, "length");
  }

  @Override
  String nullIds() {
    return "{\"choices\":null}";
  }
}
