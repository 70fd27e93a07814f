package io.kvasir.fleet.wire;

import static io.kvasir.fleet.wire.WireValues.hash;
import static io.kvasir.fleet.wire.WireValues.ignore;
import static io.kvasir.fleet.wire.WireValues.list;
import static io.kvasir.fleet.wire.WireValues.lowerCase;
import static io.kvasir.fleet.wire.WireValues.shown;
import static io.kvasir.fleet.wire.WireValues.small;
import static io.kvasir.fleet.wire.WireValues.text;
import static io.kvasir.fleet.wire.WireValues.wrongType;

import io.kvasir.fleet.wire.WireValues.Refusal;
import io.kvasir.model.Digest64;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** The fields of one event by the rules of the decoder, slow and plain, and its line. */
final class EventFields {

  private static final List<String> OF_REMOVED =
      List.of("block_hashes", "medium", "group_idx", "locality", "ownership");

  private final byte[] payload;
  private StringBuilder hashes;
  private int blocks;
  private String parent;
  private List<Integer> tokens;
  private final List<Object[]> tokenMarks = new ArrayList<>();
  private final List<Object[]> marks = new ArrayList<>();
  private int size = -1;
  private String lora = "";
  private Long loraId;
  private String medium = "";
  private boolean remote;
  private String owner = "";
  private String origin = "";
  private String salt = "";
  private String kind = "";
  private int group = -1;
  private int window;
  private WireTree.Node extraKeys;
  private WireTree.Node imageKeys;

  EventFields(byte[] payload) {
    this.payload = payload;
  }

  void readCleared(WireTree.Node event) throws Refusal {
    for (int i = 1; i < event.children.size(); i += event.isMap() ? 2 : 1) {
      ignore(event.children.get(i));
    }
  }

  void readRemoved(WireTree.Node event) throws Refusal {
    List<WireTree.Node> slots = event.children;
    if (event.isMap()) {
      for (int i = 0; i < slots.size(); i += 2) {
        Object key = slots.get(i).value;
        if (key instanceof String field && OF_REMOVED.contains(field)) {
          read(field, slots.get(i + 1));
        } else {
          ignore(slots.get(i + 1));
        }
      }
    } else {
      if (slots.size() < 2) {
        throw wrongType();
      }
      String[] names = {"type", "block_hashes", "medium", "group_idx"};
      for (int i = 1; i < slots.size(); i++) {
        read(i < names.length ? names[i] : localityOrNone(slots.get(i)), slots.get(i));
      }
    }
    if (hashes == null) {
      throw wrongType();
    }
  }

  void readStored(WireTree.Node event) throws Refusal {
    List<WireTree.Node> slots = event.children;
    if (event.isMap()) {
      for (int i = 0; i < slots.size(); i += 2) {
        read(slots.get(i).value instanceof String key ? key : "", slots.get(i + 1));
      }
    } else {
      readSlots(slots);
    }
    if (hashes == null || tokens == null || size < 0) {
      throw wrongType();
    }
    for (Object[] mark : tokenMarks) {
      marks.add(new Object[] {size == 0 ? (int) mark[0] : (int) mark[0] / size, mark[1]});
    }
    readKeys();
  }

  private void readSlots(List<WireTree.Node> slots) throws Refusal {
    if (slots.size() < 5) {
      throw wrongType();
    }
    String[] names = {
      "type",
      "block_hashes",
      "parent_block_hash",
      "token_ids",
      "block_size",
      "lora_id",
      "medium",
      "lora_name"
    };
    boolean keysSeen = false;
    boolean groupSeen = false;
    boolean kindSeen = false;
    for (int i = 1; i < slots.size(); i++) {
      WireTree.Node slot = slots.get(i);
      if (i == 7 && slot.isMap()) {
        for (int k = 0; k < slot.children.size(); k += 2) {
          Object key = slot.children.get(k).value;
          boolean read = "cache_salt".equals(key) || "lora_name".equals(key);
          read(read ? (String) key : "", slot.children.get(k + 1));
        }
      } else if (i < names.length) {
        read(names[i], slot);
      } else if (slot.isArray()) {
        read(keysSeen ? "mm_keys" : "extra_keys", slot);
        keysSeen = true;
      } else if (slot.value instanceof BigInteger) {
        read(groupSeen ? "kv_cache_spec_sliding_window" : "group_idx", slot);
        groupSeen = true;
      } else if (!localityOrNone(slot).isEmpty()) {
        read("locality", slot);
      } else if (slot.value instanceof String) {
        boolean taken = !kindSeen && (groupSeen || isKnown((String) slot.value));
        if (taken) {
          read("kv_cache_spec_kind", slot);
        } else {
          ignore(slot);
        }
        groupSeen |= taken;
        kindSeen |= taken;
      } else {
        kindSeen |= groupSeen;
        ignore(slot);
      }
    }
  }

