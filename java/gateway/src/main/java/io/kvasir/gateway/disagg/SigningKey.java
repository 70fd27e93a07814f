package io.kvasir.gateway.disagg;

import io.kvasir.model.Errors;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * The secret by which gateway and engines sign, which can be any text, or any bytes of a file. No
 * text that this class makes repeats it. Immutable.
 */
public final class SigningKey {

  /** Most bytes of a key. */
  static final int MAX_BYTES = 8_192;

  /** Bytes that are read beyond those of a key. */
  private static final int MOST_LINE_ENDS = 64;

  private final byte[] bytes;

  private SigningKey(byte[] bytes) {
    this.bytes = bytes;
  }

  /**
   * Takes a key as it is, blanks included. Its bytes are those of UTF-8.
   *
   * @param source where it was found, in errors
   * @param text the key
   * @return the key
   * @throws IllegalArgumentException if it is empty or too long
   */
  public static SigningKey of(String source, String text) {
    return of(source, text.getBytes(StandardCharsets.UTF_8));
  }

  private static SigningKey of(String source, byte[] bytes) {
    if (bytes.length == 0 || bytes.length > MAX_BYTES) {
      throw new IllegalArgumentException(
          source + " must have a key of 1 to " + MAX_BYTES + " bytes");
    }
    return new SigningKey(bytes);
  }

  /**
   * Reads a key from a file, without the line ends behind it. Its bytes are those of the file,
   * which need not be text.
   *
   * @param source the name of the setting, in errors
   * @param path the file
   * @return the key
   * @throws IllegalArgumentException if the file cannot be read or has no key
   */
  public static SigningKey ofFile(String source, String path) {
    String shown = source + " '" + Errors.shown(path) + "'";
    try (InputStream in = Files.newInputStream(Path.of(path))) {
      byte[] read = in.readNBytes(MAX_BYTES + MOST_LINE_ENDS);
      int length = read.length;
      while (length > 0 && (read[length - 1] == '\n' || read[length - 1] == '\r')) {
        length--;
      }
      return of(shown, Arrays.copyOf(read, length));
    } catch (IOException | InvalidPathException e) {
      throw new IllegalArgumentException(shown + " cannot be read: " + Errors.reason(e), e);
    }
  }

  /**
   * Reads a key from a variable of the environment.
   *
   * @param source the name of the setting, in errors
   * @param name the variable
   * @param environment the variables' values, null for those that are not set
   * @return the key
   * @throws IllegalArgumentException if the variable is not set or is empty
   */
  public static SigningKey ofVariable(
      String source, String name, UnaryOperator<@Nullable String> environment) {
    String shown = source + " '" + Errors.shown(name) + "'";
    String value = environment.apply(name);
    if (value == null) {
      throw new IllegalArgumentException(shown + " names a variable that is not set");
    }
    return of(shown, value);
  }

  /** {@return a copy of the key's bytes} */
  public byte[] bytes() {
    return bytes.clone();
  }

  @Override
  public String toString() {
    return "(a key)";
  }
}
