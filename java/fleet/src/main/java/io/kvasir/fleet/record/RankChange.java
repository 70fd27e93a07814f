package io.kvasir.fleet.record;

import com.fasterxml.jackson.core.JsonGenerator;
import io.kvasir.event.BlockEvent;
import io.kvasir.model.RankId;
import java.io.IOException;

/**
 * A numbered block event of a rank in recording form: an {@code event} operation of {@code kvasir
 * index} with each block's local hash instead of its tokens. Hashes, handles and workers are
 * unsigned numbers. The format has no field for a naming or for sequence hashes. Immutable.
 *
 * @param rank the event's rank
 * @param eventId its number in the rank's sequence, unsigned
 * @param event the change
 */
public record RankChange(RankId rank, long eventId, BlockEvent event) implements JsonEvent {

  private static final int OBJECT_BYTES = 128;

  /**
   * Checks the event.
   *
   * @throws IllegalArgumentException if the event carries sequence hashes, further handles, or
   *     blocks of a group
   */
  public RankChange {
    if (event instanceof BlockEvent.Stored stored && stored.localHashes() == null) {
      throw new IllegalArgumentException("a recording has no field for sequence hashes");
    }
    if (event instanceof BlockEvent.Aliased) {
      throw new IllegalArgumentException("a recording has no field for further handles");
    }
    if (event instanceof BlockEvent.GroupStored || event instanceof BlockEvent.GroupRemoved) {
      throw new IllegalArgumentException("a recording has no field for groups");
    }
  }

  @Override
  public void writeTo(JsonGenerator json) throws IOException {
    json.writeStartObject();
    json.writeStringField("op", "event");
    unsigned(json, "worker", rank.workerId());
    json.writeNumberField("dpRank", rank.dpRank());
    unsigned(json, "eventId", eventId);
    json.writeObjectFieldStart("data");
    if (event instanceof BlockEvent.Stored stored) {
      write(stored, json);
    } else if (event instanceof BlockEvent.Removed removed) {
      json.writeObjectFieldStart("removed");
      json.writeArrayFieldStart("blockHashes");
      for (long handle : removed.handles()) {
        unsigned(json, handle);
      }
      json.writeEndArray();
      json.writeEndObject();
    } else {
      json.writeObjectFieldStart("cleared");
      json.writeEndObject();
    }
    json.writeEndObject();
    json.writeEndObject();
  }

  @Override
  public int queuedBytes() {
    int blocks =
        event instanceof BlockEvent.Stored stored
            ? 2 * stored.handles().length
            : event instanceof BlockEvent.Removed removed ? removed.handles().length : 0;
    return OBJECT_BYTES + blocks * Long.BYTES;
  }

  private static void write(BlockEvent.Stored stored, JsonGenerator json) throws IOException {
    json.writeObjectFieldStart("stored");
    if (stored.root()) {
      json.writeNullField("parentHash");
      if (stored.rootHash() != 0) {
        unsigned(json, "rootHash", stored.rootHash());
      }
    } else {
      unsigned(json, "parentHash", stored.parentHandle());
    }
    json.writeArrayFieldStart("blocks");
    for (int i = 0; i < stored.handles().length; i++) {
      json.writeStartObject();
      unsigned(json, "blockHash", stored.handles()[i]);
      unsigned(json, "tokensHash", stored.hashes()[i]);
      json.writeEndObject();
    }
    json.writeEndArray();
    json.writeEndObject();
  }

  private static void unsigned(JsonGenerator json, String field, long value) throws IOException {
    json.writeFieldName(field);
    unsigned(json, value);
  }

  private static void unsigned(JsonGenerator json, long value) throws IOException {
    if (value >= 0) {
      json.writeNumber(value); // without a string
    } else {
      json.writeNumber(Long.toUnsignedString(value));
    }
  }

  /**
   * Parses a recorded change. O(characters).
   *
   * @param event the recorded JSON
   * @return the change
   * @throws InvalidRecordingException naming the field that is missing or wrong
   */
  public static RankChange parse(String event) throws InvalidRecordingException {
    return RankChangeParser.parse(event);
  }
}
