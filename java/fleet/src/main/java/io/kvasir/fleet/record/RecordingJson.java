package io.kvasir.fleet.record;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.core.StreamWriteFeature;
import io.kvasir.model.Errors;
import java.io.IOException;

/** JSON settings of this package. Stateless. */
final class RecordingJson {

  static final JsonFactory FACTORY =
      JsonFactory.builder()
          .disable(StreamWriteFeature.AUTO_CLOSE_TARGET)
          .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
          .build();

  private RecordingJson() {}

  /** The parser's message, in one line. */
  static String reason(IOException e) {
    String message =
        e instanceof JsonProcessingException json ? json.getOriginalMessage() : Errors.reason(e);
    return Errors.shown(message.replaceAll("\\s+", " "));
  }
}
