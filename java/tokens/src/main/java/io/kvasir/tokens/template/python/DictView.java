package io.kvasir.tokens.template.python;

import java.util.Iterator;
import java.util.Map;

/**
 * What {@code keys()}, {@code values()} and {@code items()} of a dict return. Immutable.
 *
 * @param map the dict
 * @param part which part of its entries
 */
public record DictView(Map<?, ?> map, Part part) implements PythonIterable {

  public enum Part {
    KEYS,
    VALUES,
    ITEMS
  }

  @Override
  public Iterator<Object> iterator() {
    Iterator<? extends Map.Entry<?, ?>> entries = map.entrySet().iterator();
    return new Iterator<>() {
      @Override
      public boolean hasNext() {
        return entries.hasNext();
      }

      @Override
      public Object next() {
        Map.Entry<?, ?> entry = entries.next();
        return switch (part) {
          case KEYS -> PythonValues.of(entry.getKey());
          case VALUES -> PythonValues.of(entry.getValue());
          case ITEMS ->
              PythonTuple.of(PythonValues.of(entry.getKey()), PythonValues.of(entry.getValue()));
        };
      }
    };
  }

  @Override
  public long length() {
    return map.size();
  }

  @Override
  public String typeName() {
    return switch (part) {
      case KEYS -> "dict_keys";
      case VALUES -> "dict_values";
      case ITEMS -> "dict_items";
    };
  }

  @Override
  public Object attribute(String name) {
    if (name.equals("mapping") || (name.equals("isdisjoint") && part != Part.VALUES)) {
      throw TemplateFault.unsupported("attribute '" + name + "' of " + typeName());
    }
    return Missing.MISSING;
  }
}
