package io.kvasir.gateway.openai;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import io.netty.buffer.ByteBuf;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Locale;

/**
 * Reads which status an engine's error event stands for. Engines that have sent their head with 200
 * name it in {@code code}: vLLM's {@code create_streaming_error_response} and SGLang as a number.
 * Stateless.
 */
public final class EngineError {

  /** Status of an error that names none. */
  public static final int UNKNOWN = 500;

  private static final JsonFactory JSON = new JsonFactory();
  private static final String DATA = "data:";
  private static final int BAD_REQUEST = 400;
  private static final int BAD_GATEWAY = 502;
  private static final int GATEWAY_TIMEOUT = 504;

  /** Parts of types and codes in words that name a fault of the request. */
  private static final String[] OF_THE_REQUEST = {
    "invalid",
    "badrequest",
    "bad_request",
    "notfound",
    "not_found",
    "unprocessable",
    "too_large",
    "authentication",
    "permission",
    "rate_limit",
    "ratelimit"
  };

  private EngineError() {}

  /**
   * The status of an event that reports an error. O(bytes).
   *
   * @param event the event's bytes; neither consumed nor released
   * @return the status: 400 to 499, 500, 502, 503 or 504; {@link #UNKNOWN} if the event names none
   *     or another
   */
  public static int status(ByteBuf event) {
    int status = 0;
    try (JsonParser json = JSON.createParser(data(event.toString(StandardCharsets.UTF_8)))) {
      status = json.nextToken() == JsonToken.START_OBJECT ? read(json) : 0;
    } catch (IOException e) {
      return UNKNOWN;
    }
    return status == 0 ? UNKNOWN : status;
  }

  /** The values of an event's lines of data, without an object for each of its lines. */
  private static String data(String event) {
    StringBuilder data = new StringBuilder();
    int end = 0;
    for (int start = 0; start < event.length(); start = end + 1) {
      end = start;
      while (end < event.length() && event.charAt(end) != '\n' && event.charAt(end) != '\r') {
        end++;
      }
      if (event.startsWith(DATA, start)) {
        data.append(event, start + DATA.length(), end).append('\n');
      }
    }
    return data.toString();
  }

  /** Reads the rest of an object: the status that a number names, or else words; 0 for none. */
  private static int read(JsonParser json) throws IOException {
    int number = 0;
    int words = 0;
    while (json.nextToken() == JsonToken.FIELD_NAME) {
      String name = json.currentName();
      JsonToken value = json.nextToken();
      if (value == JsonToken.START_OBJECT && (name.equals("error") || name.equals("response"))) {
        int inner = read(json);
        number = inner == 0 ? number : inner;
      } else if (name.equals("code") || name.equals("status_code") || name.equals("type")) {
        String text = value.isScalarValue() ? json.getText() : "";
        int named = number(text);
        number = named == 0 ? number : named;
        words = isOfTheRequest(text) ? BAD_REQUEST : words;
        json.skipChildren();
      } else {
        json.skipChildren();
      }
    }
    return number == 0 ? words : number;
  }

  private static int number(String text) {
    int status = text.matches("[0-9]{3}") ? Integer.parseInt(text) : 0;
    boolean ofTheRequest = status >= BAD_REQUEST && status < UNKNOWN;
    boolean ofTheServer = status >= BAD_GATEWAY && status <= GATEWAY_TIMEOUT;
    return ofTheRequest || ofTheServer || status == UNKNOWN ? status : 0;
  }

  private static boolean isOfTheRequest(String text) {
    String lower = text.toLowerCase(Locale.ROOT);
    for (String part : OF_THE_REQUEST) {
      if (lower.contains(part)) {
        return true;
      }
    }
    return false;
  }
}
