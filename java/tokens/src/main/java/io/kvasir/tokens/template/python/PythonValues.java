package io.kvasir.tokens.template.python;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Types, truth, length, items and attributes of values, as Python has them. Stateless. */
public final class PythonValues {

  /** How deep values may be nested where all of a value is read. */
  static final int DEEPEST = 200;

  private PythonValues() {}

  static void checkDepth(int depth) {
    if (depth > DEEPEST) {
      throw TemplateFault.limit("a value is nested more than " + DEEPEST + " deep");
    }
  }

  /** A value of the caller's, or of an item of one, as it is used here. */
  public static Object of(@Nullable Object value) {
    if (value == null) {
      return None.NONE;
    }
    if (value instanceof String
        || value instanceof PythonValue
        || value instanceof Long
        || value instanceof Boolean
        || value instanceof Double
        || value instanceof Map
        || value instanceof List) {
      return value;
    }
    if (value instanceof Integer || value instanceof Short || value instanceof Byte) {
      return ((Number) value).longValue();
    }
    if (value instanceof BigInteger number) {
      return PythonNumbers.integer(number);
    }
    if (value instanceof Float || value instanceof BigDecimal) {
      return ((Number) value).doubleValue();
    }
    throw TemplateFault.unsupported("values of class " + value.getClass().getSimpleName());
  }

  public static String typeName(Object value) {
    if (value instanceof PythonValue other) {
      return other.typeName();
    }
    if (value instanceof String) {
      return "str";
    }
    if (value instanceof Boolean) {
      return "bool";
    }
    if (value instanceof Double) {
      return "float";
    }
    if (value instanceof List) {
      return "list";
    }
    return value instanceof Map ? "dict" : "int";
  }

  public static boolean isTrue(Object value) {
    if (value instanceof Boolean truth) {
      return truth;
    }
    if (value instanceof String text) {
      return !text.isEmpty();
    }
    if (value instanceof PythonValue other) {
      return other.isTrue();
    }
    if (value instanceof List<?> list) {
      return !list.isEmpty();
    }
    if (value instanceof Map<?, ?> map) {
      return !map.isEmpty();
    }
    if (value instanceof Long number) {
      return number != 0;
    }
    return !(value instanceof Double number) || number != 0;
  }

  /** The length, -1 if the value has none. */
  public static long lengthOrNone(Object value) {
    if (value instanceof String text) {
      return PythonText.length(text);
    }
    if (value instanceof List<?> list) {
      return list.size();
    }
    if (value instanceof Map<?, ?> map) {
      return map.size();
    }
    return value instanceof PythonIterable items ? items.length() : -1;
  }

  public static long length(Object value) {
    long length = lengthOrNone(value);
    if (length < 0) {
      throw TemplateFault.error("object of type '" + typeName(value) + "' has no len()");
    }
    return length;
  }

  public static boolean isIterable(Object value) {
    return value instanceof String
        || value instanceof List
        || value instanceof Map
        || value instanceof PythonIterable;
  }

  /** The items of a value. */
  public static Iterator<Object> iterator(Object value) {
    if (value instanceof List<?> list) {
      return new AdoptedItems(list.iterator());
    }
    if (value instanceof String text) {
      return PythonText.characters(text);
    }
    if (value instanceof Map<?, ?> map) {
      return new AdoptedItems(map.keySet().iterator());
    }
    if (value instanceof PythonIterable items) {
      return items.iterator();
    }
    throw TemplateFault.error("'" + typeName(value) + "' object is not iterable");
  }

  /** Items of a caller's list or map. */
  private record AdoptedItems(Iterator<?> items) implements Iterator<Object> {

    @Override
    public boolean hasNext() {
      return items.hasNext();
    }

    @Override
    public Object next() {
      return of(items.next());
    }
  }

  /** The value of a key, {@link Missing} if there is none. */
  public static Object find(Map<?, ?> map, Object key) {
    Object hashed = PythonHash.key(key);
    if (!(map instanceof PythonDict) && !(hashed instanceof String)) {
      return Missing.MISSING;
    }
    Object value = map.get(hashed);
    return value == null && !map.containsKey(hashed) ? Missing.MISSING : of(value);
  }

  /** {@code value.name}: the attribute, else the item. */
  public static Object member(Object value, String name) {
    Object attribute = PythonAttributes.of(value, name);
    if (attribute != Missing.MISSING) {
      return attribute;
    }
    if (value instanceof Undefined undefined) {
      throw undefined.used();
    }
    Object item = value instanceof Map<?, ?> map ? find(map, name) : Missing.MISSING;
    return item == Missing.MISSING ? noMember(value, name) : item;
  }

  /** {@code value[key]}: the item, else the attribute. */
  public static Object item(Budget budget, Object value, Object key) {
    if (value instanceof String text) {
      budget.work(text.length());
    }
    Object item = Subscripts.get(value, key);
    if (item != Missing.MISSING) {
      return item;
    }
    if (key instanceof String name) {
      Object attribute = PythonAttributes.of(value, name);
      return attribute == Missing.MISSING ? noMember(value, name) : attribute;
    }
    return new Undefined(typeName(value) + " object has no such element");
  }

  public static Undefined noMember(Object value, String name) {
    return new Undefined("'" + typeName(value) + " object' has no attribute '" + name + "'");
  }
}
