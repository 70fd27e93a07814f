package io.kvasir.fleet.wire;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import io.kvasir.model.Digest64;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * Parses one event of TensorRT-LLM's list. The first wrong value makes the event faulty; the rest
 * of it is still read, for its rank and number. Not thread-safe.
 */
final class TrtllmEventParser {

  private final int tokensPerBlock;
  private final WireBlocks blocks = new WireBlocks();
  private final TrtllmValues values = new TrtllmValues();

  private long eventId;
  private int dpRank;
  private int window;
  private String type = "";
  private boolean hashesRead;

  /** The blocks before the one that is read, and the tokens of the first and the last of them. */
  private int blocksRead;

  private int firstTokens;
  private int lastTokens;

  TrtllmEventParser(int tokensPerBlock) {
    this.tokensPerBlock = tokensPerBlock;
  }

  /** The number of the last event; -1 if it has none. */
  long eventId() {
    return eventId;
  }

  int dpRank() {
    return dpRank;
  }

  int window() {
    return window;
  }

  @Nullable SkipCause fault() {
    return values.fault();
  }

  /** Passes the last event, which must not be faulty. */
  void pass(WireListener listener) {
    boolean changesBlocks = type.equals("stored") || type.equals("removed");
    if (type.isEmpty() || (changesBlocks && !hashesRead)) {
      listener.onSkipped(SkipCause.WRONG_TYPE);
      return;
    }
    switch (type) {
      case "stored" -> {
        leavePartialOut();
        listener.onStored(blocks);
      }
      case "removed" -> listener.onRemoved(blocks);
      case "created", "updated" -> {}
      default -> listener.onSkipped(SkipCause.UNKNOWN_TAG);
    }
  }

  /** The first of several blocks is full. A single one may be partial. */
  private void leavePartialOut() {
    blocks.setBlockSize(firstTokens);
    if (blocksRead == 1 && firstTokens < tokensPerBlock) {
      blocks.dropLast(firstTokens);
    } else if (blocksRead > 1 && lastTokens < firstTokens) {
      blocks.dropLast(lastTokens);
    }
  }

  /** Parses the value that the parser is at. False if it is not an event with a number. */
  boolean parse(JsonParser json) throws IOException {
    blocks.clear();
    blocksRead = 0;
    eventId = -1;
    dpRank = -1;
    window = 0;
    type = "";
    values.clearFault();
    hashesRead = false;
    if (!values.isObject(json)) {
      return false;
    }
    while (json.nextToken() == JsonToken.FIELD_NAME) {
      String name = json.currentName();
      json.nextToken();
      switch (name) {
        case "event_id" -> eventId = values.number(json, Long.MAX_VALUE);
        case "attention_dp_rank" -> dpRank = (int) values.numberOrNull(json, Integer.MAX_VALUE);
        case "window_size" ->
            window = (int) Math.max(0, values.numberOrNull(json, Integer.MAX_VALUE));
        case "data" -> readData(json);
        default -> json.skipChildren();
      }
    }
    return eventId >= 0;
  }

  private void readData(JsonParser json) throws IOException {
    if (!values.isObject(json)) {
      return;
    }
    while (json.nextToken() == JsonToken.FIELD_NAME) {
      String name = json.currentName();
      json.nextToken();
      switch (name) {
        case "type" -> type = values.text(json);
        case "parent_hash" -> {
          if (json.currentToken() == JsonToken.VALUE_NULL) {
            blocks.beginPrompt();
          } else {
            blocks.follow(values.hash(json));
          }
        }
        case "blocks" -> readBlocks(json);
        case "block_hashes" -> readHashes(json);
        case "lora_name" -> readName(json, blocks.loraName());
        case "cache_salt" -> readName(json, blocks.salt());
        default -> json.skipChildren();
      }
    }
  }

  private void readHashes(JsonParser json) throws IOException {
    blocks.newHashes(0);
    hashesRead = true;
    if (values.isArray(json)) {
      while (json.nextToken() != JsonToken.END_ARRAY) {
        addHash(values.hash(json));
      }
    }
  }

