package io.kvasir.embedded.standin;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kvasir.embedded.api.ApiError;
import io.kvasir.embedded.api.Json;
import io.kvasir.embedded.api.RequestFields;
import io.kvasir.embedded.publish.EngineFaults;
import io.kvasir.embedded.publish.Faults;
import io.kvasir.embedded.publish.RankFaults;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** Faults as JSON. Stateless. */
final class FaultFields {

  private static final String RANK = "rank";
  private static final String RESTART = "restart";
  private static final String WRONG_RANK = "wrong_rank";
  private static final String IGNORE_STEERING = "ignore_steering";
  private static final String WRONG_TEMPLATE = "wrong_template";
  private static final String BLOCK_SIZE = "block_size";
  private static final String LOST_TOKENS = "lost_hit_tokens";
  private static final String SMALLEST_HIT = "smallest_hit_tokens";
  private static final String DROP = "drop";
  private static final String GARBLE = "garble";
  private static final String DELAY = "delay_ms";
  private static final String PAUSE = "pause";
  private static final String PAUSE_MS = "pause_ms";
  private static final String PAUSE_LOSES = "pause_loses";

  /** Fields of the engine as a whole. */
  private static final List<String> OF_ENGINE =
      List.of(WRONG_RANK, IGNORE_STEERING, WRONG_TEMPLATE, BLOCK_SIZE, LOST_TOKENS, SMALLEST_HIT);

  /** Fields of one rank or of all. */
  private static final List<String> OF_RANKS =
      List.of(DROP, GARBLE, DELAY, PAUSE, PAUSE_MS, PAUSE_LOSES, RESTART);

  private static final int MAX_BLOCK_TOKENS = 1 << 16;

  private FaultFields() {}

  /**
   * Changes faults as a request says; those that it leaves out stay.
   *
   * @return the ranks that are to restart
   * @throws ApiError naming a field that is unknown, wrong or out of range; nothing is changed
   */
  static List<Integer> apply(ObjectNode body, Faults faults) {
    RequestFields fields = new RequestFields(body);
    Long only = fields.number(RANK, 0, faults.ranks() - 1);
    requireKnown(body, only);
    Changes changes = Changes.of(fields, faults.ranks());
    faults.changeEngine(changes::engine);
    List<Integer> ranks =
        only == null
            ? IntStream.range(0, faults.ranks()).boxed().toList()
            : List.of(only.intValue());
    long nowNs = System.nanoTime();
    ranks.forEach(rank -> faults.changeRank(rank, before -> changes.rank(before, nowNs)));
    return fields.flag(RESTART, false) ? ranks : List.of();
  }

  private static void requireKnown(ObjectNode body, @Nullable Long rank) {
    for (Iterator<String> names = body.fieldNames(); names.hasNext(); ) {
      String name = names.next();
      if (OF_ENGINE.contains(name) && rank != null) {
        throw ApiError.invalid(name, name + " is for the whole engine and excludes rank");
      }
      if (!name.equals(RANK) && !OF_ENGINE.contains(name) && !OF_RANKS.contains(name)) {
        throw ApiError.invalid(
            name,
            "the fields are rank, "
                + String.join(", ", OF_RANKS)
                + ", "
                + String.join(", ", OF_ENGINE)
                + "; there is no "
                + name);
      }
    }
  }

  /** What a request changes, checked. Null leaves a value as it is. */
  private record Changes(
      @Nullable Double drop,
      @Nullable Double garble,
      @Nullable Long delayMs,
      @Nullable Boolean pause,
      @Nullable Long pauseMs,
      @Nullable Boolean pauseLoses,
      @Nullable Long wrongRank,
      @Nullable Boolean ignoreSteering,
      @Nullable Boolean wrongTemplate,
      @Nullable Long blockTokens,
      @Nullable Long lostTokens,
      @Nullable Long smallestHit) {

    static Changes of(RequestFields fields, int ranks) {
      Boolean pause = flag(fields, PAUSE);
      Long pauseMs = fields.number(PAUSE_MS, 1, RankFaults.MAX_MS);
      if (pauseMs != null && Boolean.FALSE.equals(pause)) {
        throw ApiError.invalid(PAUSE_MS, "pause_ms excludes pause false");
      }
      flag(fields, RESTART);
      return new Changes(
          fields.decimal(DROP, 0, 1),
          fields.decimal(GARBLE, 0, 1),
          fields.number(DELAY, 0, RankFaults.MAX_MS),
          pause,
          pauseMs,
          flag(fields, PAUSE_LOSES),
          fields.number(WRONG_RANK, 0, ranks - 1),
          flag(fields, IGNORE_STEERING),
          flag(fields, WRONG_TEMPLATE),
          fields.number(BLOCK_SIZE, 0, MAX_BLOCK_TOKENS),
          fields.number(LOST_TOKENS, 0, Integer.MAX_VALUE),
          fields.number(SMALLEST_HIT, 0, Integer.MAX_VALUE));
    }

    private static @Nullable Boolean flag(RequestFields fields, String name) {
      return fields.has(name) ? fields.flag(name, false) : null;
    }

    EngineFaults engine(EngineFaults before) {
      return new EngineFaults(
          wrongRank == null ? before.wrongRank() : wrongRank.intValue(),
          ignoreSteering == null ? before.ignoreSteering() : ignoreSteering,
          wrongTemplate == null ? before.wrongTemplate() : wrongTemplate,
          blockTokens == null ? before.blockTokens() : blockTokens.intValue(),
          lostTokens == null ? before.lostTokens() : lostTokens.intValue(),
          smallestHit == null ? before.smallestHit() : smallestHit.intValue());
    }

    RankFaults rank(RankFaults before, long nowNs) {
      boolean paused = pauseMs != null || (pause == null ? before.paused() : pause);
      long untilNs = before.pausedUntilNs();
      if (pauseMs != null) {
        untilNs = nowNs + TimeUnit.MILLISECONDS.toNanos(pauseMs);
      } else if (pause != null) {
        untilNs = RankFaults.FOREVER;
      }
      return new RankFaults(
          drop == null ? before.drop() : drop,
          garble == null ? before.garble() : garble,
          delayMs == null ? before.delayMs() : delayMs.intValue(),
          paused,
          untilNs,
          pauseLoses == null ? before.pauseLoses() : pauseLoses);
    }
  }

  /** The faults as they are. */
  static ObjectNode json(Faults faults) {
    EngineFaults engine = faults.engine();
    ObjectNode root =
        Json.object()
            .put(WRONG_RANK, engine.wrongRank())
            .put(IGNORE_STEERING, engine.ignoreSteering())
            .put(WRONG_TEMPLATE, engine.wrongTemplate())
            .put(BLOCK_SIZE, engine.blockTokens())
            .put(LOST_TOKENS, engine.lostTokens())
            .put(SMALLEST_HIT, engine.smallestHit());
    ArrayNode ranks = root.putArray("ranks");
    for (int rank = 0; rank < faults.ranks(); rank++) {
      RankFaults own = faults.rank(rank);
      ranks
          .addObject()
          .put(RANK, rank)
          .put(DROP, own.drop())
          .put(GARBLE, own.garble())
          .put(DELAY, own.delayMs())
          .put(PAUSE, own.silent(System.nanoTime()))
          .put(PAUSE_LOSES, own.pauseLoses());
    }
    return root;
  }
}
