package io.kvasir.fleet.record;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import it.unimi.dsi.fastutil.longs.LongArrayList;
import it.unimi.dsi.fastutil.longs.LongArrays;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** Reads the fields of one {@link ServedRequest}. Single use. */
final class ServedRequestParser {

  /** The chain of names that a request's first blocks belong to. */
  interface Chains {

    /**
     * {@return the names of the blocks up to one; null if no request of the model has had it}
     *
     * @param model the model
     * @param block the name of the last of them
     */
    long @Nullable [] upTo(String model, long block);
  }

  private final JsonParser json;
  private final Chains chains;
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
  private @Nullable Long behind;
  private @Nullable LongArrayList blocks;

  private ServedRequestParser(JsonParser json, Chains chains) {
    this.json = json;
    this.chains = chains;
  }

  static @Nullable ServedRequest parse(String event, Chains chains)
      throws InvalidRecordingException {
    try (JsonParser json = RecordingJson.FACTORY.createParser(event)) {
      return new ServedRequestParser(json, chains).parse();
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
    LongArrayList added = present("blocks", blocks != null, blocks);
    long[] known = known();
    LongArrayList all = new LongArrayList(known);
    all.addAll(added);
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
        all.toLongArray(),
        known.length);
  }

  private long[] known() throws InvalidRecordingException {
    if (behind == null) {
      return LongArrays.EMPTY_ARRAY;
    }
    long[] known = chains.upTo(model, behind);
    if (known == null) {
      throw new InvalidRecordingException(
          "behind must be a block of an earlier request of the same model, not " + behind);
    }
    return known;
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
      case "behind" -> behind = integer64(name, value);
      case "blocks" -> blocks = names(name, value);
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

  /** Names in base64, or numbers, as recordings had them earlier. */
  private LongArrayList names(String name, JsonToken value) throws IOException {
    if (value == JsonToken.VALUE_STRING) {
      long[] names = BlockNames.parse(json.getText());
      if (names == null) {
        throw new InvalidRecordingException(name + " must be base64 of 8 bytes a block");
      }
      return LongArrayList.wrap(names);
    }
    if (value != JsonToken.START_ARRAY) {
      throw new InvalidRecordingException(name + " must be a text or an array");
    }
    LongArrayList all = new LongArrayList();
    for (JsonToken next = json.nextToken(); next != JsonToken.END_ARRAY; next = json.nextToken()) {
      if (!isInteger64(next)) {
        throw new InvalidRecordingException(name + " must be integers of 64 bits");
      }
      all.add(json.getLongValue());
    }
    return all;
  }

  private long integer64(String name, JsonToken value) throws IOException {
    if (!isInteger64(value)) {
      throw new InvalidRecordingException(name + " must be an integer of 64 bits");
    }
    return json.getLongValue();
  }

  private boolean isInteger64(JsonToken token) throws IOException {
    return token == JsonToken.VALUE_NUMBER_INT
        && json.getNumberType() != JsonParser.NumberType.BIG_INTEGER;
  }

  private static <T> T present(String name, boolean present, @Nullable T value)
      throws InvalidRecordingException {
    if (!present || value == null) {
      throw new InvalidRecordingException(name + " is missing");
    }
    return value;
  }
}
