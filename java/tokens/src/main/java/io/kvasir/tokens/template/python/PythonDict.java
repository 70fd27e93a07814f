package io.kvasir.tokens.template.python;

import java.util.AbstractMap;
import java.util.AbstractSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A dict that a template makes. Keys that are equal in Python are one key, such as 1, 1.0 and True;
 * the first of them stays. Not thread-safe.
 */
public final class PythonDict extends AbstractMap<Object, Object> {

  private final Map<Object, Map.Entry<Object, Object>> entries = new LinkedHashMap<>();

  /** Adds an entry or replaces a value. */
  public void set(Object key, Object value) {
    Object hashed = PythonHash.key(key);
    Map.Entry<Object, Object> former = entries.get(hashed);
    if (former == null) {
      entries.put(hashed, new SimpleEntry<>(key, value));
    } else {
      former.setValue(value);
    }
  }

  /**
   * @param hashed of {@link PythonHash#key}
   */
  @Override
  public @Nullable Object get(Object hashed) {
    Map.Entry<Object, Object> entry = entries.get(hashed);
    return entry == null ? null : entry.getValue();
  }

  @Override
  public boolean containsKey(Object hashed) {
    return entries.containsKey(hashed);
  }

  @Override
  public Set<Map.Entry<Object, Object>> entrySet() {
    return new AbstractSet<>() {
      @Override
      public Iterator<Map.Entry<Object, Object>> iterator() {
        return entries.values().iterator();
      }

      @Override
      public int size() {
        return entries.size();
      }
    };
  }
}
