package io.kvasir.engine.pool;

import org.junit.jupiter.api.Tag;

/** Holds the native pool to the contract. */
@Tag("jdk")
class NativeBlockPoolTest extends BlockPoolContract implements ThreadContract {

  @Override
  public BlockPool create(PoolShape shape) {
    return NativeBlockPool.create(shape);
  }
}
