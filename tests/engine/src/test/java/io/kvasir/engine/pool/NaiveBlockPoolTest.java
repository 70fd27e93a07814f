package io.kvasir.engine.pool;

/** Holds the oracle itself to the contract. */
class NaiveBlockPoolTest extends BlockPoolContract {

  @Override
  public BlockPool create(PoolShape shape) {
    return new NaiveBlockPool(shape);
  }
}
