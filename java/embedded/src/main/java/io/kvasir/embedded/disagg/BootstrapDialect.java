package io.kvasir.embedded.disagg;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kvasir.embedded.api.ApiError;
import io.kvasir.embedded.api.AskedCompletion;
import io.kvasir.embedded.api.GenerationOptions;
import io.kvasir.embedded.api.Incoming;
import io.kvasir.embedded.api.Json;
import io.kvasir.embedded.api.ReplyExtras;
import io.kvasir.embedded.api.RequestFields;
import io.kvasir.embedded.disagg.KvArrival.CachedTokens;
import io.kvasir.embedded.disagg.KvDeparture.Announcement;
import io.kvasir.model.Request;
import java.net.URI;
import org.jspecify.annotations.Nullable;

/**
 * SGLang's bootstrap rooms: both legs run at once with the same three fields. The prefill leg is
 * answered when its KV is fetched. Without a named rank, the prefill rank is the room modulo the
 * number of ranks ({@code follow_bootstrap_room}).
 *
 * <p>Thread-safe.
 */
final class BootstrapDialect implements Dialect {

  private static final String HOST = "bootstrap_host";
  private static final String PORT = "bootstrap_port";
  private static final String ROOM = "bootstrap_room";
  private static final String PREFILL_RANK = "disagg_prefill_dp_rank";
  private static final int DEFAULT_PORT = 8998;
  private static final int MAX_PORT = 65_535;

  private final EngineIdentity engine;

  BootstrapDialect(EngineIdentity engine) {
    this.engine = engine;
  }

  @Override
  public boolean awaitsPrefill() {
    return true;
  }

  @Override
  public Pin.RankRule rankRule() {
    return new Pin.RankRule() {
      @Override
      public int rankOf(String key, int actual) {
        return rank(Long.parseLong(key));
      }

      @Override
      public String field() {
        return PREFILL_RANK;
      }
    };
  }

  private int rank(long room) {
    return (int) (room % engine.ranks());
  }

  @Override
  public LegPlan read(Incoming request, AskedCompletion asked) {
    RequestFields fields = asked.fields();
    LegPlan.requireOne(asked);
    Long room = fields.number(ROOM, 0, Long.MAX_VALUE);
    if (room == null) {
      throw ApiError.invalid(
          ROOM, "Invalid request: disaggregated request received without " + ROOM);
    }
    String host = fields.text(HOST);
    if (host == null || host.isEmpty()) {
      throw fields.missing(HOST);
    }
    int port = fields.integer(PORT, 1, MAX_PORT, DEFAULT_PORT);
    Long prefillRank = fields.number(PREFILL_RANK, 0, Integer.MAX_VALUE);
    fields.text("bootstrap_pair_key");
    fields.number("decode_tp_size", 1, Integer.MAX_VALUE);
    fields.text("routing_key");
    return engine.settings().role() == EngineRole.PREFILL
        ? prefill(asked, room)
        : new LegPlan(asked, arrival(fields, host, port, room, prefillRank), null);
  }

  /** A prefill leg makes one token, whatever it asks for. */
  private LegPlan prefill(AskedCompletion asked, long room) {
    GenerationOptions options = asked.options().withMaxTokens(1);
    if (options.placement().targetRank() == Request.ANY_RANK) {
      options = options.withTargetRank(rank(room));
    }
    KvDeparture departure =
        new KvDeparture(
            String.valueOf(room),
            engine.settings().waitMs(),
            true,
            false,
            ROOM,
            computed -> new Announcement(Json.object(), ReplyExtras.NONE));
    return new LegPlan(LegPlan.with(asked, options), null, departure);
  }

  private static KvArrival arrival(
      RequestFields fields, String host, int port, long room, @Nullable Long prefillRank) {
    URI url;
    try {
      url = EngineIdentity.address(host, port);
    } catch (IllegalArgumentException e) {
      JsonNode given = fields.get(HOST);
      throw fields.wrong(HOST, "a host", given == null ? Json.object() : given);
    }
    return new KvArrival(
        url,
        String.valueOf(room),
        null,
        prefillRank == null ? null : prefillRank.intValue(),
        Json.object(),
        true,
        0,
        CachedTokens.OF_PREFILL);
  }

  @Override
  public void describe(ObjectNode info) {
    info.put("disaggregation_mode", engine.settings().role().id())
        .put("disaggregation_bootstrap_port", engine.transferPort());
  }
}
