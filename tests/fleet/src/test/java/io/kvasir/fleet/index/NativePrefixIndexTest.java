package io.kvasir.fleet.index;

import io.kvasir.hash.HashFormat;

/** Holds the native index to the contract. */
class NativePrefixIndexTest extends PrefixIndexContract {

  @Override
  PrefixIndex create(HashFormat format) {
    return new NativePrefixIndex(format, 4, Long.MAX_VALUE);
  }
}
