package io.kvasir.fleet.wire;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.msgpack.core.MessageBufferPacker;
import org.msgpack.core.MessagePack;

/** Random batches of all generations, encoded by msgpack-core. Some have wrong values. */
final class RandomBatches {

  private static final String[] TEXTS = {
    "",
    "GPU",
    "gpu",
    "cpu",
    "CPU_PINNED",
    "sql",
    "salt-a",
    "full_attention",
    "sliding_window",
    "mamba",
    "mla_attention",
    "chunked_local_attention",
    "no_such_kind",
    "LOCAL",
    "remote",
    "REMOTE",
    "elsewhere",
    "disk",
    "STORAGE",
    "reused",
    "NEW",
    "0123456789abcdef00000000000000ff",
    "not hexadecimal at all",
    "ä"
  };
  private static final String[] STORED_FIELDS = {
    "parent_block_hash",
    "lora_id",
    "medium",
    "lora_name",
    "extra_keys",
    "cache_salt",
    "group_idx",
    "kv_cache_spec_kind",
    "kv_cache_spec_sliding_window",
    "mm_keys",
    "locality",
    "ownership",
    "origin",
    "session_id"
  };

  private final Random random;
  private final int wrongIn;
  private final MessageBufferPacker packer = MessagePack.newDefaultBufferPacker();

  /**
   * Makes batches.
   *
   * @param wrongIn one in so many values is of a random type; 0 for none
   */
  RandomBatches(Random random, int wrongIn) {
    this.random = random;
    this.wrongIn = wrongIn;
  }

  byte[] next() throws IOException {
    packer.clear();
    boolean map = random.nextInt(4) == 0;
    boolean rank = random.nextInt(4) != 0;
    List<String> slots = new ArrayList<>(List.of("ts", "events"));
    if (rank) {
      slots.add(random.nextBoolean() ? "data_parallel_rank" : "attn_dp_rank");
    }
    if (map) {
      slots.add("other");
      Collections.shuffle(slots, random);
      packer.packMapHeader(slots.size());
    } else {
      packer.packArrayHeader(slots.size());
    }
    for (String slot : slots) {
      if (map) {
        packer.packString(slot);
      }
      switch (slot) {
        case "ts" -> packTimestamp();
        case "events" -> packEvents();
        case "other" -> packAny(3);
        default -> packNumberOrNil(8);
      }
    }
    return packer.toByteArray();
  }

  private boolean wrong() throws IOException {
    if (wrongIn > 0 && random.nextInt(wrongIn) == 0) {
      packAny(random.nextInt(20) == 0 ? 20 : 2);
      return true;
    }
    return false;
  }

  private void packTimestamp() throws IOException {
    switch (random.nextInt(5)) {
      case 0 -> packer.packLong(random.nextLong());
      case 1 -> packer.packFloat(random.nextFloat());
      case 2 -> packer.packNil();
      default -> packer.packDouble(random.nextGaussian() * 1e9);
    }
  }

  private void packEvents() throws IOException {
    if (wrong()) {
      return;
    }
    int events = random.nextInt(5);
    packer.packArrayHeader(events);
    for (int i = 0; i < events; i++) {
      if (!wrong()) {
        packEvent();
      }
    }
  }

  private void packEvent() throws IOException {
    boolean map = random.nextBoolean();
    switch (random.nextInt(8)) {
      case 0 -> packTagged(map, random.nextBoolean() ? "AllBlocksCleared" : "BlockMoved");
      case 1, 2 -> packRemoved(map);
      default -> {
        if (map) {
          packStoredMap();
        } else {
          packStoredArray();
        }
      }
    }
  }

  private void packTagged(boolean map, String tag) throws IOException {
    int others = random.nextInt(3);
    if (map) {
      packer.packMapHeader(1 + others);
    } else {
      packer.packArrayHeader(1 + others);
      packer.packString(tag);
    }
    int place = random.nextInt(others + 1);
    for (int i = 0; i <= (map ? others : others - 1); i++) {
      if (map && i == place) {
        packer.packString("type");
        packer.packString(tag);
        continue;
      }
      if (map) {
        packAny(1);
      }
      packAny(random.nextInt(20) == 0 ? 20 : 2);
    }
  }

  private void packRemoved(boolean map) throws IOException {
    List<String> fields = new ArrayList<>(List.of("type", "block_hashes"));
    if (random.nextBoolean()) {
      fields.add("medium");
      if (random.nextBoolean()) {
        fields.add("group_idx");
        if (random.nextBoolean()) {
          fields.add("locality");
        }
      }
    }
    if (map && random.nextBoolean()) {
      fields.add(random.nextBoolean() ? "ownership" : "locality");
    }
    pack(map, "BlockRemoved", fields);
  }

  private void packStoredArray() throws IOException {
    List<String> fields =
        new ArrayList<>(
            List.of(
                "type",
                "block_hashes",
                "parent_block_hash",
                "token_ids",
                "block_size",
                "lora_id",
                "medium",
                "name or metadata",
                "extra_keys",
                "group_idx",
                "kv_cache_spec_kind",
                "kv_cache_spec_sliding_window",
                "locality",
                "session_id"));
    if (random.nextInt(8) == 0) {
      fields.add(9, "mm_keys");
    }
    int least = wrongIn > 0 && random.nextInt(wrongIn) == 0 ? 1 : 5;
    pack(
        false, "BlockStored", fields.subList(0, least + random.nextInt(fields.size() - least + 1)));
  }