  private void read(String field, WireTree.Node node) throws Refusal {
    switch (field) {
      case "block_hashes" -> {
        hashes = new StringBuilder();
        blocks = list(node, WireDecoder.MAX_BLOCKS, false).size();
        for (WireTree.Node each : node.children) {
          hashes.append(' ').append(Long.toHexString(hash(each)));
        }
      }
      case "parent_block_hash" -> parent = node.isNil() ? null : Long.toHexString(hash(node));
      case "token_ids" -> {
        tokens = new ArrayList<>();
        tokenMarks.clear();
        for (WireTree.Node each : list(node, WireDecoder.MAX_TOKENS, true)) {
          tokens.add(token(each));
        }
      }
      case "block_size" -> {
        size = small(node, Integer.MAX_VALUE);
        if (size < 0) {
          throw wrongType();
        }
      }
      case "lora_id" -> {
        if (node.value instanceof BigInteger id) {
          loraId = Digest64.fold(Digest64.EMPTY, id.longValue());
        } else if (node.value instanceof String) {
          loraId = WireHashes.digest(payload, node.valueFrom, node.to);
        } else if (node.isNil()) {
          loraId = null;
        } else {
          throw wrongType();
        }
      }
      case "medium" -> medium = lowerCase(text(node));
      case "locality" -> {
        if (node.value instanceof String text) {
          remote = !text.isEmpty() && !lowerCase(text).equals("local");
        } else if (!node.isNil()) {
          remote = true;
          ignore(node);
        }
      }
      case "ownership" -> {
        owner = ignore(node).value instanceof String text && !text.isEmpty() ? digest(node) : "";
      }
      case "origin" -> origin = ignore(node).value instanceof String text ? lowerCase(text) : "";
      case "lora_name" -> lora = text(node);
      case "cache_salt" -> salt = text(node);
      case "kv_cache_spec_kind" -> kind = text(node);
      case "group_idx" -> group = small(node, 1023);
      case "kv_cache_spec_sliding_window" -> window = small(node, Integer.MAX_VALUE);
      case "extra_keys" -> {
        list(node, Integer.MAX_VALUE, true);
        extraKeys = ignore(node);
      }
      case "mm_keys" -> {
        list(node, Integer.MAX_VALUE, true);
        imageKeys = ignore(node);
      }
      default -> ignore(node);
    }
  }

  /** In arrays a locality is known by its two values only. */
  private static String localityOrNone(WireTree.Node slot) {
    boolean found =
        slot.value instanceof String text && List.of("local", "remote").contains(lowerCase(text));
    return found ? "locality" : "";
  }

  private String digest(WireTree.Node text) {
    return Long.toHexString(WireHashes.digest(payload, text.valueFrom, text.to));
  }

