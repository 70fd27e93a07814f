package io.kvasir.gateway.openai;

import io.kvasir.gateway.openai.JsonException.Kind;
import java.util.Arrays;

/**
 * Reads JSON in place and checks every byte that it passes: RFC 8259, UTF-8 without overlong forms
 * and surrogates, at most {@link #MAX_DEPTH} levels.
 *
 * <p>The position is an index of the array. A caller enters an array or object with {@link
 * #beginArray} or {@link #beginObject}, and takes or skips one value after each {@link
 * #nextElement} or {@link #nextKey} until that returns false.
 *
 * <p>Reusable and not thread-safe. Long texts cost less than a nanosecond for each eight bytes of
 * ASCII. After an exception only {@link #reset} is allowed.
 */
final class JsonCursor {

  /** The deepest nesting of arrays and objects; the outermost is on level 1. */
  static final int MAX_DEPTH = 128;

  /** The largest unsigned integer of 32 bits. */
  static final long MAX_UNSIGNED = 0xffff_ffffL;

  private static final long QUOTES = ByteSearch.repeated('"');

  private byte[] bytes = new byte[0];
  private int end;
  private int at;
  private int depth;
  private int elements;
  private int numbers;

  /** Whether the array or object was entered and its first element was not looked for yet. */
  private boolean entered;

  /** Whether the latest text has escapes. */
  private boolean escaped;

  private int keyStart;
  private int keyEnd;
  private boolean keyEscaped;

  /**
   * Begins at a range of an array.
   *
   * @param array the array; not copied
   * @param from index of the first byte
   * @param to index after the last byte
   * @return this cursor
   */
  JsonCursor reset(byte[] array, int from, int to) {
    bytes = array;
    at = from;
    end = to;
    depth = 0;
    elements = 0;
    numbers = 0;
    entered = false;
    return this;
  }

  /** {@return the array} */
  byte[] bytes() {
    return bytes;
  }

  /** {@return the index of the next byte} */
  int at() {
    return at;
  }

  /** {@return the index of the quote that opens the latest key} */
  int keyStart() {
    return keyStart;
  }

  /** {@return the index after the quote that closes the latest key} */
  int keyEnd() {
    return keyEnd;
  }

  /** {@return whether the latest key has escapes} */
  boolean keyEscaped() {
    return keyEscaped;
  }

  /** {@return whether the text that was skipped last has escapes} */
  boolean escaped() {
    return escaped;
  }

  /**
   * Skips whitespace.
   *
   * @return the byte that follows, which is not skipped
   * @throws JsonException if none follows
   */
  int peek() throws JsonException {
    if (atEnd()) {
      throw new JsonException(Kind.SYNTAX, end, "it ends too early");
    }
    return bytes[at];
  }

  /** {@return whether nothing but whitespace, which is skipped, follows} */
  boolean atEnd() {
    int i = at;
    while (i < end && isWhitespace(bytes[i])) {
      i++;
    }
    at = i;
    return i == end;
  }

  /** {@return whether a byte is a blank, tab, line feed or carriage return} */
  static boolean isWhitespace(int c) {
    return c == ' ' || c == '\n' || c == '\r' || c == '\t';
  }

  /** Enters an object, which must begin here. */
  void beginObject() throws JsonException {
    begin('{');
  }

  /** Enters an array, which must begin here. */
  void beginArray() throws JsonException {
    begin('[');
  }

  private void begin(char bracket) throws JsonException {
    if (peek() != bracket) {
      throw expected(bracket == '{' ? "an object" : "an array");
    }
    if (++depth > MAX_DEPTH) {
      throw new JsonException(
          Kind.DEPTH, at, "arrays and objects must not be nested deeper than " + MAX_DEPTH);
    }
    at++;
    entered = true;
  }

  /**
   * Goes to the value of the object's next member, or behind the object.
   *
   * @return whether there is a member
   * @throws JsonException if the JSON is not valid
   */
  boolean nextKey() throws JsonException {
    if (!next('}')) {
      return false;
    }
    if (peek() != '"') {
      throw expected("a key in quotes");
    }
    keyStart = at;
    skipString();
    keyEnd = at;
    keyEscaped = escaped;
    if (peek() != ':') {
      throw expected("a colon");
    }
    at++;
    int ignored = peek();
    return true;
  }

  /**
   * Goes to the array's next element, or behind the array.
   *
   * @return whether there is an element
   * @throws JsonException if the JSON is not valid
   */
  boolean nextElement() throws JsonException {
    boolean found = next(']');
    if (found) {
      int first = peek();
      if (isDigit(first) || first == '-') {
        numbers++;
      } else {
        elements++;
      }
    }
    return found;
  }

  /** {@return elements of arrays so far, on all levels, that are no numbers} */
  int elements() {
    return elements;
  }

  /** Counts the latest element, a number, with those that are no numbers. */
  void countAsPart() {
    numbers--;
    elements++;
  }

  /** {@return elements of arrays so far, on all levels, that are numbers} */
  int numbers() {
    return numbers;
  }

  private boolean next(char closing) throws JsonException {
    int c = peek();
    boolean first = entered;
    entered = false;
    if (c == closing) {
      at++;
      depth--;
      return false;
    }
    if (!first) {
      if (c != ',') {
        throw expected("a comma or " + closing);
      }
      at++;
    }
    return true;
  }

