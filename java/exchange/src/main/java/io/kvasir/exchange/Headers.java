package io.kvasir.exchange;

import java.util.ArrayList;
import java.util.List;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Header fields of a message, in order. Names are compared without regard to case and keep their
 * spelling.
 *
 * <p>Not thread-safe. Every operation is O(fields); most names that no field has are found absent
 * at once.
 */
public final class Headers {

  private static final int USUAL_FIELDS = 16;

  /** Names at even, values at odd positions. */
  private final List<String> fields = new ArrayList<>(2 * USUAL_FIELDS);

  /** The {@link #mark} of every name so far, also of removed ones. */
  private long marks;

  /** Creates an empty list of fields. */
  public Headers() {}

  /**
   * Creates a copy.
   *
   * @param other the fields to copy
   */
  public Headers(Headers other) {
    fields.addAll(other.fields);
    marks = other.marks;
  }

  /**
   * Adds a field behind the others.
   *
   * @param name its name
   * @param value its value
   * @return these fields
   */
  public Headers add(String name, String value) {
    fields.add(name);
    fields.add(value);
    marks |= mark(name);
    return this;
  }

  /**
   * Replaces all fields of a name by one.
   *
   * @param name its name
   * @param value its value
   * @return these fields
   */
  public Headers set(String name, String value) {
    remove(name);
    return add(name, value);
  }

  /**
   * {@return the value of the first field of a name; null if there is none}
   *
   * @param name its name
   */
  public @Nullable String get(String name) {
    if (!mayHave(name)) {
      return null;
    }
    for (int i = 0; i < fields.size(); i += 2) {
      if (fields.get(i).equalsIgnoreCase(name)) {
        return fields.get(i + 1);
      }
    }
    return null;
  }

  /**
   * {@return the values of all fields of a name, in order}
   *
   * @param name their name
   */
  public List<String> all(String name) {
    if (!mayHave(name)) {
      return List.of();
    }
    List<String> values = new ArrayList<>();
    forEach(
        (each, value) -> {
          if (each.equalsIgnoreCase(name)) {
            values.add(value);
          }
        });
    return values;
  }

  /**
   * Removes all fields of a name.
   *
   * @param name their name
   * @return whether there was one
   */
  public boolean remove(String name) {
    if (!mayHave(name)) {
      return false;
    }
    boolean removed = false;
    for (int i = fields.size() - 2; i >= 0; i -= 2) {
      if (fields.get(i).equalsIgnoreCase(name)) {
        fields.remove(i + 1);
        fields.remove(i);
        removed = true;
      }
    }
    return removed;
  }

  /**
   * Passes on every field, in order.
   *
   * @param each receives name and value
   */
  public void forEach(BiConsumer<String, String> each) {
    for (int i = 0; i < fields.size(); i += 2) {
      each.accept(fields.get(i), fields.get(i + 1));
    }
  }

  private boolean mayHave(String name) {
    return (marks & mark(name)) != 0;
  }

  /** One of 64 bits, by a name's length and last letter: most absent names have another one. */
  private static long mark(String name) {
    int last = name.isEmpty() ? 0 : name.charAt(name.length() - 1) | 0x20;
    return 1L << (name.length() * 7 + last);
  }

  /** {@return the number of fields} */
  public int size() {
    return fields.size() / 2;
  }

  @Override
  public String toString() {
    return fields.toString();
  }
}
