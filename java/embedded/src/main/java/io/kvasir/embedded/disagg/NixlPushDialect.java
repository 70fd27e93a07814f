package io.kvasir.embedded.disagg;

import static io.kvasir.embedded.disagg.KvParams.BLOCK_IDS;
import static io.kvasir.embedded.disagg.KvParams.ENGINE_ID;
import static io.kvasir.embedded.disagg.KvParams.HOST;
import static io.kvasir.embedded.disagg.KvParams.PORT;
import static io.kvasir.embedded.disagg.KvParams.REQUEST_ID;
import static io.kvasir.embedded.disagg.KvParams.TRANSFER_ID;

import io.kvasir.embedded.api.AskedCompletion;
import io.kvasir.embedded.api.Incoming;
import io.kvasir.embedded.api.Json;
import io.kvasir.embedded.disagg.KvArrival.CachedTokens;
import io.kvasir.embedded.disagg.KvDeparture.Announcement;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * vLLM's NIXL connector that pushes: both legs may run at once, and the decode leg names the
 * prefill engine. The legs have the same {@code transfer_id}, or else the same {@code
 * X-Request-Id}.
 *
 * <p>Thread-safe.
 */
final class NixlPushDialect implements Dialect {

  private static final Set<String> FIELDS = NixlDialect.FIELDS;
  private static final List<String> SIZES = List.of("tp_size", "dcp_size", "pp_size");

  /** Without one of these, vLLM does not register its blocks. */
  private static final List<String> ADDRESS = List.of(ENGINE_ID, HOST, PORT);

  private final EngineIdentity engine;
  private final TransferCounts counts;

  NixlPushDialect(EngineIdentity engine, TransferCounts counts) {
    this.engine = engine;
    this.counts = counts;
  }

  @Override
  public boolean awaitsPrefill() {
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
    String key = key(request, params);
    if (!params.decode()) {
      params.requireNone(List.of(ENGINE_ID, REQUEST_ID, BLOCK_IDS, HOST, PORT));
      KvDeparture departure =
          new KvDeparture(
              key,
              engine.settings().leaseMs(),
              false,
              false,
              KvParams.NAME,
              computed ->
                  new Announcement(
                      Json.object(), NixlDialect.announce(engine, key, computed, "push").extras()));
      return new LegPlan(asked, null, departure);
    }
    if (!params.hasAll(ADDRESS)) {
      counts.onRecomputed("kv_transfer_params lacks one of " + ADDRESS);
      return new LegPlan(asked, null, null);
    }
    KvArrival arrival =
        new KvArrival(
            params.engine(),
            key,
            params.text(ENGINE_ID),
            null,
            Json.object(),
            true,
            0,
            CachedTokens.OWN);
    return new LegPlan(asked, arrival, null);
  }

  private static String key(Incoming request, KvParams params) {
    if (params.fields().has(TRANSFER_ID)) {
      return params.text(TRANSFER_ID);
    }
    String id = request.headers().get("x-request-id");
    if (id == null || id.isBlank()) {
      throw params.fields().missing(TRANSFER_ID);
    }
    return "cmpl-" + id.strip();
  }
}