  /**
   * Skips one value of any kind.
   *
   * @throws JsonException if the JSON is not valid
   */
  void skip() throws JsonException {
    switch (peek()) {
      case '"' -> skipString();
      case '{' -> {
        beginObject();
        while (nextKey()) {
          skip();
        }
      }
      case '[' -> {
        beginArray();
        while (nextElement()) {
          skip();
        }
      }
      case 't' -> skipWord("true");
      case 'f' -> skipWord("false");
      case 'n' -> skipWord("null");
      default -> skipNumber();
    }
  }

  private void skipWord(String word) throws JsonException {
    for (int i = 0; i < word.length(); i++) {
      if (at + i >= end || bytes[at + i] != word.charAt(i)) {
        throw expected("a value");
      }
    }
    at += word.length();
  }

  private void skipNumber() throws JsonException {
    int start = at;
    if (bytes[at] == '-') {
      at++;
    }
    if (at < end && bytes[at] == '0') {
      at++;
    } else {
      skipDigits(start);
    }
    if (at < end && bytes[at] == '.') {
      at++;
      skipDigits(start);
    }
    if (at < end && (bytes[at] == 'e' || bytes[at] == 'E')) {
      at++;
      if (at < end && (bytes[at] == '+' || bytes[at] == '-')) {
        at++;
      }
      skipDigits(start);
    }
  }

  /**
   * Skips one value of any kind. The fast way through long lists of tokens.
   *
   * @return the value if it is an integer from 0 to {@link #MAX_UNSIGNED}, written without fraction
   *     and exponent, or -0; -1 for any other value
   * @throws JsonException if the JSON is not valid
   */
  long skipUnsigned() throws JsonException {
    int i = at;
    long value = 0;
    while (i < end && isDigit(bytes[i]) && value <= MAX_UNSIGNED) {
      value = value * 10 + bytes[i] - '0';
      i++;
    }
    if (bytes[at] == '0' && i > at + 1) {
      at++;
      return 0; // no number continues here: what follows is refused
    }
    boolean ends = i < end && !isDigit(bytes[i]) && ".eE".indexOf(bytes[i]) < 0;
    if (i == at || value > MAX_UNSIGNED || !ends) {
      int from = at;
      skip();
      return at == from + 2 && bytes[from] == '-' && bytes[from + 1] == '0' ? 0 : -1;
    }
    at = i;
    return value;
  }

  /** Skips a value; {@return whether it is a text, which is given in quotes and without escapes} */
  boolean skipIs(byte[] quoted) throws JsonException {
    int from = at;
    skip();
    return Arrays.equals(bytes, from, at, quoted, 0, quoted.length);
  }

  /** {@return whether a byte is a decimal digit} */
  static boolean isDigit(int c) {
    return c >= '0' && c <= '9';
  }

  private void skipDigits(int number) throws JsonException {
    int i = at;
    while (i < end && isDigit(bytes[i])) {
      i++;
    }
    if (i == at) {
      throw i == number ? expected("a value") : expected("a digit");
    }
    at = i;
  }

  /**
   * Skips a text.
   *
   * @throws JsonException if the text is not valid
   */
  void skipString() throws JsonException {
    byte[] b = bytes;
    int lastWord = end - Long.BYTES;
    int i = at + 1;
    escaped = false;
    while (true) {
      while (i <= lastWord) {
        long word = ByteSearch.at(b, i);
        long special =
            ByteSearch.equal(word, QUOTES)
                | ByteSearch.equal(word, ByteSearch.BACKSLASHES)
                | ByteSearch.notPrintable(word);
        if (special != 0) {
          i += ByteSearch.first(special);
          break;
        }
        i += Long.BYTES;
      }
      if (i >= end) {
        throw new JsonException(Kind.SYNTAX, end, "it ends within a string");
      }
      int c = b[i];
      if (c == '"') {
        at = i + 1;
        return;
      } else if (c == '\\') {
        escaped = true;
        i = afterEscape(i);
      } else if (c < 0) {
        i = Utf8.skip(b, i, end);
      } else if (c < ' ') {
        throw new JsonException(Kind.SYNTAX, i, "control characters must be escaped");
      } else {
        i++;
      }
    }
  }

  private int afterEscape(int backslash) throws JsonException {
    int c = backslash + 1 < end ? bytes[backslash + 1] : -1;
    switch (c) {
      case '"', '\\', '/', 'b', 'f', 'n', 'r', 't' -> {
        return backslash + 2;
      }
      case 'u' -> {
        for (int i = backslash + 2; i < backslash + 6; i++) {
          if (i >= end || JsonText.hexDigit(bytes[i]) < 0) {
            throw new JsonException(Kind.SYNTAX, i, "\\u must be followed by four hex digits");
          }
        }
        return backslash + 6;
      }
      default -> throw new JsonException(Kind.SYNTAX, backslash, "the escape is unknown");
    }
  }

  /** {@return an error at the next byte, to be thrown; it says what is allowed there} */
  JsonException expected(String what) {
    return new JsonException(Kind.SYNTAX, at, what + " is expected");
  }
}
