/**
 * What both halves of Kvasir speak: requests, block events and block hashes, and the native library
 * that computes them.
 */
module io.kvasir.base {
  requires org.bytedeco.javacpp;

  exports io.kvasir.event;
  exports io.kvasir.hash;
  exports io.kvasir.model;
  exports io.kvasir.internal.nativelib to
      io.kvasir.engine,
      io.kvasir.fleet;
}
