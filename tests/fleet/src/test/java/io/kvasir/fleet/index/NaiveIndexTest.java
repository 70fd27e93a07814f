package io.kvasir.fleet.index;

import io.kvasir.hash.HashFormat;

/** Runs the contract on the oracle. */
class NaiveIndexTest extends PrefixIndexContract {

  @Override
  PrefixIndex create(HashFormat format) {
    return new NaiveIndex(format);
  }
}
