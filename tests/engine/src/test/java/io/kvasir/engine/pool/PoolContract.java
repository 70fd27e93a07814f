package io.kvasir.engine.pool;

import io.kvasir.testing.pool.PoolScenario;

/** What the topics of the contract suite have in common: they make pools of one implementation. */
interface PoolContract {

  /** Makes an empty pool. The caller closes it. */
  BlockPool create(PoolShape shape);

  /** A pool with room for many leases and events. */
  default PoolScenario pool(int capacityBlocks) {
    return new PoolScenario(create(PoolScenario.shape(capacityBlocks, 8, 1_000)));
  }
}
