package io.kvasir.fleet.index;

import io.kvasir.hash.HashFormat;

/** Holds the oracle to the contract. */
class NaiveIndexTest extends PrefixIndexContract {

  @Override
  PrefixIndex create(HashFormat format) {
    return new NaiveIndex(format);
  }
}
