package io.kvasir.engine.pool;

import io.kvasir.model.CacheScope;
import java.util.ArrayList;
import java.util.List;

/** One lease of the naive pool. */
final class NaiveLease {

  final CacheScope scope;
  final List<NaiveBlock> table;
  int reserved;
  int committed;
  long stamp;

  /** False for good once a name was taken by other content, or all names were forgotten. */
  boolean mayName = true;

  NaiveLease(CacheScope scope, List<NaiveBlock> matched, int reserved) {
    this.scope = scope;
    this.table = new ArrayList<>(matched);
    this.committed = matched.size();
    this.reserved = reserved;
  }
}
