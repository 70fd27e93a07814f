package io.kvasir.fleet.record;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import io.kvasir.event.BlockEvent;
import io.kvasir.model.RankId;
import it.unimi.dsi.fastutil.longs.LongArrayList;
import java.io.IOException;
import java.math.BigInteger;
import org.jspecify.annotations.Nullable;

/** Parses one {@link RankChange}. Single use. */
final class RankChangeParser {

  private static final BigInteger END = BigInteger.ONE.shiftLeft(Long.SIZE);

  private final JsonParser json;
  private @Nullable Long worker;
  private @Nullable Long dpRank;
  private @Nullable Long eventId;
  private @Nullable BlockEvent event;

  private RankChangeParser(JsonParser json) {
    this.json = json;
  }

  static RankChange parse(String line) throws InvalidRecordingException {
    try (JsonParser json = RecordingJson.FACTORY.createParser(line)) {
      return new RankChangeParser(json).parse();
    } catch (InvalidRecordingException e) {
      throw e;
    } catch (IOException e) {
      throw new InvalidRecordingException(
          "an event must be a JSON object: " + RecordingJson.reason(e));
    }
  }

  private RankChange parse() throws IOException {
    begin("an event", json.nextToken());
    boolean isEvent = false;
    while (json.nextToken() == JsonToken.FIELD_NAME) {
      String name = json.currentName();
      JsonToken value = json.nextToken();
      switch (name) {
        case "op" -> isEvent = "event".equals(json.getText());
        case "worker" -> worker = unsigned(name, value);
        case "dpRank" -> dpRank = unsigned(name, value);
        case "eventId" -> eventId = unsigned(name, value);
        case "data" -> readData(value);
        default -> throw unknown(name);
      }
    }
    if (!isEvent) {
      throw new InvalidRecordingException("op must be event");
    }
    long workerId = present("worker", worker);
    long rank = present("dpRank", dpRank);
    long number = present("eventId", eventId);
    BlockEvent change = present("data", event);
    if (rank < 0 || rank > Integer.MAX_VALUE) {
      throw new InvalidRecordingException("dpRank must be 0 to 2147483647");
    }
    return new RankChange(new RankId(workerId, (int) rank), number, change);
  }

  private void readData(JsonToken value) throws IOException {
    begin("data", value);
    if (json.nextToken() != JsonToken.FIELD_NAME) {
      throw new InvalidRecordingException("data must have stored, removed or cleared");
    }
    String name = json.currentName();
    begin(name, json.nextToken());
    event =
        switch (name) {
          case "stored" -> stored();
          case "removed" -> removed();
          case "cleared" -> cleared();
          default -> throw unknown(name);
        };
    if (json.nextToken() != JsonToken.END_OBJECT) {
      throw new InvalidRecordingException("data must have one of stored, removed and cleared");
    }
  }

  private BlockEvent stored() throws IOException {
    Long parent = null;
    long root = 0;
    LongArrayList handles = new LongArrayList();
    LongArrayList locals = new LongArrayList();
    while (json.nextToken() == JsonToken.FIELD_NAME) {
      String name = json.currentName();
      JsonToken value = json.nextToken();
      switch (name) {
        case "parentHash" -> parent = value == JsonToken.VALUE_NULL ? null : unsigned(name, value);
        case "rootHash" -> root = unsigned(name, value);
        case "blocks" -> readBlocks(value, handles, locals);
        default -> throw unknown(name);
      }
    }
    return parent == null
        ? BlockEvent.Stored.root(root, handles.toLongArray(), locals.toLongArray())
        : BlockEvent.Stored.after(parent, handles.toLongArray(), locals.toLongArray());
  }

  private void readBlocks(JsonToken value, LongArrayList handles, LongArrayList locals)
      throws IOException {
    if (value != JsonToken.START_ARRAY) {
      throw new InvalidRecordingException("blocks must be an array");
    }
    for (JsonToken next = json.nextToken(); next != JsonToken.END_ARRAY; next = json.nextToken()) {
      begin("a block", next);
      Long handle = null;
      Long local = null;
      while (json.nextToken() == JsonToken.FIELD_NAME) {
        String name = json.currentName();
        JsonToken number = json.nextToken();
        switch (name) {
          case "blockHash" -> handle = unsigned(name, number);
          case "tokensHash" -> local = unsigned(name, number);
          default -> throw unknown(name);
        }
      }
      handles.add((long) present("blockHash", handle));
      locals.add((long) present("tokensHash", local));
    }
  }

  private BlockEvent removed() throws IOException {
    LongArrayList handles = new LongArrayList();
    while (json.nextToken() == JsonToken.FIELD_NAME) {
      if (!json.currentName().equals("blockHashes")) {
        throw unknown(json.currentName());
      }
      if (json.nextToken() != JsonToken.START_ARRAY) {
        throw new InvalidRecordingException("blockHashes must be an array");
      }
      for (JsonToken next = json.nextToken();
          next != JsonToken.END_ARRAY;
          next = json.nextToken()) {
        handles.add(unsigned("blockHashes", next));
      }
    }
    return BlockEvent.Removed.of(handles.toLongArray());
  }

  private BlockEvent cleared() throws IOException {
    if (json.nextToken() != JsonToken.END_OBJECT) {
      throw new InvalidRecordingException("cleared must be an empty object");
    }
    return new BlockEvent.Cleared();
  }

  /** A 64-bit number, written signed or unsigned. */
  private long unsigned(String name, JsonToken value) throws IOException {
    if (value == JsonToken.VALUE_NUMBER_INT) {
      BigInteger number = json.getBigIntegerValue();
      if (number.bitLength() < Long.SIZE || (number.signum() > 0 && number.compareTo(END) < 0)) {
        return number.longValue();
      }
    }
    throw new InvalidRecordingException(name + " must be an integer of 64 bits");
  }

  private static void begin(String name, JsonToken token) throws InvalidRecordingException {
    if (token != JsonToken.START_OBJECT) {
      throw new InvalidRecordingException(name + " must be a JSON object");
    }
  }

  private static <T> T present(String name, @Nullable T value) throws InvalidRecordingException {
    if (value == null) {
      throw new InvalidRecordingException(name + " is missing");
    }
    return value;
  }

  private static InvalidRecordingException unknown(String name) {
    return new InvalidRecordingException(name + " is unknown");
  }
}
