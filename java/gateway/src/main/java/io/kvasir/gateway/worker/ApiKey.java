package io.kvasir.gateway.worker;

import io.kvasir.model.Errors;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * The key that an engine demands of its clients. No text that this class makes repeats the key, so
 * that it cannot reach logs, lists or errors. Immutable.
 */
public final class ApiKey {

  /** Most characters of a key. */
  static final int MAX_CHARACTERS = 8_192;

  private final String value;

  private ApiKey(String value) {
    this.value = value;
  }

  /**
   * Takes a key as it is written.
   *
   * @param source where it was found, in errors
   * @param text the key; spaces and line feeds around it do not count
   * @return the key
   * @throws IllegalArgumentException if it is empty, too long, or has other characters than those
   *     that a header field can have
   */
  public static ApiKey of(String source, String text) {
    String key = text.strip();
    if (key.isEmpty() || key.length() > MAX_CHARACTERS || !key.chars().allMatch(ApiKey::visible)) {
      throw new IllegalArgumentException(
          source
              + " must have a key of 1 to "
              + MAX_CHARACTERS
              + " visible ASCII characters without spaces");
    }
    return new ApiKey(key);
  }

  private static boolean visible(int character) {
    return character > ' ' && character < 0x7f;
  }

  /**
   * Reads a key from a file.
   *
   * @param key the name of the setting, in errors
   * @param path the file
   * @return the key
   * @throws IllegalArgumentException if the file cannot be read or has no key
   */
  public static ApiKey ofFile(String key, String path) {
    String source = key + " '" + Errors.shown(path) + "'";
    try (InputStream in = Files.newInputStream(Path.of(path))) {
      byte[] bytes = in.readNBytes(MAX_CHARACTERS + 64); // room for line feeds, not for more
      return of(source, new String(bytes, StandardCharsets.UTF_8));
    } catch (IOException | InvalidPathException e) {
      throw new IllegalArgumentException(source + " cannot be read: " + Errors.reason(e), e);
    }
  }

  /**
   * Reads a key from a variable of the environment.
   *
   * @param key the name of the setting, in errors
   * @param name the variable
   * @param environment the variables' values, null for those that are not set
   * @return the key
   * @throws IllegalArgumentException if the variable is not set or has no key
   */
  public static ApiKey ofVariable(
      String key, String name, UnaryOperator<@Nullable String> environment) {
    String source = key + " '" + Errors.shown(name) + "'";
    String value = environment.apply(name);
    if (value == null) {
      throw new IllegalArgumentException(source + " names a variable that is not set");
    }
    return of(source, value);
  }

  /**
   * {@return whether a request presents the key; takes equally long for all wrong keys of a length}
   *
   * @param authorization the value of its field {@code Authorization}; null for none
   */
  public boolean isPresented(@Nullable String authorization) {
    String text = authorization == null ? "" : authorization.strip();
    return MessageDigest.isEqual(
        authorization().getBytes(StandardCharsets.UTF_8), text.getBytes(StandardCharsets.UTF_8));
  }

  /** {@return the value of the field {@code Authorization} that presents the key} */
  String authorization() {
    return "Bearer " + value;
  }

  @Override
  public boolean equals(@Nullable Object other) {
    return other instanceof ApiKey key && key.value.equals(value);
  }

  @Override
  public int hashCode() {
    return value.hashCode();
  }

  @Override
  public String toString() {
    return "(a key)";
  }
}
