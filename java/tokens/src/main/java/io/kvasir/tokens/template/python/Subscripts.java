package io.kvasir.tokens.template.python;

import java.math.BigInteger;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Items by index or key, and slices. Stateless. */
public final class Subscripts {

  private Subscripts() {}

  /** The item, {@link Missing} where Python raises an error that Jinja takes for undefined. */
  static Object get(Object value, Object key) {
    if (value instanceof Map<?, ?> map) {
      return key instanceof List || key instanceof Map || key instanceof DictView
          ? Missing.MISSING
          : find(map, key);
    }
    if (value instanceof Undefined undefined) {
      throw undefined.used();
    }
    long length = isSequence(value) ? PythonValues.length(value) : -1;
    if (length < 0 || !(key instanceof Long || key instanceof Boolean)) {
      return Missing.MISSING;
    }
    long index = PythonNumbers.toLong(key);
    if (index < 0) {
      index += length;
    }
    return index < 0 || index >= length ? Missing.MISSING : at(value, (int) index);
  }

  /** A tuple may hold what cannot be hashed. */
  private static Object find(Map<?, ?> map, Object key) {
    try {
      return PythonValues.find(map, key);
    } catch (TemplateFault unhashable) {
      if (key instanceof PythonTuple && unhashable.kind() == TemplateFault.Kind.RENDER) {
        return Missing.MISSING;
      }
      throw unhashable;
    }
  }

  public static boolean isSequence(Object value) {
    return value instanceof String
        || value instanceof Markup
        || value instanceof List
        || value instanceof PythonTuple
        || value instanceof PythonRange;
  }

  private static Object at(Object value, int index) {
    if (value instanceof List<?> list) {
      return PythonValues.of(list.get(index));
    }
    if (value instanceof PythonTuple tuple) {
      return tuple.items().get(index);
    }
    if (value instanceof PythonRange range) {
      return range.get(index);
    }
    if (value instanceof Markup markup) {
      return new Markup(PythonText.slice(markup.text(), index, index + 1));
    }
    return PythonText.slice((String) value, index, index + 1);
  }

  /** {@code value[start:stop:step]}; what is not given is None. */
  public static Object slice(Budget budget, Object value, Object start, Object stop, Object step) {
    if (value instanceof Undefined undefined) {
      throw undefined.used();
    }
    if (!isSequence(value)) {
      throw TemplateFault.error("'" + PythonValues.typeName(value) + "' object has no slices");
    }
    long by = step == None.NONE ? 1 : index(step);
    if (by == 0) {
      throw TemplateFault.error("slice step cannot be zero");
    }
    long length = PythonValues.length(value);
    boolean forward = by > 0;
    long from = start == None.NONE ? (forward ? 0 : length - 1) : clamp(start, length, forward);
    long to = stop == None.NONE ? (forward ? length : -1) : clamp(stop, length, forward);
    if (value instanceof PythonRange range) {
      return new PythonRange(
          range.start() + from * range.step(),
          range.start() + to * range.step(),
          Math.multiplyExact(range.step(), by));
    }
    return sliced(budget, value, from, to, by);
  }

  private static Object sliced(Budget budget, Object value, long from, long to, long by) {
    if (value instanceof Markup markup) {
      return new Markup((String) sliced(budget, markup.text(), from, to, by));
    }
    if (value instanceof String text) {
      budget.work(text.length());
      if (by == 1) {
        return from >= to ? "" : PythonText.slice(text, (int) from, (int) to);
      }
      int[] codePoints = text.codePoints().toArray();
      StringBuilder slice = new StringBuilder();
      for (long i = from; by > 0 ? i < to : i > to; i += by) {
        slice.appendCodePoint(codePoints[(int) i]);
      }
      return slice.toString();
    }
    List<Object> slice = new ArrayList<>();
    for (long i = from; by > 0 ? i < to : i > to; i += by) {
      slice.add(at(value, (int) i));
    }
    budget.work(slice.size());
    return value instanceof PythonTuple ? new PythonTuple(slice) : slice;
  }

  private static long clamp(Object bound, long length, boolean forward) {
    long index = index(bound);
    if (index < 0) {
      index += length;
      return index < 0 ? (forward ? 0 : -1) : index;
    }
    return index >= length ? (forward ? length : length - 1) : index;
  }

  /** Beyond every length where it is too large for a Long. */
  private static long index(Object value) {
    if (value instanceof BigInteger large) {
      return large.signum() * (1L << 40);
    }
    if (value instanceof Long || value instanceof Boolean) {
      long index = PythonNumbers.toLong(value);
      return Math.max(-(1L << 40), Math.min(1L << 40, index));
    }
    throw TemplateFault.error("slice indices must be integers or None");
  }
}
