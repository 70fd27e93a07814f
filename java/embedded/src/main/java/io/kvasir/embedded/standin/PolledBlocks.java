package io.kvasir.embedded.standin;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kvasir.embedded.api.Json;
import io.kvasir.embedded.publish.BlockChange;
import io.kvasir.embedded.ranks.BlockSink;
import io.kvasir.embedded.ranks.EmbeddedSettings;
import java.math.BigInteger;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;

/**
 * TensorRT-LLM's queue of events, which {@code POST /kv_cache_events} empties. Each rank numbers
 * its events. A full queue loses the oldest. When all blocks are removed at once, the queue says
 * nothing, because TensorRT-LLM has no such event.
 *
 * <p>Thread-safe.
 */
final class PolledBlocks implements BlockSink {

  /** Most events that are kept. */
  static final int CAPACITY = 1 << 16;

  private static final int PRIORITY = 35;

  private final EmbeddedSettings settings;
  private final long[] next;
  private final Deque<Event> events = new ArrayDeque<>();

  private record Event(int rank, long number, JsonNode data) {}

  PolledBlocks(EmbeddedSettings settings) {
    this.settings = settings;
    this.next = new long[settings.ranks()];
    for (int rank = 0; rank < next.length; rank++) {
      add(rank, created());
    }
  }

  private ObjectNode created() {
    ObjectNode data = Json.object().put("type", "created");
    data.putArray("num_blocks_per_cache_level").add(settings.poolBlocks()).add(0);
    return data;
  }

  @Override
  public synchronized long take(int rank, List<BlockChange> changes) {
    for (BlockChange change : changes) {
      if (change instanceof BlockChange.Stored stored) {
        add(rank, stored(stored));
      } else if (change instanceof BlockChange.Removed removed) {
        ObjectNode data = Json.object().put("type", "removed");
        ArrayNode hashes = data.putArray("block_hashes");
        for (long hash : removed.hashes()) {
          hashes.add(unsigned(hash));
        }
        add(rank, data);
      }
    }
    return next[rank] - 1;
  }

  private ObjectNode stored(BlockChange.Stored stored) {
    ObjectNode data = Json.object().put("type", "stored");
    data.put("parent_hash", stored.root() ? null : unsigned(stored.parent()));
    ArrayNode blocks = data.putArray("blocks");
    for (int i = 0; i < stored.hashes().length; i++) {
      ObjectNode block =
          blocks
              .addObject()
              .put("type", "stored_block")
              .put("block_hash", unsigned(stored.hashes()[i]));
      ArrayNode tokens = block.putArray("tokens");
      for (int t = 0; t < settings.tokensPerBlock(); t++) {
        tokens
            .addObject()
            .put("type", "unique_token")
            .put("token_id", stored.tokens()[i * settings.tokensPerBlock() + t])
            .put("token_extra_id", 0);
      }
      block.put("cache_level", 0).put("priority", PRIORITY);
    }
    return data;
  }

  private static BigInteger unsigned(long hash) {
    return new BigInteger(Long.toUnsignedString(hash));
  }

  private void add(int rank, JsonNode data) {
    if (events.size() == CAPACITY) {
      events.removeFirst();
    }
    events.addLast(new Event(rank, next[rank]++, data));
  }

  @Override
  public synchronized void restart(int rank) {
    events.removeIf(event -> event.rank == rank);
    next[rank] = 0;
    add(rank, created());
  }

  /** Removes all events and returns them. */
  synchronized ArrayNode drain() {
    ArrayNode all = Json.array();
    for (Event event : events) {
      ObjectNode json = all.addObject().put("event_id", event.number);
      json.set("data", event.data);
      json.put("window_size", settings.maxModelLen()).put("attention_dp_rank", event.rank);
    }
    events.clear();
    return all;
  }
}
