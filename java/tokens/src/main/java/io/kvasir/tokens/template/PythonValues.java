package io.kvasir.tokens.template;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Types, truth, length, items and attributes of values, as Python has them. Stateless. */
final class PythonValues {

  /** How deep values may be nested where all of a value is read. */
  static final int DEEPEST = 200;

  private PythonValues() {}

  static void checkDepth(int depth) {
    if (depth > DEEPEST) {
      throw TemplateFault.limit("a value is nested more than " + DEEPEST + " deep");
    }
  }

  /** A value of the caller's, or of an item of one, as it is used here. */
  static Object of(@Nullable Object value) {
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

  static String typeName(Object value) {
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

  static boolean isTrue(Object value) {
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
  static long lengthOrNone(Object value) {
    if (value instanceof String text) {
      return PythonText.length(text);
    }
    if (value instanceof Markup markup) {
      return PythonText.length(markup.text());
    }
    if (value instanceof List<?> list) {
      return list.size();
    }
    if (value instanceof Map<?, ?> map) {
      return map.size();
    }
    if (value instanceof PythonTuple tuple) {
      return tuple.items().size();
    }
    if (value instanceof DictView view) {
      return view.map().size();
    }
    if (value instanceof PythonRange range) {
      return range.length();
    }
    if (value instanceof LoopValue loop) {
      return loop.length();
    }
    return value instanceof Undefined ? 0 : -1;
  }

  static long length(Object value) {
    long length = lengthOrNone(value);
    if (length < 0) {
      throw TemplateFault.error("object of type '" + typeName(value) + "' has no len()");
    }
    return length;
  }

  static boolean isIterable(Object value) {
    return value instanceof String
        || value instanceof List
        || value instanceof Map
        || value instanceof PythonTuple
        || value instanceof DictView
        || value instanceof PythonRange
        || value instanceof PythonIterator
        || value instanceof LoopValue
        || value instanceof Markup
        || value instanceof Undefined;
  }

  /** The items of a value. */
  static Iterator<Object> iterator(Object value) {
    if (value instanceof List<?> list) {
      return new AdoptedItems(list.iterator());
    }
    if (value instanceof PythonTuple tuple) {
      return tuple.items().iterator();
    }
    if (value instanceof String text) {
      return PythonText.characters(text);
    }
    if (value instanceof Map<?, ?> map) {
      return new AdoptedItems(map.keySet().iterator());
    }
    if (value instanceof DictView view) {
      return view.iterator();
    }
    if (value instanceof PythonRange range) {
      return range.iterator();
    }
    if (value instanceof PythonIterator iterator) {
      return iterator.items();
    }
    if (value instanceof Undefined) {
      return List.<Object>of().iterator();
    }
    if (value instanceof LoopValue || value instanceof Markup) {
      throw TemplateFault.unsupported("iterating over a " + typeName(value));
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
  static Object find(Map<?, ?> map, Object key) {
    Object hashed = PythonHash.key(key);
    if (!(map instanceof PythonDict) && !(hashed instanceof String)) {
      return Missing.MISSING;
    }
    Object value = map.get(hashed);
    return value == null && !map.containsKey(hashed) ? Missing.MISSING : of(value);
  }

  /** An attribute in Python's own sense, {@link Missing} if there is none. */
  static Object attribute(Object value, String name) {
    if (value instanceof PythonValue other) {
      return other.attribute(name);
    }
    if (value instanceof Map<?, ?> map) {
      return CollectionMethods.ofDict(map, name);
    }
    if (value instanceof String text) {
      return PythonAttributes.STR.contains(name) ? new BoundMethod(text, name) : Missing.MISSING;
    }
    if (value instanceof List<?> list) {
      return CollectionMethods.ofList(list, name);
    }
    return PythonNumbers.attribute(value, name);
  }

  /** {@code value.name}: the attribute, else the item. */
  static Object member(Object value, String name) {
    Object attribute = attribute(value, name);
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
  static Object item(Object value, Object key) {
    Object item = Subscripts.get(value, key);
    if (item != Missing.MISSING) {
      return item;
    }
    if (key instanceof String name) {
      Object attribute = attribute(value, name);
      return attribute == Missing.MISSING ? noMember(value, name) : attribute;
    }
    return new Undefined(typeName(value) + " object has no such element");
  }

  static Undefined noMember(Object value, String name) {
    return new Undefined("'" + typeName(value) + " object' has no attribute '" + name + "'");
  }
}