  private void readKeys() throws Refusal {
    List<WireTree.Node> keysOfBlocks = extraKeys == null ? List.of() : extraKeys.children;
    for (int block = 0; block < keysOfBlocks.size(); block++) {
      WireTree.Node own = keysOfBlocks.get(block);
      List<WireTree.Node> keys = own.isArray() ? own.children : List.of(own);
      boolean begin = block == 0 && parent == null;
      if (begin && salt.isEmpty()) {
        for (WireTree.Node key : keys) {
          if (key.value instanceof String text && text.length() > WireDecoder.MAX_TEXT_BYTES) {
            throw new Refusal(SkipCause.TOO_LARGE);
          }
          if (key.value instanceof String text && !text.isEmpty() && !text.equals(lora)) {
            salt = text;
          }
        }
      }
      for (WireTree.Node key : keys) {
        boolean named = lora.equals(key.value) || (begin && salt.equals(key.value));
        if (!key.isNil() && !named) {
          mark(block, key);
        }
      }
    }
    List<WireTree.Node> images = imageKeys == null ? List.of() : imageKeys.children;
    for (int block = 0; block < images.size(); block++) {
      WireTree.Node own = images.get(block);
      if (!own.isNil() && !(own.isArray() && own.children.isEmpty())) {
        mark(block, own);
      }
    }
  }

  private void mark(int block, WireTree.Node node) {
    if (block < blocks) {
      marks.add(new Object[] {block, WireHashes.digest(payload, node.from, node.to)});
    }
  }

  private int token(WireTree.Node given) throws Refusal {
    WireTree.Node node = given;
    if (node.isArray()) {
      if (node.children.isEmpty()) {
        throw wrongType();
      }
      node = node.children.get(0);
    }
    int token = 0;
    if (node.value instanceof String || node.value instanceof byte[]) {
      long digest = WireHashes.digest(payload, node.valueFrom, node.to);
      tokenMarks.add(new Object[] {tokens.size(), digest});
    } else if (!(node.value instanceof BigInteger number)) {
      throw wrongType();
    } else if (number.signum() < 0 || number.bitLength() > 31) {
      long digest = Digest64.fold(Digest64.EMPTY, number.longValue());
      tokenMarks.add(new Object[] {tokens.size(), digest});
    } else {
      token = number.intValueExact();
    }
    for (int i = 1; given.isArray() && i < given.children.size(); i++) {
      ignore(given.children.get(i));
    }
    return token;
  }

  String removed() {
    return "removed" + hashes + place();
  }

  String stored() {
    StringBuilder line = new StringBuilder("stored").append(hashes);
    line.append(parent == null ? " root" : " after " + parent).append(" size=").append(size);
    line.append(" tokens=").append(String.join(",", tokens.stream().map(String::valueOf).toList()));
    boolean stated = origin.equals("new") || origin.equals("reused");
    line.append(place()).append(stated ? " origin=" + origin.toUpperCase(Locale.ROOT) : "");
    line.append(kind.isEmpty() ? "" : " kind=" + shown(kind));
    line.append(isFull(kind) || (kind.isEmpty() && window <= 0) ? "" : " windowed");
    line.append(lora.isEmpty() ? "" : " lora=" + shown(lora));
    line.append(loraId == null ? "" : " loraId=" + Long.toHexString(loraId));
    line.append(salt.isEmpty() ? "" : " salt=" + shown(salt));
    List<String> shown =
        marks.stream().map(mark -> mark[0] + ":" + Long.toHexString((long) mark[1])).toList();
    return line.append(shown.isEmpty() ? "" : " marked=" + String.join(",", shown)).toString();
  }

  private static boolean isFull(String kind) {
    return List.of("full_attention", "sink_full_attention", "mla_attention").contains(kind);
  }

  private static boolean isKnown(String kind) {
    return kind.isEmpty()
        || isFull(kind)
        || List.of(
                "sliding_window",
                "sliding_window_mla",
                "mamba",
                "chunked_local_attention",
                "cross_attention",
                "encoder_only_attention")
            .contains(kind);
  }

  private String place() {
    byte[] name = medium.getBytes(StandardCharsets.ISO_8859_1);
    String digest = Long.toHexString(WireHashes.digestIgnoringCase(name, 0, name.length));
    String shown = medium.isEmpty() || medium.equals("gpu") ? "" : " medium=" + digest;
    String owned = owner.isEmpty() ? "" : " owner=" + owner;
    return shown + owned + (remote ? " remote" : "") + (group < 0 ? "" : " group=" + group);
  }
}
