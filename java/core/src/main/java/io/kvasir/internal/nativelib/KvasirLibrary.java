package io.kvasir.internal.nativelib;

import org.bytedeco.javacpp.Loader;
import org.bytedeco.javacpp.annotation.Cast;
import org.bytedeco.javacpp.annotation.Platform;

/** Binding. */
@Platform(include = "bridge.hpp", library = "jnikvasir")
public final class KvasirLibrary {
  static {
    Loader.load();
  }

  private KvasirLibrary() {}

  /** Ping.
   * @param address a
   * @param x b
   * @return c */
  public static native long ping(@Cast("const int64_t*") long address, int x);
}
