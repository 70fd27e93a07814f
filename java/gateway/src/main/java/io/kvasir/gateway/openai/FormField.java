package io.kvasir.gateway.openai;

import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Finds the first field of a name in a form that arrives in chunks of any size, and whether there
 * is another one: other readers take the last. Other bodies have no such field.
 *
 * <p>Memory: a field's head and value, {@value #MAX_BYTES} bytes at most. Time: O(bytes). Not
 * thread-safe.
 */
public abstract class FormField {

  /** Most bytes of a value, and of the head of a part. */
  static final int MAX_BYTES = 8 << 10;

  /** A type with one boundary. */
  private static final Pattern CLEAR =
      Pattern.compile(
          "\\s*multipart/form-data *; *boundary=(\"[^\"\\\\]+\"|[^\"\\\\;,\\s]+)( *; *charset=[\\w-]+)?\\s*",
          Pattern.CASE_INSENSITIVE);

  private @Nullable String value;
  private boolean repeated;
  private boolean unclear;
  private boolean over;

  /** Creates a search that has found nothing. */
  FormField() {}

  /**
   * {@return a search for a field; null if the type is that of no form}
   *
   * @param type the content type of the body; null for none
   * @param name the field's name, in ASCII
   */
  public static @Nullable FormField of(@Nullable String type, String name) {
    if (type == null) {
      return null;
    }
    int parameters = type.indexOf(';');
    String media = (parameters < 0 ? type : type.substring(0, parameters)).strip();
    if (media.equalsIgnoreCase("application/x-www-form-urlencoded")) {
      return new UrlEncodedField(name);
    }
    if (!media.toLowerCase(Locale.ROOT).equals("multipart/form-data") || parameters < 0) {
      return null;
    }
    String boundary = FieldParameters.value(type.substring(parameters), "boundary");
    if (boundary == null) {
      return null;
    }
    FormField field = new MultipartField(boundary, name);
    if (!CLEAR.matcher(type).matches()) {
      field.onUnclear();
    }
    return field;
  }

  /**
   * Continues with a chunk.
   *
   * @param bytes an array that holds the chunk; not changed
   * @param from index of its first byte
   * @param to index after its last byte
   */
  public final void feed(byte[] bytes, int from, int to) {
    if (!over) {
      read(bytes, from, to);
    }
  }

  /** Continues with a chunk, while the reading is not over. */
  abstract void read(byte[] bytes, int from, int to);

  /** The body is complete. */
  public void end() {
    over = true;
  }

  /** A field of the name is complete. */
  final void found(byte[] bytes, int length) {
    if (value != null) {
      repeated = true;
      over = true;
    } else {
      value = new String(bytes, 0, length, StandardCharsets.UTF_8);
    }
  }

  /** Reads no more. */
  final void stop() {
    over = true;
  }

  /** Other readers may find other fields. */
  final void onUnclear() {
    unclear = true;
  }

  /** Whether nothing more is read. */
  final boolean isOver() {
    return over;
  }

  /** {@return whether the field was found, or cannot be found any more} */
  public final boolean isKnown() {
    return over || value != null;
  }

  /** {@return whether there is a second field of the name} */
  public final boolean isRepeated() {
    return repeated;
  }

  /** {@return whether other readers may find other fields in what was read} */
  public final boolean isUnclear() {
    return unclear;
  }

  /** {@return the field's value; null if it was not found} */
  public final @Nullable String value() {
    return value;
  }
}
