package io.kvasir.gateway.legs;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.math.BigInteger;

/**
 * TensorRT-LLM's context and generation servers. With context first, a generation request has the
 * answer's {@code disaggregated_params}; with generation first, both have ids of the caller.
 * Requests that name a context must be signed.
 */
public final class Trtllm extends LegServer {

  /** The key of signatures. */
  public static final String KEY = "a-key-of-thirty-two-characters-xx";

  /** A prompt whose answer ends with the first token. */
  public static final String ENDS = "Say one";

  private static final Fields.Rule DISAGG_ID = Fields.integer(1L << 42, Long.MAX_VALUE);
  private static final Fields.Rule STYLE = Fields.integer(1, 1);
  private static final BigInteger CTX_ID = new BigInteger("9007199254740993");

  private final boolean generationFirst;

  /**
   * Starts a server.
   *
   * @param setup its role
   * @param generationFirst whether both parts of a request are sent at once
   */
  public Trtllm(Setup setup, boolean generationFirst) {
    super(setup, "tensorrt_llm");
    this.generationFirst = generationFirst;
  }

  @Override
  public String description() {
    return url("trtllm", "");
  }

  @Override
  String answerTo(String path) {
    if (!path.equals("/server_info")) {
      return super.answerTo(path);
    }
    ObjectNode info = NODES.objectNode();
    if (prefill()) {
      info.set("disaggregated_params", stated());
    }
    return info.toString();
  }

  /** What a context server states of itself; an endpoint may be a list. */
  private ObjectNode stated() {
    ObjectNode stated = NODES.objectNode();
    if (number() == 0) {
      stated.putArray("ctx_info_endpoint").add(endpoint()).add("tcp://10.0.0.9:1");
    } else {
      stated.put("ctx_info_endpoint", endpoint());
    }
    return stated;
  }

  private String endpoint() {
    return "tcp://10.0.0.5:" + (7000 + number());
  }

  @Override
  Answer serve(Leg leg) {
    if (prefill()) {
      return serveContext(leg);
    }
    return leg.body().has("disaggregated_params") ? serveGeneration(leg) : serveWhole(leg);
  }

  private Answer serveContext(Leg leg) {
    leg.fields().need("disaggregated_params", Fields.OBJECT).end();
    Fields.of("body", leg.body()).may("stream", Fields.FALSE).may("stream_options", Fields.NULL);
    JsonNode params = leg.body().path("disaggregated_params");
    JsonNode id = params.path("disagg_request_id");
    int style = generationFirst ? 1 : 0;
    Fields fields =
        Fields.of("disaggregated_params", params)
            .need("request_type", Fields.text("context_only"))
            .need("disagg_request_id", DISAGG_ID);
    if (generationFirst) {
      fields.need("schedule_style", STYLE).may("ctx_request_id", Fields.equal(id));
    } else {
      fields.may("schedule_style", Fields.integer(0, 0).or(Fields.NULL));
    }
    fields.end();
    boolean ends = leg.prompt().toString().contains(ENDS);
    JsonNode given = given(leg, id, style);
    if (!ends) {
      JsonNode prompt = generationFirst ? leg.prompt() : computed(leg, tokens(leg));
      transfers().pin(endpoint(), id.toString(), prompt, given);
      if (generationFirst) {
        transfers().awaitTaken(endpoint(), id.toString());
      }
    }
    Answer answer = Answer.first(leg, CACHED_TOKENS, ends ? "stop" : "length");
    (number() == 0 ? answer.inChoice() : answer.more()).set("disaggregated_params", given);
    answer.more().set("prompt_token_ids", tokens(leg));
    return answer;
  }

  private JsonNode given(Leg leg, JsonNode id, int style) {
    ObjectNode given = NODES.objectNode().put("request_type", "context_only");
    given.putArray("first_gen_tokens").add(11);
    given.putNull("first_gen_log_probs");
    given.set("ctx_request_id", generationFirst ? id : NODES.numberNode(CTX_ID));
    given.put("encoded_opaque_state", number() == 0 ? "b3Bh/cX+ZQ==" : null);
    given.putNull("draft_tokens").set("disagg_request_id", id);
    given.put("ctx_dp_rank", number() % RANKS).put("ctx_info_endpoint", endpoint());
    given.put("schedule_style", style);
    given.putObject("ctx_usage").put("prompt_tokens", leg.promptTokens());
    return json(given.toString());
  }

  private static ArrayNode tokens(Leg leg) {
    if (!leg.chat() && leg.prompt().isArray()) {
      return (ArrayNode) leg.prompt();
    }
    ArrayNode tokens = NODES.arrayNode();
    leg.prompt().toString().chars().forEach(tokens::add);
    return tokens;
  }

  private Answer serveGeneration(Leg leg) {
    Fields fields = leg.fields().need("disaggregated_params", Fields.OBJECT);
    JsonNode params = leg.body().path("disaggregated_params");
    Signature.check(leg, params, KEY);
    Fields named =
        Fields.of("disaggregated_params", params)
            .need("request_type", Fields.text("generation_only"))
            .need("disagg_request_id", DISAGG_ID)
            .need("ctx_request_id", Fields.integer(1, Long.MAX_VALUE))
            .need("ctx_info_endpoint", Fields.TEXT);
    JsonNode id = params.path("disagg_request_id");
    String endpoint = params.path("ctx_info_endpoint").textValue();
    if (generationFirst) {
      fields.end();
      named.need("ctx_request_id", Fields.equal(id)).need("schedule_style", STYLE).end();
      transfers().take(endpoint, id.toString(), leg.prompt(), true);
    } else {
      takeGiven(leg, fields, endpoint, id.toString());
    }
    return Answer.to(leg, CACHED_TOKENS);
  }

  /** The object is that of the context server, and its tokens stand in place of the prompt. */
  private void takeGiven(Leg leg, Fields fields, String endpoint, String id) {
    String name = leg.chat() ? "prompt_token_ids" : "prompt";
    fields.need(name, Fields.each(Fields.integer(0, Integer.MAX_VALUE))).end();
    JsonNode prompt = computed(leg, leg.body().path(name));
    ObjectNode expected = transfers().take(endpoint, id, prompt, false).deepCopy();
    expected.put("request_type", "generation_only");
    Fields.of("body", leg.body()).need("disaggregated_params", Fields.equal(expected));
  }

  /** The prompt of a generation request that follows its context. */
  private static JsonNode computed(Leg leg, JsonNode ids) {
    ArrayNode both = NODES.arrayNode().add(ids);
    return leg.chat() ? both.add(leg.prompt()) : both;
  }

  @Override
  String nullIds() {
    return "{\"id\":\"a\",\"object\":\"text_completion\",\"prompt_token_ids\":[1],\"choices\":["
        + "{\"index\":0,\"text\":\"one\",\"finish_reason\":\"length\",\"disaggregated_params\":"
        + "{\"request_type\":\"context_only\",\"ctx_request_id\":null,\"disagg_request_id\":null}}]}";
  }
}
