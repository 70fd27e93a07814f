package io.kvasir.gateway.openai;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Finds the constant of an enum whose name in lower case is a key. Immutable and thread-safe. A
 * look-up compares the key with the names of its length.
 *
 * @param <E> the enum
 */
final class NameTable<E extends Enum<E>> {

  /** The names by length, and their constants. */
  private final List<List<byte[]>> names = new ArrayList<>();

  private final List<List<E>> constants = new ArrayList<>();

  /**
   * Creates a table of all constants.
   *
   * @param type the enum
   */
  NameTable(Class<E> type) {
    for (E constant : type.getEnumConstants()) {
      byte[] bytes = name(constant).getBytes(StandardCharsets.US_ASCII);
      while (names.size() <= bytes.length) {
        names.add(new ArrayList<>());
        constants.add(new ArrayList<>());
      }
      names.get(bytes.length).add(bytes);
      constants.get(bytes.length).add(constant);
    }
  }

  /** {@return a constant's name in lower case} */
  static String name(Enum<?> constant) {
    return constant.name().toLowerCase(Locale.ROOT);
  }

  /** {@return the constant that a cursor's latest key names; null if there is none} */
  @Nullable E find(JsonCursor cursor) {
    byte[] bytes = cursor.bytes();
    int from = cursor.keyStart();
    int to = cursor.keyEnd();
    if (cursor.keyEscaped()) {
      bytes = JsonText.decode(bytes, from, to, true).getBytes(StandardCharsets.UTF_8);
      return find(bytes, 0, bytes.length);
    }
    return find(bytes, from + 1, to - 1);
  }

  private @Nullable E find(byte[] bytes, int from, int to) {
    int length = to - from;
    if (length == 0 || length >= names.size()) {
      return null;
    }
    List<byte[]> candidates = names.get(length);
    for (int i = 0; i < candidates.size(); i++) {
      byte[] name = candidates.get(i);
      if (name[0] == bytes[from]
          && name[length - 1] == bytes[to - 1]
          && Arrays.equals(name, 0, length, bytes, from, to)) {
        return constants.get(length).get(i);
      }
    }
    return null;
  }
}