  private void packStoredMap() throws IOException {
    List<String> fields =
        new ArrayList<>(List.of("type", "block_hashes", "token_ids", "block_size"));
    for (String field : STORED_FIELDS) {
      if (random.nextBoolean()) {
        fields.add(field);
      }
    }
    if (random.nextBoolean()) {
      Collections.shuffle(fields, random);
    }
    if (random.nextInt(20) == 0) { // twice, or missing
      fields.set(random.nextInt(fields.size()), fields.get(random.nextInt(fields.size())));
    }
    pack(true, "BlockStored", fields);
  }

  private void pack(boolean map, String tag, List<String> fields) throws IOException {
    if (map) {
      packer.packMapHeader(fields.size());
    } else {
      packer.packArrayHeader(fields.size());
    }
    for (String field : fields) {
      if (map) {
        packer.packString(field);
      }
      if (field.equals("type")) {
        packer.packString(tag);
      } else if (!wrong()) {
        packField(field);
      }
    }
  }

  private void packField(String field) throws IOException {
    switch (field) {
      case "block_hashes" -> {
        int count = random.nextInt(4);
        packer.packArrayHeader(count);
        for (int i = 0; i < count; i++) {
          packHash();
        }
      }
      case "parent_block_hash" -> {
        if (random.nextBoolean()) {
          packer.packNil();
        } else {
          packHash();
        }
      }
      case "token_ids" -> packTokens();
      case "block_size" -> packer.packInt(random.nextInt(4));
      case "lora_id", "group_idx", "kv_cache_spec_sliding_window" -> packNumberOrNil(5);
      case "medium", "lora_name", "cache_salt", "kv_cache_spec_kind" -> packTextOrNil();
      case "locality", "ownership", "origin", "session_id" -> {
        if (random.nextInt(4) == 0) {
          packAny(2);
        } else {
          packTextOrNil();
        }
      }
      case "name or metadata" -> {
        if (random.nextInt(3) == 0) {
          packer.packMapHeader(2);
          packer.packString(random.nextBoolean() ? "cache_salt" : "other");
          packTextOrNil();
          packer.packString(random.nextBoolean() ? "session_id" : "lora_name");
          packTextOrNil();
        } else {
          packTextOrNil();
        }
      }
      case "extra_keys", "mm_keys" -> packKeys();
      default -> packAny(2);
    }
  }

  private void packTokens() throws IOException {
    if (random.nextInt(10) == 0) {
      packer.packNil();
      return;
    }
    int count = random.nextInt(9);
    int kind = random.nextInt(4);
    packer.packArrayHeader(count);
    for (int i = 0; i < count; i++) {
      if (kind == 0) {
        packer.packArrayHeader(2);
        packer.packInt(random.nextInt(300_000));
        packer.packInt(random.nextInt(300_000));
      } else if (kind == 1 && random.nextInt(3) == 0) {
        packer.packString("mm:" + i);
      } else if (!wrong()) {
        packer.packLong(
            random.nextInt(20) == 0 ? random.nextLong() : random.nextInt(1 << random.nextInt(31)));
      }
    }
  }

  private void packKeys() throws IOException {
    if (random.nextInt(4) == 0) {
      packer.packNil();
      return;
    }
    int count = random.nextInt(4);
    packer.packArrayHeader(count);
    for (int i = 0; i < count; i++) {
      if (random.nextBoolean()) {
        packer.packNil();
      } else {
        int keys = random.nextInt(3);
        packer.packArrayHeader(keys);
        for (int k = 0; k < keys; k++) {
          if (random.nextBoolean()) {
            packTextOrNil();
          } else {
            packAny(2);
          }
        }
      }
    }
  }

  private void packNumberOrNil(int bound) throws IOException {
    if (random.nextInt(3) == 0) {
      packer.packNil();
    } else {
      packer.packInt(random.nextInt(bound));
    }
  }

  private void packTextOrNil() throws IOException {
    if (random.nextInt(3) == 0) {
      packer.packNil();
    } else {
      packer.packString(TEXTS[random.nextInt(TEXTS.length)]);
    }
  }

  private void packHash() throws IOException {
    switch (random.nextInt(5)) {
      case 0 -> packer.packBigInteger(new java.math.BigInteger(64, random));
      case 1 -> packer.packLong(random.nextLong());
      case 2 -> packer.packInt(random.nextInt(100));
      case 3 -> {
        byte[] hash = new byte[1 + random.nextInt(40)];
        random.nextBytes(hash);
        packer.packBinaryHeader(hash.length);
        packer.writePayload(hash);
      }
      default -> packer.packString(TEXTS[1 + random.nextInt(TEXTS.length - 1)]);
    }
  }

  /** Any value, nested up to some depth. */
  private void packAny(int depth) throws IOException {
    switch (random.nextInt(depth > 0 ? 9 : 7)) {
      case 0 -> packer.packNil();
      case 1 -> packer.packBoolean(random.nextBoolean());
      case 2 -> packer.packLong(random.nextLong() >> random.nextInt(64));
      case 3 -> packer.packDouble(random.nextDouble());
      case 4 -> packer.packString(TEXTS[random.nextInt(TEXTS.length)]);
      case 5 -> {
        packer.packExtensionTypeHeader((byte) 5, 3);
        packer.writePayload(new byte[3]);
      }
      case 6 -> {
        packer.packBinaryHeader(2);
        packer.writePayload(new byte[2]);
      }
      case 7 -> {
        packer.packArrayHeader(1);
        packAny(depth > 2 ? depth - 1 : random.nextInt(depth));
      }
      default -> {
        int count = depth > 2 ? 1 : random.nextInt(3);
        packer.packMapHeader(count);
        for (int i = 0; i < count; i++) {
          packer.packString("key" + i);
          packAny(depth - 1);
        }
      }
    }
  }
}
