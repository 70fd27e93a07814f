/**
 * The types that engine and fleet share: requests, block events, block hashes, the time model of
 * steps, and the bindings of the native library.
 */
module io.kvasir.base {
  requires it.unimi.dsi.fastutil.core;
  requires org.bytedeco.javacpp;
  requires static transitive org.jspecify;
  requires org.slf4j;

  exports io.kvasir.event;
  exports io.kvasir.hash;
  exports io.kvasir.model;
  exports io.kvasir.timing;
  exports io.kvasir.internal.nativelib to
      io.kvasir.engine,
      io.kvasir.fleet;
  exports io.kvasir.internal.tls to
      io.kvasir.tcp;
}
