package io.kvasir.engine.pool;

/** Holds the native pool to the contract. */
class NativeBlockPoolTest extends BlockPoolContract implements ThreadContract {

  @Override
  public BlockPool create(PoolShape shape) {
    return NativeBlockPool.create(shape);
  }
}
