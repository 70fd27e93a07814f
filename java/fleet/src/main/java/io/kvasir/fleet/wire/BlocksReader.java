package io.kvasir.fleet.wire;

import io.kvasir.model.Digest64;

/**
 * Reads the fields of one event into {@link WireBlocks}. Counts are checked before there is room
 * for them. A field that occurs twice has its last value. Not thread-safe.
 */
final class BlocksReader {

  private static final int NOWHERE = -1;

  private final MessagePackReader reader;
  private final WireBlocks blocks;
  private boolean hashesRead;
  private boolean tokensRead;
  private boolean sizeRead;
  private int extraKeysAt;
  private int imageKeysAt;

  BlocksReader(MessagePackReader reader, WireBlocks blocks) {
    this.reader = reader;
    this.blocks = blocks;
  }

  void begin() {
    blocks.clear();
    hashesRead = false;
    tokensRead = false;
    sizeRead = false;
    extraKeysAt = NOWHERE;
    imageKeysAt = NOWHERE;
  }

  /** Reads the value of a field. */
  void read(WireField field) throws SkipException {
    switch (field) {
      case BLOCK_HASHES -> readHashes();
      case PARENT_BLOCK_HASH -> readParent();
      case TOKEN_IDS -> readTokens();
      case BLOCK_SIZE -> readBlockSize();
      case LORA_ID -> readLoraId();
      case MEDIUM -> readMedium();
      case LORA_NAME -> readText(blocks.loraName());
      case EXTRA_KEYS -> extraKeysAt = readLater();
      case CACHE_SALT -> readText(blocks.salt());
      case GROUP_IDX -> blocks.setGroup(reader.smallInteger(WireDecoder.MAX_GROUPS - 1));
      case KV_CACHE_SPEC_KIND -> readText(blocks.kind());
      case KV_CACHE_SPEC_SLIDING_WINDOW -> blocks.setWindow(reader.smallInteger(Integer.MAX_VALUE));
      case MM_KEYS -> imageKeysAt = readLater();
      case LOCALITY -> readLocality();
      case OWNERSHIP -> readOwnership();
      case ORIGIN -> readOrigin();
    }
  }

  /** Checks removed blocks that have been read. */
  void endRemoved() throws SkipException {
    if (!hashesRead) {
      throw new SkipException(SkipCause.WRONG_TYPE);
    }
  }

  /** Checks stored blocks that have been read, and reads the keys, which depend on other fields. */
  void endStored() throws SkipException {
    if (!hashesRead || !tokensRead || !sizeRead) {
      throw new SkipException(SkipCause.WRONG_TYPE);
    }
    blocks.markBlocksOfTokens();
    int end = reader.position();
    if (extraKeysAt != NOWHERE) {
      reader.seek(extraKeysAt);
      markExtraKeys();
    }
    if (imageKeysAt != NOWHERE) {
      reader.seek(imageKeysAt);
      markImageKeys();
    }
    reader.seek(end);
  }

  private void readHashes() throws SkipException {
    int count = reader.array();
    if (count < 0) {
      throw new SkipException(SkipCause.WRONG_TYPE);
    }
    if (count > WireDecoder.MAX_BLOCKS) {
      throw new SkipException(SkipCause.TOO_LARGE);
    }
    long[] hashes = blocks.newHashes(count);
    for (int i = 0; i < count; i++) {
      hashes[i] = hash(reader.next());
    }
    hashesRead = true;
  }

  private void readParent() throws SkipException {
    WireType type = reader.next();
    if (type == WireType.NIL) {
      blocks.beginPrompt();
    } else {
      blocks.follow(hash(type));
    }
  }

  private long hash(WireType type) throws SkipException {
    if (type == WireType.INTEGER) {
      return reader.number();
    }
    if ((type != WireType.BYTES && type != WireType.TEXT) || reader.length() == 0) {
      throw new SkipException(SkipCause.WRONG_TYPE);
    }
    int from = reader.valueFrom();
    int to = from + reader.length();
    return type == WireType.BYTES
        ? WireHashes.ofHash(reader.bytes(), from, to)
        : WireHashes.ofHashText(reader.bytes(), from, to);
  }

  private void readTokens() throws SkipException {
    int count = Math.max(0, reader.array());
    if (count > WireDecoder.MAX_TOKENS) {
      throw new SkipException(SkipCause.TOO_LARGE);
    }
    int[] tokens = blocks.newTokens(count);
    for (int i = 0; i < count; i++) {
      i = reader.tokens(tokens, i, count);
      if (i < count) {
        tokens[i] = token(i);
      }
    }
    tokensRead = true;
  }

  /** A token that is an image's text, a large number, or the first of a pair. */
  private int token(int index) throws SkipException {
    WireType type = reader.next();
    int rest = 0;
    if (type == WireType.ARRAY) {
      rest = reader.length() - 1;
      type = reader.next();
    }
    int token = 0;
    if (rest < 0) {
      throw new SkipException(SkipCause.WRONG_TYPE);
    }
    if (type == WireType.TEXT || type == WireType.BYTES) {
      blocks.mark(index, digestOfValue());
    } else if (type != WireType.INTEGER) {
      throw new SkipException(SkipCause.WRONG_TYPE);
    } else if (reader.number() < 0 || reader.number() > Integer.MAX_VALUE) {
      blocks.mark(index, Digest64.fold(Digest64.EMPTY, reader.number()));
    } else {
      token = (int) reader.number();
    }
    for (; rest > 0; rest--) {
      reader.skip();
    }
    return token;
  }

