package io.kvasir.embedded.disagg;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kvasir.embedded.api.ApiError;
import io.kvasir.embedded.api.AskedCompletion;
import io.kvasir.embedded.api.Incoming;
import io.kvasir.embedded.api.RequestFields;
import io.kvasir.embedded.api.TokenIds;
import io.kvasir.embedded.disagg.KvArrival.CachedTokens;
import io.kvasir.embedded.disagg.TrtllmContext.Ids;
import java.net.URI;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * TensorRT-LLM's disaggregated parameters: {@code context_only} and {@code generation_only},
 * context first or generation first.
 *
 * <p>Thread-safe.
 */
final class TrtllmDialect implements Dialect {

  /** The field of requests and replies. */
  static final String NAME = "disaggregated_params";

  static final String TYPE = "request_type";
  static final String CONTEXT_ONLY = "context_only";
  static final String GENERATION_ONLY = "generation_only";
  static final String REQUEST_ID = "disagg_request_id";
  static final String CTX_REQUEST_ID = "ctx_request_id";
  static final String FIRST_TOKENS = "first_gen_tokens";
  static final String STATE = "encoded_opaque_state";
  static final String ENDPOINT = "ctx_info_endpoint";
  static final String DP_RANK = "ctx_dp_rank";
  static final String DP_SIZE = "ctx_dp_size";
  static final String STYLE = "schedule_style";
  static final String CONVERSATION = "conversation_id";
  static final String USAGE = "ctx_usage";
  static final String BASE64_IDS = "return_prompt_token_ids_b64";
  static final String DRAFT = "draft_tokens";

  /** Ids of routers are at least this, so that they differ from those of engines. */
  static final long LEAST_ID = 1L << 42;

  private static final int GENERATION_FIRST = 1;
  private static final Set<String> FIELDS =
      Set.of(
          TYPE,
          REQUEST_ID,
          CTX_REQUEST_ID,
          FIRST_TOKENS,
          "first_gen_log_probs",
          "first_gen_logits",
          STATE,
          ENDPOINT,
          DP_RANK,
          DP_SIZE,
          STYLE,
          CONVERSATION,
          USAGE,
          BASE64_IDS,
          DRAFT);

  private final EngineIdentity engine;

  TrtllmDialect(EngineIdentity engine) {
    this.engine = engine;
  }

  @Override
  public boolean awaitsPrefill() {
    return true;
  }

  @Override
  public @Nullable LegPlan read(Incoming request, AskedCompletion asked) {
    RequestFields params = asked.fields().object(NAME);
    if (params == null) {
      return null;
    }
    params.requireOnly(FIELDS);
    checkTypes(params);
    String type = params.text(TYPE);
    if (type == null) {
      throw params.missing(TYPE);
    }
    InternalAuth.require(
        engine.settings().authKey(), request, params.text(STATE), endpoint(params));
    return switch (type) {
      case "context_and_generation" -> null;
      case CONTEXT_ONLY -> context(asked, params);
      case GENERATION_ONLY -> generation(asked, params);
      default ->
          throw ApiError.invalid(
              NAME + "." + TYPE,
              "Unknown request type: "
                  + type
                  + ". Must be context_only, generation_only or"
                  + " context_and_generation");
    };
  }

  private static void checkTypes(RequestFields params) {
    params.number(CTX_REQUEST_ID, 0, Long.MAX_VALUE);
    params.number(DP_RANK, 0, Integer.MAX_VALUE);
    params.number(DP_SIZE, 1, Integer.MAX_VALUE);
    params.number(STYLE, 0, GENERATION_FIRST);
    params.text(STATE);
    params.text(CONVERSATION);
    params.flag(BASE64_IDS, false);
    params.object(USAGE);
    for (String name : List.of(FIRST_TOKENS, DRAFT)) {
      if (params.has(name)) {
        TokenIds.read(params, name);
      }
    }
  }

  private static @Nullable String endpoint(RequestFields params) {
    return params.text(ENDPOINT);
  }

