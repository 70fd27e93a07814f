package io.kvasir.tokens.template.python;

import java.util.Collections;
import java.util.Iterator;

/**
 * What a name or attribute without a value yields: it prints as nothing, is false and empty, and
 * fails where it is used otherwise. Immutable.
 *
 * @param hint why it is undefined
 */
public record Undefined(String hint) implements PythonIterable {

  public static Undefined name(String name) {
    return new Undefined("'" + name + "' is undefined");
  }

  public TemplateFault used() {
    return TemplateFault.error(hint);
  }

  @Override
  public Iterator<Object> iterator() {
    return Collections.emptyIterator();
  }

  @Override
  public long length() {
    return 0;
  }

  @Override
  public String typeName() {
    return "Undefined";
  }

  @Override
  public String repr(Budget budget) {
    return "Undefined";
  }
}
