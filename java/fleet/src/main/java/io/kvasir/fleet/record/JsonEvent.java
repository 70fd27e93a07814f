package io.kvasir.fleet.record;

import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import java.io.IOException;

/**
 * An event that can be recorded as one JSON object.
 *
 * <p>Called once, on the recorder's thread, so the event must not change after it was queued.
 */
public interface JsonEvent {

  /**
   * Writes one JSON object.
   *
   * @param json the target
   * @throws IOException if the generator fails
   */
  void writeTo(JsonGenerator json) throws IOException;

  /** {@return about how many bytes it takes while it waits to be written, at least 1} */
  default int queuedBytes() {
    return 256;
  }

  /**
   * An event that is already JSON text. O(characters).
   *
   * @param text one JSON object
   * @return the event
   * @throws IllegalArgumentException if it is not one JSON object and nothing else
   */
  static JsonEvent ofJson(String text) {
    try (JsonParser json = RecordingJson.FACTORY.createParser(text)) {
      if (json.nextToken() != JsonToken.START_OBJECT) {
        throw new IllegalArgumentException("an event must be a JSON object");
      }
      json.skipChildren();
      if (json.nextToken() != null) {
        throw new IllegalArgumentException("an event must be one JSON object and nothing else");
      }
    } catch (IOException e) {
      throw new IllegalArgumentException(
          "an event must be a JSON object: " + RecordingJson.reason(e), e);
    }
    // JSON strings contain no raw line breaks, so each one is whitespace.
    String line = text.strip().replace('\n', ' ').replace('\r', ' ');
    return json -> json.writeRawValue(line);
  }
}
