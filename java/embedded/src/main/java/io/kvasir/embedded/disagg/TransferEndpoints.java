package io.kvasir.embedded.disagg;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kvasir.embedded.api.Incoming;
import io.kvasir.embedded.api.Json;
import io.kvasir.embedded.api.Routes;
import io.kvasir.embedded.disagg.OutgoingTransfers.Asker;
import io.kvasir.embedded.ranks.RankMeters;

/**
 * {@code POST /debug/transfer}, by which stand-ins fetch KV from each other, and {@code GET
 * /debug/transfers}, which shows what is pinned and what has become of transfers.
 *
 * <p>Thread-safe.
 */
final class TransferEndpoints {

  private static final int OK = 200;
  private static final int BAD_REQUEST = 400;
  private static final int GONE = 410;

  private final RoleSettings settings;
  private final int ranks;
  private final OutgoingTransfers transfers;
  private final TransferCounts counts;
  private final RankMeters meters;

  TransferEndpoints(
      RoleSettings settings,
      int ranks,
      OutgoingTransfers transfers,
      TransferCounts counts,
      RankMeters meters) {
    this.settings = settings;
    this.ranks = ranks;
    this.transfers = transfers;
    this.counts = counts;
    this.meters = meters;
  }

  /** Replies when the blocks have been moved, or cannot be. */
  void fetch(Incoming request) {
    fetch(request, Question.of(request.fields()));
  }

  private void fetch(Incoming request, Question question) {
    Asker asker =
        new Asker() {
          @Override
          public void onMoved(Pin pin) {
            request.replyLater(OK, moved(pin));
          }

          @Override
          public void onFailed(TransferFailure failure) {
            ObjectNode json =
                Json.object().put("error", failure.getMessage()).put("param", failure.param());
            request.replyLater(failure.param() == null ? GONE : BAD_REQUEST, json);
          }
        };
    request.call().onCancel(() -> transfers.forget(question.key(), asker));
    transfers.ask(question, asker);
  }

  private static ObjectNode moved(Pin pin) {
    ObjectNode json =
        Json.object().put("rank", pin.hold().rank()).put("cached_tokens", pin.cachedTokens());
    ArrayNode hashes = json.putArray("hashes");
    for (long hash : pin.hold().hashes().sequence()) {
      hashes.add(hash);
    }
    return json;
  }

  /** Shows the state. */
  void show(Incoming request) {
    transfers.state(state -> request.replyLater(OK, json(state)));
  }

  private ObjectNode json(OutgoingTransfers.State state) {
    ObjectNode json =
        Json.object()
            .put("role", settings.role().id())
            .put("connector", settings.connector().id())
            .put("open", state.open())
            .put("waiting", state.waiting())
            .put("running", state.running())
            .put("sent", counts.sent())
            .put("received", counts.received())
            .put("expired", counts.expired())
            .put("failed", counts.failed())
            .put("recomputed", counts.recomputed());
    int pinned = 0;
    int arriving = 0;
    ArrayNode all = json.putArray("ranks");
    for (int rank = 0; rank < ranks; rank++) {
      pinned += meters.pinnedBlocks(rank);
      arriving += meters.arrivingBlocks(rank);
      all.addObject()
          .put("rank", rank)
          .put("engine_id", settings.engineId(rank))
          .put("pinned_blocks", meters.pinnedBlocks(rank))
          .put("arriving_blocks", meters.arrivingBlocks(rank));
    }
    return json.put("pinned_blocks", pinned).put("arriving_blocks", arriving);
  }

  /** Adds the endpoint that has the KV of one rank only. */
  void addSideChannel(int rank, Routes routes) {
    routes.add(
        "POST",
        TransferClient.PATH,
        request -> fetch(request, Question.of(request.fields()).toRank(rank)));
  }

  /** Adds the endpoints. */
  void addTo(Routes routes) {
    routes.add("POST", TransferClient.PATH, this::fetch).add("GET", "/debug/transfers", this::show);
  }
}
