package io.kvasir.fleet.wire;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.math.BigInteger;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.msgpack.core.MessageBufferPacker;
import org.msgpack.core.MessagePack;

/** Payloads from plain Java values, encoded by msgpack-core. */
final class Packed {

  private Packed() {}

  /** A batch of rank 0. */
  static byte[] batch(Object... events) {
    return of(Arrays.asList(1.5, Arrays.asList(events), 0));
  }

  /** A map of names and values in turn, with the tag in front. */
  static Map<String, Object> event(String tag, Object... fields) {
    Map<String, Object> event = new LinkedHashMap<>();
    event.put("type", tag);
    for (int i = 0; i < fields.length; i += 2) {
      event.put((String) fields[i], fields[i + 1]);
    }
    return event;
  }

  /** Stored blocks with the hashes given; further fields as in {@link #event}. */
  static Map<String, Object> stored(
      List<?> hashes, Object parent, List<?> tokens, int blockSize, Object... fields) {
    Map<String, Object> event =
        event(
            "BlockStored",
            "block_hashes",
            hashes,
            "parent_block_hash",
            parent,
            "token_ids",
            tokens,
            "block_size",
            blockSize);
    event.putAll(event("BlockStored", fields));
    return event;
  }

  static Map<String, Object> removed(List<?> hashes, Object... fields) {
    Map<String, Object> event = event("BlockRemoved", fields);
    event.put("block_hashes", hashes);
    return event;
  }

  static byte[] of(Object value) {
    try (MessageBufferPacker packer = MessagePack.newDefaultBufferPacker()) {
      pack(packer, value);
      return packer.toByteArray();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static void pack(MessageBufferPacker packer, Object value) throws IOException {
    if (value == null) {
      packer.packNil();
    } else if (value instanceof List<?> list) {
      packer.packArrayHeader(list.size());
      for (Object each : list) {
        pack(packer, each);
      }
    } else if (value instanceof Map<?, ?> map) {
      packer.packMapHeader(map.size());
      for (Map.Entry<?, ?> entry : map.entrySet()) {
        pack(packer, entry.getKey());
        pack(packer, entry.getValue());
      }
    } else if (value instanceof String text) {
      packer.packString(text);
    } else if (value instanceof byte[] bytes) {
      packer.packBinaryHeader(bytes.length);
      packer.writePayload(bytes);
    } else if (value instanceof Double number) {
      packer.packDouble(number);
    } else if (value instanceof BigInteger number) {
      packer.packBigInteger(number);
    } else {
      packer.packLong(((Number) value).longValue());
    }
  }
}
