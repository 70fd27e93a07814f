package io.kvasir.fleet.record;

import com.fasterxml.jackson.core.JsonGenerator;
import io.kvasir.event.CacheChange;
import io.kvasir.model.RankId;
import java.io.IOException;

/**
 * A change that an engine told, as an event that can be recorded: an {@code event} operation of
 * {@code kvasir index}, whose blocks have their tokens' hash instead of tokens. Hashes, handles and
 * workers are unsigned numbers. Immutable, as the change is.
 *
 * @param rank whose
 * @param eventId its number in the rank's sequence, unsigned
 * @param change what changed
 */
public record RankChange(RankId rank, long eventId, CacheChange change) implements JsonEvent {

  @Override
  public void writeTo(JsonGenerator json) throws IOException {
    json.writeStartObject();
    json.writeStringField("op", "event");
    unsigned(json, "worker", rank.workerId());
    json.writeNumberField("dpRank", rank.dpRank());
    unsigned(json, "eventId", eventId);
    json.writeObjectFieldStart("data");
    if (change instanceof CacheChange.Stored stored) {
      write(stored, json);
    } else if (change instanceof CacheChange.Removed removed) {
      json.writeObjectFieldStart("removed");
      json.writeArrayFieldStart("blockHashes");
      for (long handle : removed.handles()) {
        json.writeNumber(Long.toUnsignedString(handle));
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

  private static void write(CacheChange.Stored stored, JsonGenerator json) throws IOException {
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
      unsigned(json, "tokensHash", stored.localHashes()[i]);
      json.writeEndObject();
    }
    json.writeEndArray();
    json.writeEndObject();
  }

  private static void unsigned(JsonGenerator json, String field, long value) throws IOException {
    json.writeFieldName(field);
    json.writeNumber(Long.toUnsignedString(value));
  }

  /**
   * Reads a change back. O(characters).
   *
   * @param event what was recorded
   * @return the change
   * @throws InvalidRecordingException naming the field that is missing or wrong
   */
  public static RankChange parse(String event) throws InvalidRecordingException {
    return RankChangeParser.parse(event);
  }
}
