package io.kvasir.fleet.wire;

import java.nio.charset.StandardCharsets;

/**
 * Reads one event, an array or a map, and passes it to a listener once all of it has been read.
 *
 * <p>Slots of arrays have a fixed place up to the adapter's id. Behind it producers differ, so they
 * are recognised by their types. Unknown fields of maps are ignored. Not thread-safe.
 */
final class EventReader {

  private static final byte[] STORED = "BlockStored".getBytes(StandardCharsets.UTF_8);
  private static final byte[] REMOVED = "BlockRemoved".getBytes(StandardCharsets.UTF_8);
  private static final byte[] CLEARED = "AllBlocksCleared".getBytes(StandardCharsets.UTF_8);
  private static final byte[] TYPE = "type".getBytes(StandardCharsets.UTF_8);

  private static final int LEAST_STORED_SLOTS = 5;
  private static final int LEAST_REMOVED_SLOTS = 2;

  private enum Tag {
    STORED,
    REMOVED,
    CLEARED
  }

  private final MessagePackReader reader;
  private final WireBlocks blocks = new WireBlocks();
  private final BlocksReader fields;

  EventReader(MessagePackReader reader) {
    this.reader = reader;
    this.fields = new BlocksReader(reader, blocks);
  }

  /** Reads the event at the reader's position. */
  void read(WireListener listener) throws SkipException {
    WireType form = reader.next();
    int count = reader.length();
    if ((form != WireType.ARRAY && form != WireType.MAP) || count == 0) {
      throw new SkipException(SkipCause.WRONG_TYPE);
    }
    Tag tag = form == WireType.ARRAY ? tag() : tagOfMap(count);
    fields.begin();
    if (form == WireType.MAP) {
      readMap(tag, count);
    } else {
      readSlots(tag, count - 1);
    }
    switch (tag) {
      case STORED -> {
        fields.endStored();
        listener.onStored(blocks);
      }
      case REMOVED -> {
        fields.endRemoved();
        listener.onRemoved(blocks);
      }
      case CLEARED -> listener.onCleared();
    }
  }

  private Tag tag() throws SkipException {
    if (reader.next() != WireType.TEXT) {
      throw new SkipException(SkipCause.WRONG_TYPE);
    }
    if (reader.textIs(STORED)) {
      return Tag.STORED;
    }
    if (reader.textIs(REMOVED)) {
      return Tag.REMOVED;
    }
    if (reader.textIs(CLEARED)) {
      return Tag.CLEARED;
    }
    throw new SkipException(SkipCause.UNKNOWN_TAG);
  }

  /** Finds the tag, which may be in any place, and returns to the first entry. */
  private Tag tagOfMap(int entries) throws SkipException {
    int begin = reader.position();
    for (int i = 0; i < entries; i++) {
      if (atText() && reader.textIs(TYPE)) {
        Tag tag = tag();
        reader.seek(begin);
        return tag;
      }
      reader.skipped();
    }
    throw new SkipException(SkipCause.WRONG_TYPE);
  }

  /** Reads a key. False if it is not a text. */
  private boolean atText() throws SkipException {
    int begin = reader.position();
    if (reader.next() == WireType.TEXT) {
      return true;
    }
    reader.seek(begin);
    reader.skipped();
    return false;
  }

  private void readMap(Tag tag, int entries) throws SkipException {
    for (int i = 0; i < entries; i++) {
      WireField field = atText() ? WireField.named(reader) : null;
      if (field != null && (tag == Tag.STORED || (tag == Tag.REMOVED && field.ofRemoved()))) {
        fields.read(field);
      } else {
        reader.skip();
      }
    }
  }

  private void readSlots(Tag tag, int slots) throws SkipException {
    int read = 0;
    if (tag == Tag.STORED) {
      read = readStoredSlots(slots);
    } else if (tag == Tag.REMOVED) {
      read = readRemovedSlots(slots);
    }
    for (; read < slots; read++) {
      reader.skip();
    }
  }

