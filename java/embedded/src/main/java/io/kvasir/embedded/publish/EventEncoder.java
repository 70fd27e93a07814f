package io.kvasir.embedded.publish;

import io.kvasir.exchange.EngineFlavor;
import org.jspecify.annotations.Nullable;

/**
 * Encodes batches of one rank in MessagePack as an engine does: an array of the time, the events
 * and the rank. Fields that the stand-in has no value for are nil, or left out where the engine
 * leaves out defaults.
 *
 * <p>TensorRT-LLM's events have no field for a salt.
 *
 * <p>Confined to the publisher's thread.
 */
final class EventEncoder {

  private static final String STORED = "BlockStored";
  private static final String REMOVED = "BlockRemoved";
  private static final String CLEARED = "AllBlocksCleared";
  private static final String MEDIUM = "GPU";

  /** The first key of a map. */
  private static final String TYPE = "type";

  private final EventSettings settings;
  private final int blockTokens;
  private final int rank;
  private final MessagePack out = new MessagePack();
  private long events;

  EventEncoder(EventSettings settings, int blockTokens, int rank) {
    this.settings = settings;
    this.blockTokens = blockTokens;
    this.rank = rank;
  }

  /** The bytes of a batch. O(tokens). */
  byte[] encode(BlockBatch batch) {
    out.array(3).real(batch.timeSeconds()).array(batch.changes().size());
    for (BlockChange change : batch.changes()) {
      boolean map =
          settings.form() == EventForm.MAP
              || (settings.form() == EventForm.MIXED && (events & 1) == 0);
      events++;
      if (change instanceof BlockChange.Stored stored) {
        if (map) {
          storedMap(stored);
        } else {
          storedArray(stored);
        }
      } else if (change instanceof BlockChange.Removed removed) {
        removed(removed, map);
      } else {
        cleared(map);
      }
    }
    return out.number(rank).take();
  }

  private boolean is(EngineFlavor flavor) {
    return settings.flavor() == flavor;
  }

  private void storedArray(BlockChange.Stored stored) {
    boolean salted = is(EngineFlavor.SGLANG) && stored.salt() != null;
    out.array(is(EngineFlavor.VLLM) ? 12 : salted ? 8 : 7).text(STORED);
    handles(stored.hashes());
    parent(stored);
    tokens(stored.tokens());
    out.number(blockTokens).nil().text(MEDIUM);
    if (is(EngineFlavor.VLLM)) {
      out.nil(); // no adapter's name
      extraKeys(stored);
      out.number(stored.group().index()).text(stored.group().kind());
      if (stored.group().windowTokens() > 0) {
        out.number(stored.group().windowTokens());
      } else {
        out.nil();
      }
    } else if (salted) {
      out.map(1);
      salt(stored.salt());
    }
  }

  private void storedMap(BlockChange.Stored stored) {
    boolean salted = is(EngineFlavor.SGLANG) && stored.salt() != null;
    int shared = 7;
    int windowTokens = stored.group().windowTokens();
    int ofVllm = windowTokens > 0 ? 5 : 4;
    int own = is(EngineFlavor.VLLM) ? ofVllm : is(EngineFlavor.TRTLLM) || salted ? 1 : 0;
    out.map(shared + own).text(TYPE).text(STORED).text("block_hashes");
    handles(stored.hashes());
    out.text("parent_block_hash");
    parent(stored);
    out.text("token_ids");
    tokens(stored.tokens());
    out.text("block_size").number(blockTokens);
    out.text("lora_id").nil().text("medium").text(MEDIUM);
    if (!is(EngineFlavor.SGLANG)) {
      out.text("lora_name").nil();
    } else if (salted) {
      salt(stored.salt());
    }
    if (is(EngineFlavor.VLLM)) {
      out.text("extra_keys");
      extraKeys(stored);
      out.text("group_idx").number(stored.group().index());
      out.text("kv_cache_spec_kind").text(stored.group().kind());
      if (windowTokens > 0) {
        out.text("kv_cache_spec_sliding_window").number(windowTokens);
      }
    }
  }

  private void salt(@Nullable String salt) {
    out.text("cache_salt").text(String.valueOf(salt));
  }

  /** One entry per block; the salt is that of the first block of a sequence. */
  private void extraKeys(BlockChange.Stored stored) {
    out.array(stored.hashes().length);
    for (int i = 0; i < stored.hashes().length; i++) {
      if (i == 0 && stored.root() && stored.salt() != null) {
        out.array(1).text(stored.salt());
      } else {
        out.nil();
      }
    }
  }

  private void removed(BlockChange.Removed removed, boolean map) {
    boolean group = is(EngineFlavor.VLLM);
    if (map) {
      out.map(group ? 4 : 3).text(TYPE).text(REMOVED).text("block_hashes");
      handles(removed.hashes());
      out.text("medium").text(MEDIUM);
      if (group) {
        out.text("group_idx").number(removed.group());
      }
    } else {
      out.array(group ? 4 : 3).text(REMOVED);
      handles(removed.hashes());
      out.text(MEDIUM);
      if (group) {
        out.number(removed.group());
      }
    }
  }

  private void cleared(boolean map) {
    if (map) {
      out.map(1).text(TYPE).text(CLEARED);
    } else {
      out.array(1).text(CLEARED);
    }
  }

  private void parent(BlockChange.Stored stored) {
    if (stored.root()) {
      out.nil();
    } else {
      handle(stored.parent());
    }
  }

  private void handles(long[] hashes) {
    out.array(hashes.length);
    for (long hash : hashes) {
      handle(hash);
    }
  }

  private void handle(long hash) {
    switch (settings.handles()) {
      case UNSIGNED -> out.unsigned(hash);
      case SIGNED -> out.signed(hash);
      case BYTES -> out.binary(HandleForm.bytes(hash));
    }
  }

  private void tokens(int[] tokens) {
    out.array(tokens.length);
    for (int token : tokens) {
      out.number(token);
    }
  }
}
