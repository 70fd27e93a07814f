package io.kvasir.embedded.disagg;

import static io.kvasir.embedded.disagg.KvParams.BLOCK_IDS;
import static io.kvasir.embedded.disagg.KvParams.DO_REMOTE_DECODE;
import static io.kvasir.embedded.disagg.KvParams.DO_REMOTE_PREFILL;
import static io.kvasir.embedded.disagg.KvParams.ENGINE_ID;
import static io.kvasir.embedded.disagg.KvParams.HOST;
import static io.kvasir.embedded.disagg.KvParams.PORT;
import static io.kvasir.embedded.disagg.KvParams.REQUEST_ID;
import static io.kvasir.embedded.disagg.KvParams.TRANSFER_ID;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kvasir.embedded.api.ApiError;
import io.kvasir.embedded.api.AskedCompletion;
import io.kvasir.embedded.api.Incoming;
import io.kvasir.embedded.api.Json;
import io.kvasir.embedded.api.OpenAiJson;
import io.kvasir.embedded.disagg.KvArrival.CachedTokens;
import io.kvasir.embedded.disagg.KvDeparture.Announcement;
import io.kvasir.embedded.disagg.KvDeparture.Computed;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * vLLM's NIXL connector, which pulls: the prefill leg's reply names the blocks, and the decode leg
 * brings that unchanged. With both ways, the decode leg's reply names the blocks of the answer, and
 * the prefill leg of the next turn brings that.
 *
 * <p>Thread-safe.
 */
final class NixlDialect implements Dialect {

  private static final String NUM_TOKENS = "remote_num_tokens";
  private static final String EXPIRY = "remote_blocks_expiry_time";
  private static final String MODE = "transfer_mode";
  private static final List<String> SIZES = List.of("tp_size", "dcp_size", "pp_size");

  /** All fields. */
  static final Set<String> FIELDS =
      Set.of(
          DO_REMOTE_DECODE,
          DO_REMOTE_PREFILL,
          BLOCK_IDS,
          ENGINE_ID,
          REQUEST_ID,
          HOST,
          PORT,
          "tp_size",
          "dcp_size",
          "pp_size",
          NUM_TOKENS,
          EXPIRY,
          MODE,
          TRANSFER_ID);

  /** Without one of these, vLLM does not fetch KV. */
  private static final List<String> ADDRESS = List.of(ENGINE_ID, REQUEST_ID, HOST, PORT);

  /** Missing tokens below which an answer's KV is computed and not fetched. */
  private static final int RECOMPUTE_TOKENS = 64;

  private static final double MS_PER_SECOND = 1e3;

  private final EngineIdentity engine;
  private final TransferCounts counts;

  NixlDialect(EngineIdentity engine, TransferCounts counts) {
    this.engine = engine;
    this.counts = counts;
  }

  @Override
  public boolean awaitsPrefill() {
    return false;
  }

  @Override
  public boolean allowsAnotherFetch() {
    return true;
  }

  @Override
  public Pin.RankRule rankRule() {
    return Pin.RankRule.any(KvParams.NAME + "." + PORT); // a port may be that of a rank
  }

  @Override
  public @Nullable LegPlan read(Incoming request, AskedCompletion asked) {
    KvParams params = KvParams.of(engine, asked, FIELDS);
    if (params == null) {
      return null;
    }
    params.checkBlocks();
    params.checkSizes(SIZES);
    params.fields().integer(NUM_TOKENS, 0, Integer.MAX_VALUE, 0);
    params.fields().text(MODE);
    if (params.decode()) {
      KvArrival arrival = arrival(params, true);
      return new LegPlan(asked, arrival, engine.settings().bothWays() ? ofAnswer() : null);
    }
    KvDeparture departure = ofPrompt();
    if (!params.fields().has(BLOCK_IDS)) {
      params.requireNone(ADDRESS);
      return new LegPlan(asked, null, departure);
    }
    if (!engine.settings().bothWays()) {
      throw ApiError.invalid(
          KvParams.NAME + "." + BLOCK_IDS,
          "blocks of an answer need an engine with bidirectional_kv_xfer");
    }
    return new LegPlan(asked, arrival(params, false), departure);
  }

  private @Nullable KvArrival arrival(KvParams params, boolean wholePrompt) {
    if (!params.hasAll(ADDRESS)) {
      counts.onRecomputed("kv_transfer_params lacks one of " + ADDRESS);
      return null;
    }
    return new KvArrival(
        params.engine(),
        params.text(REQUEST_ID),
        params.text(ENGINE_ID),
        null,
        params.json(),
        wholePrompt,
        wholePrompt ? 0 : RECOMPUTE_TOKENS,
        CachedTokens.OWN);
  }

  private KvDeparture ofPrompt() {
    String id = OpenAiJson.newId("cmpl-");
    return new KvDeparture(
        id,
        engine.settings().leaseMs(),
        false,
        false,
        KvParams.NAME,
        computed -> announce(engine, id, computed, "pull"));
  }

  private KvDeparture ofAnswer() {
    String id = OpenAiJson.newId("cmpl-");
    return new KvDeparture(
        id,
        engine.settings().answerLeaseMs(),
        false,
        true,
        KvParams.NAME,
        computed -> announceAnswer(engine, id, computed));
  }

  /** What the reply of a prefill leg says. */
  static Announcement announce(EngineIdentity engine, String id, Computed computed, String mode) {
    ObjectNode verbatim = blocks(engine, id, computed, engine.settings().leaseMs());
    return said(engine, computed, verbatim.put(MODE, mode), true);
  }

  private static Announcement announceAnswer(EngineIdentity engine, String id, Computed computed) {
    ObjectNode verbatim = blocks(engine, id, computed, engine.settings().answerLeaseMs());
    return said(engine, computed, verbatim.put(MODE, "pull"), false);
  }

  private static ObjectNode blocks(
      EngineIdentity engine, String id, Computed computed, long leaseMs) {
    ObjectNode verbatim = Json.object();
    ArrayNode group = verbatim.putArray(BLOCK_IDS).addArray();
    for (int block : computed.hold().blocks()) {
      group.add(block);
    }
    return verbatim
        .put(ENGINE_ID, engine.settings().engineId(computed.hold().rank()))
        .put(REQUEST_ID, id)
        .put("tp_size", 1)
        .put("dcp_size", 1)
        .put("pp_size", 1)
        .put(NUM_TOKENS, computed.hold().tokens().length)
        .put(EXPIRY, (System.currentTimeMillis() + leaseMs) / MS_PER_SECOND);
  }

  /** Host and port need not be unchanged: proxies name the engine as they reach it. */
  private static Announcement said(
      EngineIdentity engine, Computed computed, ObjectNode verbatim, boolean ofPrompt) {
    ObjectNode said =
        Json.object().put(DO_REMOTE_PREFILL, ofPrompt).put(DO_REMOTE_DECODE, !ofPrompt);
    said.setAll(verbatim);
    said.put(HOST, engine.url().getHost())
        .put(PORT, engine.sideChannelPort(computed.hold().rank()));
    return new Announcement(verbatim, reply -> reply.set(KvParams.NAME, said));
  }
}
