package io.kvasir.tokens.template.python;

/**
 * A value that has no plain Java counterpart. Others are String, Boolean, Long, BigInteger (beyond
 * the range of Long), Double, List and Map.
 */
public interface PythonValue {

  /** The name of the value's type, as Python's messages have it. */
  String typeName();

  /** As {@code repr()} writes it. */
  default String repr(Budget budget) {
    throw TemplateFault.unsupported("printing a " + typeName());
  }

  /** An attribute, {@link Missing} if there is none. */
  default Object attribute(String name) {
    return Missing.MISSING;
  }

  /** The truth of it. */
  default boolean isTrue() {
    return true;
  }
}
