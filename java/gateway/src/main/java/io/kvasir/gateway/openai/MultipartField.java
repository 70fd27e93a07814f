package io.kvasir.gateway.openai;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;

/**
 * Finds a field in {@code multipart/form-data} (RFC 7578). The contents of other parts are passed
 * over without a copy.
 *
 * <p>The delimiter of two parts is a line end, two hyphens and the boundary. A boundary has no line
 * end in it, so that a byte that does not continue a delimiter can only begin the next one.
 */
final class MultipartField extends FormField {

  private static final String DISPOSITION = "content-disposition:";

  /** A disposition that all readers understand alike. */
  private static final Pattern CLEAR =
      Pattern.compile(
          "content-disposition: *form-data *; *name=(\"[^\"\\\\]*\"|[^\"\\\\;\\s]+)"
              + "( *; *filename\\*?=(\"[^\"\\\\]*\"|[^\"\\\\;\\s]+))* *",
          Pattern.CASE_INSENSITIVE);

  /** What comes next. */
  private enum State {
    /** The content of a part, or what precedes the first one. */
    CONTENT,
    /** What follows a delimiter in its line. */
    DELIMITER_LINE,
    /** The fields of a part, up to a blank line. */
    HEAD
  }

  private final byte[] delimiter;
  private final String name;
  private final byte[] kept = new byte[MAX_BYTES];
  private State state = State.CONTENT;

  /** Bytes of {@link #kept}. */
  private int length;

  /** Bytes of the delimiter that have arrived last; at the start, the line end is implied. */
  private int matched = 2;

  /** Whether the content is the field's. */
  private boolean wanted;

  /** Whether the first delimiter has come. */
  private boolean begun;

  /** The latest byte of a delimiter's line; 0 before its first one. */
  private byte latest;

  /**
   * Begins a search.
   *
   * @param boundary the boundary that the type names
   * @param name the field's name
   */
  MultipartField(String boundary, String name) {
    this.delimiter = ("\r\n--" + boundary).getBytes(StandardCharsets.ISO_8859_1);
    this.name = name;
  }

  @Override
  void read(byte[] bytes, int from, int to) {
    int i = from;
    while (i < to && !isOver()) {
      switch (state) {
        case CONTENT -> i = content(bytes, i, to);
        case DELIMITER_LINE -> delimiterLine(bytes[i++]);
        case HEAD -> head(bytes[i++]);
      }
    }
  }

  @Override
  public void end() {
    if (!isOver()) {
      onUnclear(); // its end is missing
    }
    super.end();
  }

  private int content(byte[] bytes, int from, int to) {
    int i = from;
    while (i < to) {
      if (matched == 0 && !wanted) {
        i = SseEvents.lineEnd(bytes, i, to);
        if (i == to) {
          return to;
        }
      }
      byte next = bytes[i++];
      if (next == delimiter[matched]) {
        matched++;
        if (matched == delimiter.length) {
          endContent();
          return i;
        }
        continue;
      }
      if (!begun && !(next == '\r' && matched == 2)) {
        onUnclear(); // what precedes a form is an error to some readers, and passed over by others
      }
      if (wanted && !keep(delimiter, matched)) {
        giveUp(); // the value is too long
        return to;
      }
      matched = next == delimiter[0] ? 1 : 0;
      if (wanted && matched == 0 && !keep(new byte[] {next}, 1)) {
        giveUp();
        return to;
      }
    }
    return to;
  }

  private boolean keep(byte[] bytes, int count) {
    if (length + count > kept.length) {
      return false;
    }
    System.arraycopy(bytes, 0, kept, length, count);
    length += count;
    return true;
  }

  private void endContent() {
    if (wanted) {
      found(kept, length);
    }
    begun = true;
    matched = 0;
    length = 0;
    latest = 0;
    state = State.DELIMITER_LINE;
  }

  /** Two hyphens end the form; blanks may precede the line's end. */
  private void delimiterLine(byte next) {
    boolean first = latest == 0;
    if (latest == '-') {
      if (next != '-') {
        onUnclear();
      }
      stop();
    } else if (next == '\n') {
      if (latest != '\r') {
        onUnclear();
      }
      state = State.HEAD;
    } else if (!first || (next != '-' && next != '\r')) {
      onUnclear(); // to some readers it is no delimiter
    }
    latest = next;
  }

  private void giveUp() {
    onUnclear();
    stop();
  }

  private void head(byte next) {
    if (length == kept.length) {
      giveUp();
      return;
    }
    kept[length++] = next;
    if (next == '\n' && (length < 2 || kept[length - 2] != '\r')) {
      onUnclear();
    }
    if (next == '\n' && endsHead()) {
      wanted = isWanted(new String(kept, 0, length, StandardCharsets.UTF_8));
      length = 0;
      matched = 0;
      state = State.CONTENT;
    }
  }

  /** Whether the last line is blank. */
  private boolean endsHead() {
    int before = length - 1;
    if (before > 0 && kept[before - 1] == '\r') {
      before--;
    }
    return before == 0 || kept[before - 1] == '\n';
  }

  private boolean isWanted(String head) {
    List<String> dispositions =
        Arrays.stream(head.split("\r?\n", -1))
            .filter(line -> line.toLowerCase(Locale.ROOT).startsWith(DISPOSITION))
            .toList();
    if (dispositions.size() != 1 || !CLEAR.matcher(dispositions.get(0)).matches()) {
      onUnclear();
    }
    return dispositions.stream().anyMatch(line -> name.equals(FieldParameters.value(line, "name")));
  }
}
