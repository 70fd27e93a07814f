package io.kvasir.fleet.index;

import io.kvasir.hash.HashFormat;

/** Runs the contract on the native index. */
class NativePrefixIndexTest extends PrefixIndexContract {

  @Override
  PrefixIndex create(HashFormat format) {
    return new NativePrefixIndex(format, 4, Long.MAX_VALUE);
  }
}