  private void addHash(long hash) {
    if (blocks.blockCount() < WireDecoder.MAX_BLOCKS) {
      blocks.addHash(hash);
    } else {
      values.fail(SkipCause.TOO_LARGE);
    }
  }

  private void readBlocks(JsonParser json) throws IOException {
    blocks.newHashes(0);
    blocks.newTokens(0);
    hashesRead = true;
    if (!values.isArray(json)) {
      return;
    }
    for (blocksRead = 0; json.nextToken() != JsonToken.END_ARRAY; blocksRead++) {
      if (blocksRead > 0 && lastTokens != firstTokens) {
        values.fail(SkipCause.TOKEN_COUNT); // only the last block may be partial
      }
      int before = blocks.tokenCount();
      readBlock(json);
      lastTokens = blocks.tokenCount() - before;
      firstTokens = blocksRead == 0 ? lastTokens : firstTokens;
    }
  }

  private void readBlock(JsonParser json) throws IOException {
    if (!values.isObject(json)) {
      return;
    }
    boolean hashRead = false;
    while (json.nextToken() == JsonToken.FIELD_NAME) {
      String name = json.currentName();
      JsonToken value = json.nextToken();
      switch (name) {
        case "block_hash" -> {
          addHash(values.hash(json));
          hashRead = true;
        }
        case "tokens" -> readTokens(json);
        case "lora_id" -> {
          if (value != JsonToken.VALUE_NULL) {
            blocks.setLoraId(Digest64.fold(Digest64.EMPTY, values.integer(json)));
          }
        }
        case "mm_keys" -> readImageKeys(json);
        default -> json.skipChildren();
      }
    }
    if (!hashRead) {
      values.fail(SkipCause.WRONG_TYPE);
    }
  }

  private void readTokens(JsonParser json) throws IOException {
    if (!values.isArray(json)) {
      return;
    }
    while (json.nextToken() != JsonToken.END_ARRAY) {
      if (blocks.tokenCount() == WireDecoder.MAX_TOKENS) {
        values.fail(SkipCause.TOO_LARGE);
        json.skipChildren();
      } else {
        readToken(json);
      }
    }
  }

  private void readToken(JsonParser json) throws IOException {
    if (!values.isObject(json)) {
      return;
    }
    long token = -1;
    while (json.nextToken() == JsonToken.FIELD_NAME) {
      String name = json.currentName();
      json.nextToken();
      switch (name) {
        case "token_id" -> token = values.number(json, Integer.MAX_VALUE);
        case "token_extra_id" -> {
          long extra = json.currentToken() == JsonToken.VALUE_NULL ? 0 : values.integer(json);
          if (extra != 0) {
            blocks.mark(blocksRead, Digest64.fold(Digest64.EMPTY, extra));
          }
        }
        default -> json.skipChildren();
      }
    }
    if (token < 0) {
      values.fail(SkipCause.WRONG_TYPE);
    }
    blocks.addToken((int) token);
  }

  /** A digest of all names and values stands for a block's images. */
  private void readImageKeys(JsonParser json) throws IOException {
    if (json.currentToken() == JsonToken.VALUE_NULL || !values.isArray(json)) {
      return;
    }
    long digest = Digest64.EMPTY;
    for (int depth = 1; depth > 0; ) {
      JsonToken token = json.nextToken();
      depth += token.isStructStart() ? 1 : token.isStructEnd() ? -1 : 0;
      digest = Digest64.fold(digest, json.getText());
    }
    if (digest != Digest64.fold(Digest64.EMPTY, "]")) {
      blocks.mark(blocksRead, digest);
    }
  }

  private void readName(JsonParser json, WireText name) throws IOException {
    byte[] bytes = values.text(json).getBytes(StandardCharsets.UTF_8);
    if (bytes.length > WireDecoder.MAX_TEXT_BYTES) {
      values.fail(SkipCause.TOO_LARGE);
    }
    name.set(bytes, 0, bytes.length);
  }
}
