package io.kvasir.embedded.disagg;

import static io.kvasir.embedded.disagg.KvParams.DO_REMOTE_DECODE;
import static io.kvasir.embedded.disagg.KvParams.DO_REMOTE_PREFILL;
import static io.kvasir.embedded.disagg.KvParams.ENGINE_ID;
import static io.kvasir.embedded.disagg.KvParams.TRANSFER_ID;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kvasir.embedded.api.AskedCompletion;
import io.kvasir.embedded.api.Incoming;
import io.kvasir.embedded.api.Json;
import io.kvasir.embedded.api.ReplyExtras;
import io.kvasir.embedded.api.Routes;
import io.kvasir.embedded.disagg.KvArrival.CachedTokens;
import io.kvasir.embedded.disagg.KvDeparture.Announcement;
import java.net.URI;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * vLLM's Mooncake connector: both legs run at once under one {@code transfer_id}, and the decode
 * leg names the rank by the engine id that {@code GET /query} of the prefill engine has.
 *
 * <p>Thread-safe.
 */
final class MooncakeDialect implements Dialect {

  private static final String BOOTSTRAP = "remote_bootstrap_addr";
  private static final Set<String> FIELDS =
      Set.of(DO_REMOTE_DECODE, DO_REMOTE_PREFILL, TRANSFER_ID, BOOTSTRAP, ENGINE_ID);

  /** Without one of these, vLLM does not fetch KV. */
  private static final List<String> ADDRESS = List.of(TRANSFER_ID, BOOTSTRAP, ENGINE_ID);

  private final EngineIdentity engine;
  private final TransferCounts counts;

  MooncakeDialect(EngineIdentity engine, TransferCounts counts) {
    this.engine = engine;
    this.counts = counts;
  }

  @Override
  public boolean awaitsPrefill() {
    return true;
  }

  @Override
  public @Nullable LegPlan read(Incoming request, AskedCompletion asked) {
    KvParams params = KvParams.of(engine, asked, FIELDS);
    if (params == null) {
      return null;
    }
    if (!params.decode()) {
      params.requireNone(List.of(BOOTSTRAP, ENGINE_ID));
      KvDeparture departure =
          new KvDeparture(
              params.text(TRANSFER_ID),
              engine.settings().waitMs(),
              false,
              false,
              KvParams.NAME,
              computed -> new Announcement(Json.object(), ReplyExtras.NONE));
      return new LegPlan(asked, null, departure);
    }
    if (!params.hasAll(ADDRESS)) {
      counts.onRecomputed("kv_transfer_params lacks one of " + ADDRESS);
      return new LegPlan(asked, null, null);
    }
    KvArrival arrival =
        new KvArrival(
            bootstrap(params),
            params.text(TRANSFER_ID),
            params.text(ENGINE_ID),
            null,
            Json.object(),
            true,
            0,
            CachedTokens.OWN);
    return new LegPlan(asked, arrival, null);
  }

  private static URI bootstrap(KvParams params) {
    try {
      URI url = EngineIdentity.httpUrl(params.text(BOOTSTRAP));
      if (url.getPath().isEmpty()) {
        return url;
      }
    } catch (IllegalArgumentException e) {
      // refused below
    }
    throw params
        .fields()
        .wrong(BOOTSTRAP, "an address like http://host:8998", params.json().path(BOOTSTRAP));
  }

  /** The engine ids of the ranks, and where their workers are: one each. */
  private void query(Incoming request) {
    ObjectNode root = Json.object();
    URI url = engine.url();
    for (int rank = 0; rank < engine.ranks(); rank++) {
      root.putObject(String.valueOf(rank))
          .put("engine_id", engine.settings().engineId(rank))
          .putObject("worker_addr")
          .putObject("0")
          .put("0", url.getHost() + ":" + url.getPort());
    }
    request.replyLater(200, root);
  }

  @Override
  public void addTo(Routes routes) {
    if (engine.settings().role().prefills()) {
      routes.add("GET", "/query", this::query);
    }
  }
}