  private long digestOfValue() {
    int from = reader.valueFrom();
    return WireHashes.digest(reader.bytes(), from, from + reader.length());
  }

  private void readBlockSize() throws SkipException {
    int size = reader.smallInteger(Integer.MAX_VALUE);
    if (size < 0) {
      throw new SkipException(SkipCause.WRONG_TYPE);
    }
    blocks.setBlockSize(size);
    sizeRead = true;
  }

  private void readLoraId() throws SkipException {
    WireType type = reader.next();
    blocks.clearLoraId();
    if (type == WireType.INTEGER) {
      blocks.setLoraId(Digest64.fold(Digest64.EMPTY, reader.number()));
    } else if (type == WireType.TEXT) {
      blocks.setLoraId(digestOfValue());
    } else if (type != WireType.NIL) {
      throw new SkipException(SkipCause.WRONG_TYPE);
    }
  }

  private void readMedium() throws SkipException {
    int length = readTextOrNil();
    blocks.setMedium(reader.bytes(), reader.valueFrom(), reader.valueFrom() + length);
  }

  /** A missing or empty text states no locality; any other type is not local. */
  private void readLocality() throws SkipException {
    int begin = reader.position();
    WireType type = reader.next();
    if (type == WireType.TEXT) {
      int from = reader.valueFrom();
      blocks.setLocality(reader.bytes(), from, from + reader.length());
    } else if (type != WireType.NIL) {
      blocks.setRemote();
      reader.seek(begin);
      reader.skip();
    }
  }

  private void readOwnership() throws SkipException {
    int length = lengthOfText();
    blocks.setOwnership(reader.bytes(), reader.valueFrom(), reader.valueFrom() + length);
  }

  private void readOrigin() throws SkipException {
    int length = lengthOfText();
    blocks.setOrigin(reader.bytes(), reader.valueFrom(), reader.valueFrom() + length);
  }

  /** Reads a value, which begins at {@code reader.valueFrom()} if it is a text; 0 for any other. */
  private int lengthOfText() throws SkipException {
    int begin = reader.position();
    if (reader.next() == WireType.TEXT) {
      return reader.length();
    }
    reader.seek(begin);
    reader.skip();
    return 0;
  }

  private void readText(WireText text) throws SkipException {
    int length = readTextOrNil();
    text.set(reader.bytes(), reader.valueFrom(), length);
  }

  private int readTextOrNil() throws SkipException {
    WireType type = reader.next();
    if (type == WireType.NIL) {
      return 0;
    }
    if (type != WireType.TEXT) {
      throw new SkipException(SkipCause.WRONG_TYPE);
    }
    if (reader.length() > WireDecoder.MAX_TEXT_BYTES) {
      throw new SkipException(SkipCause.TOO_LARGE);
    }
    return reader.length();
  }

  /** Skips an array or nil. */
  private int readLater() throws SkipException {
    int begin = reader.position();
    reader.array();
    reader.seek(begin);
    reader.skip();
    return begin;
  }

  /**
   * Marks blocks that have keys of their own. The adapter's name and the salt are keys too, but
   * belong to the scope; engines that do not name the salt have it last among the texts of a root.
   */
  private void markExtraKeys() throws SkipException {
    int count = reader.array();
    for (int block = 0; block < count; block++) {
      int begin = reader.position();
      boolean several = reader.next() == WireType.ARRAY;
      int keys = several ? reader.length() : 1;
      if (!several) {
        reader.seek(begin);
      }
      if (block == 0 && blocks.root() && blocks.salt().isEmpty()) {
        int first = reader.position();
        findSalt(keys);
        reader.seek(first);
      }
      for (; keys > 0; keys--) {
        markExtraKey(block);
      }
    }
  }

  private void findSalt(int keys) throws SkipException {
    for (int i = 0; i < keys; i++) {
      int begin = reader.position();
      if (reader.next() != WireType.TEXT) {
        reader.seek(begin);
        reader.skip();
      } else if (reader.length() > WireDecoder.MAX_TEXT_BYTES) {
        throw new SkipException(SkipCause.TOO_LARGE);
      } else if (reader.length() > 0 && !lastTextIs(blocks.loraName())) {
        blocks.salt().set(reader.bytes(), reader.valueFrom(), reader.length());
      }
    }
  }

  private boolean lastTextIs(WireText text) {
    return text.is(reader.bytes(), reader.valueFrom(), reader.length());
  }

  private void markExtraKey(int block) throws SkipException {
    int begin = reader.position();
    WireType type = reader.next();
    boolean ofScope =
        type == WireType.NIL
            || (type == WireType.TEXT
                && (lastTextIs(blocks.loraName())
                    || (block == 0 && blocks.root() && lastTextIs(blocks.salt()))));
    reader.seek(begin);
    reader.skip();
    if (!ofScope) {
      mark(block, begin);
    }
  }

  private void markImageKeys() throws SkipException {
    int count = reader.array();
    for (int block = 0; block < count; block++) {
      int begin = reader.position();
      WireType type = reader.next();
      boolean empty = type == WireType.NIL || (type == WireType.ARRAY && reader.length() == 0);
      reader.seek(begin);
      reader.skip();
      if (!empty) {
        mark(block, begin);
      }
    }
  }

  /** Marks a block with the value that ends here. Keys beyond the last block are ignored. */
  private void mark(int block, int begin) {
    if (block < blocks.blockCount()) {
      blocks.mark(block, WireHashes.digest(reader.bytes(), begin, reader.position()));
    }
  }
}
