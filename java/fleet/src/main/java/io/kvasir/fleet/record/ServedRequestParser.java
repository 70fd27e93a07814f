package io.kvasir.fleet.record;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import it.unimi.dsi.fastutil.longs.LongArrayList;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** Parses one {@link ServedRequest}. Single use. */
final class ServedRequestParser {

  private final JsonParser json;
  private String model = "";
  private String worker = "";
  private int dpRank = -1;
  private @Nullable String conversation;
  private double tookMs = -1;
  private double firstTokenMs = -1;
  private int inputTokens = -1;
  private int outputTokens = -1;
  private int cachedTokens = -1;
  private int matchedTokens;
  private ServedRequest.@Nullable Form form;
  private int tokensPerBlock = -1;
  private @Nullable LongArrayList blocks;

  private ServedRequestParser(JsonParser json) {
    this.json = json;
  }

  static @Nullable ServedRequest parse(String event) throws InvalidRecordingException {
    try (JsonParser json = RecordingJson.FACTORY.createParser(event)) {
      return new ServedRequestParser(json).parse();
    } catch (InvalidRecordingException e) {
      throw e;
    } catch (IllegalArgumentException e) {
      throw new InvalidRecordingException(String.valueOf(e.getMessage()));
    } catch (IOException e) {
      throw new InvalidRecordingException(
          "an event must be a JSON object: " + RecordingJson.reason(e));
    }
  }

  private @Nullable ServedRequest parse() throws IOException {
    if (json.nextToken() != JsonToken.START_OBJECT) {
      throw new InvalidRecordingException("an event must be a JSON object");
    }
    boolean isRequest = false;
    while (json.nextToken() == JsonToken.FIELD_NAME) {
      String name = json.currentName();
      JsonToken value = json.nextToken();
      if (name.equals("op")) {
        isRequest = ServedRequest.OP.equals(text(name, value));
      } else if (isRequest) {
        read(name, value);
      }
      if (!isRequest) {
        return null;
      }
    }
    if (!isRequest) {
      return null;
    }
    return new ServedRequest(
        model,
        worker,
        dpRank,
        conversation,
        present("tookMs", tookMs >= 0, tookMs),
        firstTokenMs,
        present("inputTokens", inputTokens >= 0, inputTokens),
        present("outputTokens", outputTokens >= 0, outputTokens),
        cachedTokens,
        matchedTokens,
        present("blocksOf", form != null, form),
        present("tokensPerBlock", tokensPerBlock >= 0, tokensPerBlock),
        present("blocks", blocks != null, blocks).toLongArray());
  }

  private void read(String name, JsonToken value) throws IOException {
    switch (name) {
      case "model" -> model = text(name, value);
      case "worker" -> worker = text(name, value);
      case "dpRank" -> dpRank = integer(name, value);
      case "conversation" -> conversation = text(name, value);
      case "tookMs" -> tookMs = number(name, value);
      case "firstTokenMs" -> firstTokenMs = number(name, value);
      case "inputTokens" -> inputTokens = integer(name, value);
      case "outputTokens" -> outputTokens = integer(name, value);
      case "cachedTokens" -> cachedTokens = integer(name, value);
      case "matchedTokens" -> matchedTokens = integer(name, value);
      case "blocksOf" -> form = form(text(name, value));
      case "tokensPerBlock" -> tokensPerBlock = integer(name, value);
      case "blocks" -> blocks = longs(name, value);
      default -> json.skipChildren(); // of a later version
    }
  }

  private static ServedRequest.Form form(String id) throws InvalidRecordingException {
    for (ServedRequest.Form form : ServedRequest.Form.values()) {
      if (form.id().equals(id)) {
        return form;
      }
    }
    throw new InvalidRecordingException("blocksOf must be tokens or text");
  }

  private String text(String name, JsonToken value) throws IOException {
    if (value != JsonToken.VALUE_STRING) {
      throw new InvalidRecordingException(name + " must be a text");
    }
    return json.getText();
  }

  private double number(String name, JsonToken value) throws IOException {
    if (!value.isNumeric() || !(json.getDoubleValue() >= 0)) {
      throw new InvalidRecordingException(name + " must be a number of at least 0");
    }
    return json.getDoubleValue();
  }

  private int integer(String name, JsonToken value) throws IOException {
    if (value == JsonToken.VALUE_NUMBER_INT
        && json.getNumberType() == JsonParser.NumberType.INT
        && json.getIntValue() >= 0) {
      return json.getIntValue();
    }
    throw new InvalidRecordingException(
        name + " must be an integer from 0 to " + Integer.MAX_VALUE);
  }

  private LongArrayList longs(String name, JsonToken value) throws IOException {
    if (value != JsonToken.START_ARRAY) {
      throw new InvalidRecordingException(name + " must be an array");
    }
    LongArrayList all = new LongArrayList();
    for (JsonToken next = json.nextToken(); next != JsonToken.END_ARRAY; next = json.nextToken()) {
      if (next != JsonToken.VALUE_NUMBER_INT
          || json.getNumberType() == JsonParser.NumberType.BIG_INTEGER) {
        throw new InvalidRecordingException(name + " must be integers of 64 bits");
      }
      all.add(json.getLongValue());
    }
    return all;
  }

  private static <T> T present(String name, boolean present, @Nullable T value)
      throws InvalidRecordingException {
    if (!present || value == null) {
      throw new InvalidRecordingException(name + " is missing");
    }
    return value;
  }
}
