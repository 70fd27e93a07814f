package io.kvasir.engine.pool;

import io.kvasir.model.CacheScope;
import java.util.Arrays;

/**
 * One block of the naive pool: free, cached or active, and with a name and its content or without.
 */
final class NaiveBlock {

  final int number;
  int references;
  long stamp;
  boolean named;
  long name;
  int[] tokens;
  CacheScope scope;
  NaiveBlock parent;
  int depth;

  NaiveBlock(int number) {
    this.number = number;
  }

  boolean free() {
    return references == 0 && !named;
  }

  boolean cached() {
    return references == 0 && named;
  }

  boolean active() {
    return references > 0;
  }

  boolean holds(int[] otherTokens, CacheScope otherScope, NaiveBlock otherParent) {
    return parent == otherParent && scope.equals(otherScope) && Arrays.equals(tokens, otherTokens);
  }

  void forget() {
    named = false;
    tokens = null;
    scope = null;
    parent = null;
  }
}
