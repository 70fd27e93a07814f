package io.kvasir.tokens.template.python;

import java.util.Iterator;

/**
 * A range of integers. Immutable.
 *
 * @param start first number
 * @param stop where it ends
 * @param step between numbers, not 0
 */
public record PythonRange(long start, long stop, long step) implements PythonIterable {

  /** Longest one that the sandbox makes. */
  public static final long LONGEST = 100_000;

  @Override
  public long length() {
    if (step > 0) {
      return start < stop ? (stop - start - 1) / step + 1 : 0;
    }
    return start > stop ? (start - stop - 1) / -step + 1 : 0;
  }

  Object get(long index) {
    return start + index * step;
  }

  boolean contains(long value) {
    boolean within = step > 0 ? value >= start && value < stop : value <= start && value > stop;
    return within && (value - start) % step == 0;
  }

  @Override
  public Iterator<Object> iterator() {
    return new Iterator<>() {
      private long next;

      @Override
      public boolean hasNext() {
        return next < length();
      }

      @Override
      public Object next() {
        return get(next++);
      }
    };
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof PythonRange range
        && length() == range.length()
        && (length() == 0 || (start == range.start && (length() == 1 || step == range.step)));
  }

  @Override
  public int hashCode() {
    return Long.hashCode(length());
  }

  @Override
  public String typeName() {
    return "range";
  }

  @Override
  public String repr(Budget budget) {
    return "range(" + start + ", " + stop + (step == 1 ? ")" : ", " + step + ")");
  }

  @Override
  public Object attribute(String name) {
    return switch (name) {
      case "start" -> start;
      case "stop" -> stop;
      case "step" -> step;
      case "count", "index" -> throw TemplateFault.unsupported("methods of ranges");
      default -> Missing.MISSING;
    };
  }
}
