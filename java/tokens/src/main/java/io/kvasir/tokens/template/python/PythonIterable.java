package io.kvasir.tokens.template.python;

import java.util.Iterator;

/** A value that has items. */
public interface PythonIterable extends PythonValue {

  /** Its items. */
  Iterator<Object> iterator();

  /** How many they are, -1 if that is not known. */
  default long length() {
    return -1;
  }

  @Override
  default boolean isTrue() {
    return length() != 0;
  }
}
