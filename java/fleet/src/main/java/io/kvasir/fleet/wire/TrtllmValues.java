package io.kvasir.fleet.wire;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * Reads values of an event from a JSON parser that is at them. A wrong value is skipped and noted
 * as the event's fault, the first of them only. Not thread-safe.
 */
final class TrtllmValues {

  private static final long MAX_TENTH = Long.divideUnsigned(-1, 10);
  private static final int MAX_LAST_DIGIT = 5;

  private @Nullable SkipCause fault;

  void clearFault() {
    fault = null;
  }

  @Nullable SkipCause fault() {
    return fault;
  }

  boolean isObject(JsonParser json) throws IOException {
    return is(JsonToken.START_OBJECT, json);
  }

  boolean isArray(JsonParser json) throws IOException {
    return is(JsonToken.START_ARRAY, json);
  }

  /** Whether the value is of a type. If not, the event is faulty, and the value is skipped. */
  private boolean is(JsonToken wanted, JsonParser json) throws IOException {
    if (json.currentToken() == wanted) {
      return true;
    }
    fail(SkipCause.WRONG_TYPE);
    json.skipChildren();
    return false;
  }

  void fail(SkipCause cause) {
    if (fault == null) {
      fault = cause;
    }
  }

  /** A text; empty for null. */
  String text(JsonParser json) throws IOException {
    return json.currentToken() != JsonToken.VALUE_NULL && is(JsonToken.VALUE_STRING, json)
        ? json.getText()
        : "";
  }

  /** A hash: a number of 64 bits, or hexadecimal digits of any length. */
  long hash(JsonParser json) throws IOException {
    if (json.currentToken() != JsonToken.VALUE_STRING) {
      return integer(json);
    }
    byte[] text = json.getText().getBytes(StandardCharsets.UTF_8);
    if (text.length == 0) {
      fail(SkipCause.WRONG_TYPE);
    }
    return WireHashes.ofHashText(text, 0, text.length);
  }

  /** A number from 0 to a bound; -1 for null. */
  long numberOrNull(JsonParser json, long most) throws IOException {
    return json.currentToken() == JsonToken.VALUE_NULL ? -1 : number(json, most);
  }

  /** A number from 0 to a bound. */
  long number(JsonParser json, long most) throws IOException {
    long number = integer(json);
    if (number < 0 || number > most) {
      fail(SkipCause.WRONG_TYPE);
      return -1;
    }
    return number;
  }

  /** The 64 bits of an integer, written signed or unsigned. */
  long integer(JsonParser json) throws IOException {
    if (!is(JsonToken.VALUE_NUMBER_INT, json)) {
      return -1;
    }
    char[] text = json.getTextCharacters();
    int from = json.getTextOffset();
    int to = from + json.getTextLength();
    boolean negative = text[from] == '-';
    long value = 0;
    for (int i = negative ? from + 1 : from; i < to; i++) {
      int digit = text[i] - '0';
      int order = Long.compareUnsigned(value, MAX_TENTH);
      if (order > 0 || (order == 0 && digit > MAX_LAST_DIGIT)) {
        fail(SkipCause.WRONG_TYPE);
        return -1;
      }
      value = value * 10 + digit;
    }
    if (negative && value < 0 && value != Long.MIN_VALUE) {
      fail(SkipCause.WRONG_TYPE);
    }
    return negative ? -value : value;
  }
}
