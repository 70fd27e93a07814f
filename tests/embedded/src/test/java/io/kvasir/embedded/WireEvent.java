package io.kvasir.embedded;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.msgpack.core.MessagePack;
import org.msgpack.core.MessageUnpacker;
import org.msgpack.value.Value;
import org.msgpack.value.ValueFactory;

/**
 * An event as a reader sees it that knows the three engines' fields. Handles are texts: digits, or
 * hexadecimal digits of bytes.
 */
record WireEvent(
    String type,
    boolean map,
    List<String> handles,
    String parent,
    List<Integer> tokens,
    int blockSize,
    Map<String, Value> fields) {

  private static final List<String> STORED =
      List.of(
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
          "kv_cache_spec_kind",
          "kv_cache_spec_sliding_window");
  private static final List<String> REMOVED =
      List.of("type", "block_hashes", "medium", "group_idx");

  /** A message's payload. */
  record Batch(double seconds, List<WireEvent> events, int rank) {

    static Batch of(byte[] payload) {
      try (MessageUnpacker unpacker = MessagePack.newDefaultUnpacker(payload)) {
        List<Value> outer = unpacker.unpackValue().asArrayValue().list();
        if (unpacker.hasNext() || outer.size() != 3) {
          throw new AssertionError("a batch has three parts");
        }
        List<WireEvent> events = new ArrayList<>();
        outer.get(1).asArrayValue().forEach(event -> events.add(WireEvent.of(event)));
        return new Batch(
            outer.get(0).asFloatValue().toDouble(), events, outer.get(2).asIntegerValue().asInt());
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }

  private static WireEvent of(Value event) {
    Map<String, Value> fields = new LinkedHashMap<>();
    if (event.isMapValue()) {
      event.asMapValue().entrySet().forEach(e -> fields.put(e.getKey().toString(), e.getValue()));
    } else {
      List<Value> slots = event.asArrayValue().list();
      List<String> names = slots.get(0).toString().equals("BlockStored") ? STORED : REMOVED;
      for (int i = 0; i < slots.size(); i++) {
        fields.put(names.get(i), slots.get(i));
      }
    }
    List<String> handles = new ArrayList<>();
    list(fields, "block_hashes").forEach(hash -> handles.add(handle(hash)));
    List<Integer> tokens = new ArrayList<>();
    list(fields, "token_ids").forEach(token -> tokens.add(token.asIntegerValue().asInt()));
    Value parent = fields.get("parent_block_hash");
    Value size = fields.get("block_size");
    return new WireEvent(
        fields.get("type").toString(),
        event.isMapValue(),
        handles,
        parent == null || parent.isNilValue() ? null : handle(parent),
        tokens,
        size == null ? 0 : size.asIntegerValue().asInt(),
        fields);
  }

  private static List<Value> list(Map<String, Value> fields, String name) {
    return fields.getOrDefault(name, ValueFactory.emptyArray()).asArrayValue().list();
  }

  private static String handle(Value value) {
    return value.isBinaryValue()
        ? HexFormat.of().formatHex(value.asBinaryValue().asByteArray())
        : value.asIntegerValue().toString();
  }
}
