package io.kvasir.gateway.admin;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.kvasir.exchange.Exchange;
import io.kvasir.gateway.events.RankReport;
import io.kvasir.gateway.proxy.Replies;
import io.kvasir.gateway.route.FleetWorker;
import io.kvasir.gateway.route.FollowedRanks;
import io.kvasir.gateway.route.ModelFleet;
import io.kvasir.gateway.route.ModelFleets;
import io.kvasir.gateway.verify.BlockParity;
import io.kvasir.gateway.verify.WorkerChecks;
import io.kvasir.gateway.worker.EngineQuestion;
import io.kvasir.model.RankId;
import java.io.IOException;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Compares the index with what engines hold, where they can be asked for it: {@code GET
 * /kvasir/parity}. An engine that has a dump answers {@code GET /debug/blocks} as Kvasir's own
 * does. The engine goes on meanwhile, so that the numbers of the last batches say whether a
 * difference means anything.
 *
 * <p>Thread-safe.
 */
final class ParityHandler implements Consumer<Exchange> {

  private static final JsonFactory JSON = new JsonFactory();
  private static final ObjectMapper READER = new ObjectMapper();
  private static final int MAX_REPLY_BYTES = 256 << 20;
  private static final long TIMEOUT_MS = 10_000;
  private static final int HEX_DIGITS = 16;

  private final ModelFleets fleets;

  /** One worker to compare. */
  private record Followed(FleetWorker worker, FollowedRanks ranks) {}

  /**
   * Creates a handler.
   *
   * @param fleets the workers by model
   */
  ParityHandler(ModelFleets fleets) {
    this.fleets = fleets;
  }

  @Override
  public void accept(Exchange exchange) {
    List<Followed> workers = new ArrayList<>();
    for (ModelFleet fleet : fleets.all()) {
      FollowedRanks ranks = fleet.followed();
      for (FleetWorker worker : fleet.workers()) {
        if (ranks != null && ranks.checks(worker) != null) {
          workers.add(new Followed(worker, ranks));
        }
      }
    }
    compare(exchange, workers, 0, new StringWriter().append('['));
  }

  /** Compares one worker after the other. */
  private void compare(Exchange exchange, List<Followed> workers, int next, StringWriter text) {
    if (next == workers.size()) {
      Replies.json(exchange, 200, text.append(']').toString());
      return;
    }
    Followed each = workers.get(next);
    EngineQuestion.get(
        each.worker().upstream(),
        "/debug/blocks",
        exchange.loop(),
        MAX_REPLY_BYTES,
        TIMEOUT_MS,
        (status, body) -> {
          text.append(next == 0 ? "" : ",").append(compared(each, status == 200 ? body : null));
          compare(exchange, workers, next + 1, text);
        });
  }

  private static String compared(Followed each, byte @Nullable [] dump) {
    StringWriter text = new StringWriter();
    try (JsonGenerator json = JSON.createGenerator(text)) {
      json.writeStartObject();
      json.writeStringField("worker_id", each.worker().name());
      JsonNode ranks = dump == null ? null : ranks(dump);
      json.writeBooleanField("has_dump", ranks != null && ranks.isArray());
      json.writeArrayFieldStart("ranks");
      for (int rank = 0; ranks != null && rank < ranks.size(); rank++) {
        write(json, each, rank, ranks.get(rank));
      }
      json.writeEndArray();
      json.writeEndObject();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return text.toString();
  }

  /** The ranks of a dump; null if it is no dump. */
  private static @Nullable JsonNode ranks(byte[] dump) {
    try {
      JsonNode read = READER.readTree(dump);
      return read == null ? null : read.path("ranks");
    } catch (IOException e) {
      return null;
    }
  }

  private static void write(JsonGenerator json, Followed each, int rank, JsonNode held)
      throws IOException {
    RankReport report = each.ranks().report(each.worker(), rank);
    RankId id = new RankId(each.worker().id(), rank);
    long missing = 0;
    long common = 0;
    for (JsonNode block : held.path("blocks")) {
      if (each.ranks().index().sequenceHash(id, handle(block.path("hash"))) == null) {
        missing++;
      } else {
        common++;
      }
    }
    long indexBlocks = each.ranks().index().handles(id);
    BlockParity parity =
        new BlockParity(missing + common, indexBlocks, missing, indexBlocks - common);
    WorkerChecks checks = each.ranks().checks(each.worker());
    if (checks != null) {
      checks.onParity(rank, parity);
    }
    json.writeStartObject();
    json.writeNumberField("dp_rank", rank);
    json.writeNumberField("engine_blocks", parity.engineBlocks());
    json.writeNumberField("index_blocks", parity.indexBlocks());
    json.writeNumberField("missing", parity.missing());
    json.writeNumberField("extra", parity.extra());
    json.writeNumberField("engine_last_batch", held.path("last_batch").asLong(-1));
    json.writeNumberField("last_batch", report == null ? -1 : report.feed().lastNumber());
    json.writeEndObject();
  }

  /** A block's hash as a number, or as the hexadecimal digits of its bytes. */
  private static long handle(JsonNode hash) {
    if (hash.isNumber()) {
      return hash.bigIntegerValue().longValue();
    }
    String digits = hash.asText();
    if (digits.length() < HEX_DIGITS) {
      return 0;
    }
    try {
      return Long.parseUnsignedLong(digits.substring(digits.length() - HEX_DIGITS), HEX_DIGITS);
    } catch (NumberFormatException e) {
      return 0; // no block of the index
    }
  }
}
