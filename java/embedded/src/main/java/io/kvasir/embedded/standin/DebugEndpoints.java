package io.kvasir.embedded.standin;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kvasir.embedded.api.ApiError;
import io.kvasir.embedded.api.Call;
import io.kvasir.embedded.api.Incoming;
import io.kvasir.embedded.api.Json;
import io.kvasir.embedded.api.OpenAiJson;
import io.kvasir.embedded.api.Routes;
import io.kvasir.embedded.publish.HandleForm;
import io.kvasir.embedded.ranks.BlockFeed.Truth;
import io.kvasir.embedded.ranks.RankLoop;
import io.kvasir.embedded.ranks.RankWorker;
import io.kvasir.embedded.ranks.SequenceEvents;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.StringJoiner;
import java.util.function.Function;

/**
 * {@code GET /debug/blocks}: the blocks that the ranks hold, whatever was published about them; and
 * {@code GET} and {@code POST /debug/faults}.
 *
 * <p>Thread-safe.
 */
final class DebugEndpoints {

  private static final int ALL_RANKS = -1;

  private final StandIn standIn;
  private final RankLoop ranks;
  private final int blockTokens;

  DebugEndpoints(StandIn standIn, RankLoop ranks, int blockTokens) {
    this.standIn = standIn;
    this.ranks = ranks;
    this.blockTokens = blockTokens;
  }

  /** The blocks of one rank or of all, as they are between two iterations. */
  void blocks(Incoming request) {
    int only = request.queryNumber("rank", 0, standIn.faults().ranks() - 1, ALL_RANKS);
    onWorker(
        request,
        worker -> {
          List<Truth> truths = new ArrayList<>();
          for (int rank = 0; rank < standIn.faults().ranks(); rank++) {
            if (only == ALL_RANKS || only == rank) {
              truths.add(worker.blocks(rank));
            }
          }
          return truths;
        },
        truths -> text(truths).getBytes(StandardCharsets.UTF_8));
  }

  private String text(List<Truth> truths) {
    HandleForm handles = standIn.settings().handles();
    StringJoiner ranks =
        new StringJoiner(",", "{\"block_size\":" + blockTokens + ",\"ranks\":[", "]}");
    for (Truth truth : truths) {
      StringJoiner blocks = new StringJoiner(",");
      for (int i = 0; i < truth.hashes().length; i++) {
        int position = truth.positions()[i];
        String hash = handles.json(truth.hashes()[i]);
        String parent = position == 0 ? "null" : handles.json(truth.parents()[i]);
        blocks.add(
            "{\"hash\":" + hash + ",\"parent\":" + parent + ",\"position\":" + position + "}");
      }
      ranks.add(
          "{\"rank\":"
              + truth.rank()
              + ",\"last_batch\":"
              + (truth.lastNumber() < 0 ? "null" : truth.lastNumber())
              + ",\"count\":"
              + truth.hashes().length
              + ",\"blocks\":["
              + blocks
              + "]}");
    }
    return ranks.toString();
  }

  /** The faults. */
  void faults(Incoming request) {
    request.replyLater(200, FaultFields.json(standIn.faults()));
  }

  /** Changes faults; the reply has all of them. */
  void change(Incoming request) {
    ObjectNode body = Json.read(request.body());
    List<Integer> restarting = FaultFields.apply(body, standIn.faults());
    if (standIn.publisher() != null) {
      standIn.publisher().onFaultsChanged();
    }
    onWorker(
        request,
        worker -> {
          restarting.forEach(worker::restartBlocks);
          return standIn.faults();
        },
        faults -> Json.bytes(FaultFields.json(faults)));
  }

  /** Removes the blocks that no request uses. */
  void clear(Incoming request) {
    onWorker(
        request,
        worker -> {
          worker.clearBlocks();
          return "";
        },
        nothing -> Json.bytes(Json.object().put("cleared", true)));
  }

  /** Asks the ranks' thread, and replies with JSON on the request's event loop. */
  private <T> void onWorker(
      Incoming request, Function<RankWorker, T> ask, Function<T, byte[]> json) {
    Call call = request.call();
    ranks.onWorker(
        worker -> {
          T answer = ask.apply(worker);
          SequenceEvents.execute(
              call.loop(), () -> call.reply(200, request.jsonHeaders(), json.apply(answer)));
        },
        () ->
            SequenceEvents.execute(
                call.loop(),
                () ->
                    call.reply(
                        ApiError.UNAVAILABLE,
                        request.jsonHeaders(),
                        Json.bytes(
                            OpenAiJson.error(
                                ApiError.of(
                                    ApiError.UNAVAILABLE, "closed", "the engine is closed"))))));
  }

  /** Adds the endpoints. */
  void addTo(Routes routes) {
    routes
        .add("GET", "/debug/blocks", this::blocks)
        .add("GET", "/debug/faults", this::faults)
        .add("POST", "/debug/faults", this::change);
  }
}
