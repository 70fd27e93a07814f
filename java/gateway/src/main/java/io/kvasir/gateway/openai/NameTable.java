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

  private record Name<E>(E constant, byte[] bytes) {}

  private final List<List<Name<E>>> byLength = new ArrayList<>();

  /**
   * Creates a table of all constants.
   *
   * @param type the enum
   */
  NameTable(Class<E> type) {
    for (E constant : type.getEnumConstants()) {
      byte[] bytes = name(constant).getBytes(StandardCharsets.US_ASCII);
      while (byLength.size() <= bytes.length) {
        byLength.add(new ArrayList<>());
      }
      byLength.get(bytes.length).add(new Name<>(constant, bytes));
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
    if (to - from >= byLength.size()) {
      return null;
    }
    for (Name<E> name : byLength.get(to - from)) {
      if (Arrays.equals(name.bytes, 0, name.bytes.length, bytes, from, to)) {
        return name.constant;
      }
    }
    return null;
  }
}