  private static boolean generationFirst(RequestFields params) {
    return params.integer(STYLE, 0, GENERATION_FIRST, 0) == GENERATION_FIRST;
  }

  private static long id(RequestFields params) {
    Long id = params.number(REQUEST_ID, LEAST_ID, Long.MAX_VALUE);
    if (id == null) {
      throw params.missing(REQUEST_ID);
    }
    return id;
  }

  private LegPlan context(AskedCompletion asked, RequestFields params) {
    engine.requirePrefills(NAME + "." + TYPE);
    LegPlan.requireOne(asked);
    if (asked.streamed() || asked.fields().has("stream_options")) {
      throw ApiError.invalid("stream", "stream must be false if request_type is context_only");
    }
    long id = id(params);
    Ids ids = new Ids(id, generationFirst(params));
    engine.url(); // must be known
    TrtllmContext said =
        new TrtllmContext(
            engine,
            ids,
            params.text(CONVERSATION),
            params.flag(BASE64_IDS, false),
            asked.prompts().get(0));
    KvDeparture departure =
        new KvDeparture(
            String.valueOf(id), engine.settings().waitMs(), false, false, NAME, said::announce);
    return new LegPlan(LegPlan.with(asked, asked.options().withMaxTokens(1)), null, departure);
  }

  private LegPlan generation(AskedCompletion asked, RequestFields params) {
    engine.requireDecodes(NAME + "." + TYPE);
    LegPlan.requireOne(asked);
    long id = id(params);
    boolean first = generationFirst(params);
    Long ctxId = params.number(CTX_REQUEST_ID, 0, Long.MAX_VALUE);
    if (ctxId == null) {
      throw params.missing(CTX_REQUEST_ID);
    }
    if (first && ctxId != id) {
      throw ApiError.invalid(
          NAME + "." + CTX_REQUEST_ID,
          CTX_REQUEST_ID + " must be " + REQUEST_ID + " if generation is first");
    }
    if (!first) {
      requireTokens(asked, params);
    }
    ObjectNode sent = (ObjectNode) asked.fields().get(NAME);
    KvArrival arrival =
        new KvArrival(
            address(params),
            String.valueOf(id),
            null,
            null,
            sent == null ? TrtllmContext.nothing() : sent,
            true,
            0,
            params.has(USAGE) ? CachedTokens.OF_PREFILL : CachedTokens.OWN);
    return new LegPlan(asked, arrival, null);
  }

  /** Behind a context, a prompt is the context's tokens, and the answer has begun. */
  private static void requireTokens(AskedCompletion asked, RequestFields params) {
    JsonNode begun = params.array(FIRST_TOKENS);
    if (begun == null || begun.isEmpty()) {
      throw params.missing(FIRST_TOKENS);
    }
    String field = asked.chat() ? "prompt_token_ids" : asked.promptField();
    JsonNode prompt = asked.fields().get(field);
    if (prompt == null || !prompt.isArray() || !prompt.path(0).isIntegralNumber()) {
      throw ApiError.invalid(
          field,
          field + " must be the token ids of the context if request_type is generation_only");
    }
  }

  private static URI address(RequestFields params) {
    String endpoint = endpoint(params);
    String state = params.text(STATE);
    try {
      if (endpoint != null) {
        return EngineIdentity.httpUrl(endpoint);
      }
      if (state != null) {
        return TrtllmContext.addressIn(state);
      }
    } catch (IllegalArgumentException e) {
      throw ApiError.invalid(
          NAME + "." + (endpoint == null ? STATE : ENDPOINT), "it is not the answer of a context");
    }
    throw params.missing(ENDPOINT);
  }

  @Override
  public void describe(ObjectNode info) {
    if (!engine.settings().role().prefills()) {
      return;
    }
    ObjectNode params = info.putObject(NAME);
    params.put(DP_SIZE, engine.ranks());
    if (engine.ranks() == 1) {
      params.put(DP_RANK, 0);
    } else {
      params.putNull(DP_RANK);
    }
    ArrayNode endpoints = params.putArray(ENDPOINT);
    endpoints.add(engine.url().toString());
  }
}