  private int readRemovedSlots(int slots) throws SkipException {
    if (slots + 1 < LEAST_REMOVED_SLOTS) {
      throw new SkipException(SkipCause.WRONG_TYPE);
    }
    fields.read(WireField.BLOCK_HASHES);
    if (slots > 1) {
      fields.read(WireField.MEDIUM);
    }
    if (slots > 2) {
      fields.read(WireField.GROUP_IDX);
    }
    int read = Math.min(slots, 3);
    for (; read < slots; read++) {
      if (!readLocality()) {
        reader.skip();
      }
    }
    return read;
  }

  /** Reads the next slot if it is a locality. */
  private boolean readLocality() throws SkipException {
    int begin = reader.position();
    boolean text = reader.next() == WireType.TEXT;
    int from = reader.valueFrom();
    boolean found = text && WireBlocks.isLocality(reader.bytes(), from, from + reader.length());
    reader.seek(begin);
    if (found) {
      fields.read(WireField.LOCALITY);
    }
    return found;
  }

  private int readStoredSlots(int slots) throws SkipException {
    if (slots + 1 < LEAST_STORED_SLOTS) {
      throw new SkipException(SkipCause.WRONG_TYPE);
    }
    fields.read(WireField.BLOCK_HASHES);
    fields.read(WireField.PARENT_BLOCK_HASH);
    fields.read(WireField.TOKEN_IDS);
    fields.read(WireField.BLOCK_SIZE);
    if (slots > 4) {
      fields.read(WireField.LORA_ID);
    }
    if (slots > 5) {
      fields.read(WireField.MEDIUM);
    }
    if (slots > 6) {
      readNameOrMetadata();
    }
    readTail(slots - 7);
    return slots;
  }

  /** Without a group in front of it, only a kind that is known is one. Else it is a session. */
  private boolean readKind(boolean groupRead) throws SkipException {
    fields.read(WireField.KV_CACHE_SPEC_KIND);
    if (!groupRead && !blocks.knownKind()) {
      blocks.kind().clear();
      return false;
    }
    return true;
  }

  /** vLLM has the adapter's name here. SGLang had a map with the salt for some time. */
  private void readNameOrMetadata() throws SkipException {
    int begin = reader.position();
    WireType type = reader.next();
    if (type != WireType.MAP) {
      reader.seek(begin);
      fields.read(WireField.LORA_NAME);
      return;
    }
    int entries = reader.length();
    for (int i = 0; i < entries; i++) {
      WireField field = atText() ? WireField.named(reader) : null;
      if (field == WireField.CACHE_SALT || field == WireField.LORA_NAME) {
        fields.read(field);
      } else {
        reader.skip();
      }
    }
  }

  /**
   * In this order, but each may be absent: keys of the blocks, keys of their images, index of the
   * group, its kind, its window, the locality.
   */
  private void readTail(int slots) throws SkipException {
    boolean keysRead = false;
    boolean groupRead = false;
    boolean kindRead = false;
    for (int i = 0; i < slots; i++) {
      int begin = reader.position();
      WireType type = reader.next();
      reader.seek(begin);
      if (type == WireType.ARRAY) {
        fields.read(keysRead ? WireField.MM_KEYS : WireField.EXTRA_KEYS);
        keysRead = true;
      } else if (type == WireType.INTEGER) {
        fields.read(groupRead ? WireField.KV_CACHE_SPEC_SLIDING_WINDOW : WireField.GROUP_IDX);
        groupRead = true;
      } else if (type == WireType.TEXT) {
        if (!readLocality()) {
          if (kindRead) {
            reader.skip(); // the session of a request
          } else {
            kindRead = readKind(groupRead);
            groupRead |= kindRead;
          }
        }
      } else {
        kindRead |= groupRead; // a kind that is not stated
        reader.skip();
      }
    }
  }
}
