package io.kvasir.benchmarks;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** Encodes batches of block events as vLLM publishes them, in MessagePack. Stateless. */
final class VllmBatch {

  static final int TOKENS_PER_BLOCK = 16;

  private static final int NIL = 0xc0;
  private static final String[] STORED = {
    "type",
    "block_hashes",
    "parent_block_hash",
    "token_ids",
    "block_size",
    "lora_id",
    "medium",
    "lora_name",
    "extra_keys",
    "group_idx",
    "kv_cache_spec_kind"
  };
  private static final String[] REMOVED = {"type", "block_hashes", "medium", "group_idx"};

  private VllmBatch() {}

  /**
   * Encodes a batch that removes blocks and stores others.
   *
   * @param map whether events are maps, otherwise arrays
   * @param removed hashes of the removed blocks; empty for no such event
   * @param parent hash of the block before the stored ones; null at the beginning of a prompt
   * @param stored hashes of the stored blocks
   * @param tokens their tokens
   */
  static byte[] of(boolean map, long[] removed, Long parent, long[] stored, int[] tokens) {
    ByteBuffer out =
        ByteBuffer.allocate(1024 + 10 * (removed.length + stored.length) + 5 * tokens.length);
    out.put((byte) 0x93).put((byte) 0xcb).putDouble(1_700_000_000.5);
    out.put((byte) (removed.length == 0 ? 0x91 : 0x92));
    if (removed.length > 0) {
      putHead(out, map, REMOVED.length);
      for (String name : REMOVED) {
        putName(out, map, name);
        switch (name) {
          case "type" -> putText(out, "BlockRemoved");
          case "block_hashes" -> putHashes(out, removed);
          case "medium" -> putText(out, "GPU");
          default -> out.put((byte) 0); // the group
        }
      }
    }
    putHead(out, map, STORED.length);
    for (String name : STORED) {
      putName(out, map, name);
      putStored(out, name, parent, stored, tokens);
    }
    out.put((byte) 0); // the rank
    return Arrays.copyOf(out.array(), out.position());
  }

  private static void putStored(
      ByteBuffer out, String name, Long parent, long[] hashes, int[] tokens) {
    switch (name) {
      case "type" -> putText(out, "BlockStored");
      case "block_hashes" -> putHashes(out, hashes);
      case "parent_block_hash" -> {
        if (parent == null) {
          out.put((byte) NIL);
        } else {
          putHash(out, parent);
        }
      }
      case "token_ids" -> {
        putArray(out, tokens.length);
        for (int token : tokens) {
          putToken(out, token);
        }
      }
      case "block_size" -> out.put((byte) TOKENS_PER_BLOCK);
      case "medium" -> putText(out, "GPU");
      case "extra_keys" -> {
        putArray(out, hashes.length);
        for (int i = 0; i < hashes.length; i++) {
          out.put((byte) NIL);
        }
      }
      case "group_idx" -> out.put((byte) 0);
      case "kv_cache_spec_kind" -> putText(out, "full_attention");
      default -> out.put((byte) NIL);
    }
  }

  private static void putHead(ByteBuffer out, boolean map, int fields) {
    out.put((byte) ((map ? 0x80 : 0x90) | fields));
  }

  private static void putName(ByteBuffer out, boolean map, String name) {
    if (map) {
      putText(out, name);
    }
  }

  private static void putHashes(ByteBuffer out, long[] hashes) {
    putArray(out, hashes.length);
    for (long hash : hashes) {
      putHash(out, hash);
    }
  }

  private static void putHash(ByteBuffer out, long hash) {
    out.put((byte) 0xcf).putLong(hash);
  }

  private static void putArray(ByteBuffer out, int count) {
    out.put((byte) 0xdc).putShort((short) count);
  }

  private static void putText(ByteBuffer out, String text) {
    out.put((byte) (0xa0 | text.length())).put(text.getBytes(StandardCharsets.UTF_8));
  }

  /** In the shortest form. */
  private static void putToken(ByteBuffer out, int token) {
    if (token < 0x80) {
      out.put((byte) token);
    } else if (token < 0x100) {
      out.put((byte) 0xcc).put((byte) token);
    } else if (token < 0x10000) {
      out.put((byte) 0xcd).putShort((short) token);
    } else {
      out.put((byte) 0xce).putInt(token);
    }
  }
}
