package io.kvasir.gateway.openai;

import java.nio.charset.StandardCharsets;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Finds the first field of a name in a form that arrives in chunks of any size. What is not a form
 * has no such field.
 *
 * <p>Memory: a field's head and value, {@value #MAX_BYTES} bytes at most. Time: O(bytes). Not
 * thread-safe.
 */
public abstract class FormField {

  /** Most bytes of a value, and of the head of a part. */
  static final int MAX_BYTES = 8 << 10;

  private @Nullable String value;
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
    return boundary == null ? null : new MultipartField(boundary, name);
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

  /** Continues with a chunk, while the search is not over. */
  abstract void read(byte[] bytes, int from, int to);

  /** The body is complete. */
  public void end() {
    over = true;
  }

  /** Ends the search. */
  final void found(byte[] bytes, int length) {
    value = new String(bytes, 0, length, StandardCharsets.UTF_8);
    over = true;
  }

  /** Ends the search in vain. */
  final void giveUp() {
    over = true;
  }

  /** {@return whether the field was found, or cannot be found any more} */
  public final boolean isOver() {
    return over;
  }

  /** {@return the field's value; null if it was not found} */
  public final @Nullable String value() {
    return value;
  }
}
