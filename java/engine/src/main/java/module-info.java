/** Ranks that Kvasir drives: devices, block pools, ADP routers, lock-step and rank executors. */
module io.kvasir.engine {
  requires transitive io.kvasir.base;
  requires it.unimi.dsi.fastutil.core;
  requires jcuda;
  requires org.bytedeco.cuda;
  requires org.bytedeco.javacpp;
  requires org.slf4j;

  exports io.kvasir.engine.adp;
  exports io.kvasir.engine.device;
  exports io.kvasir.engine.execute;
  exports io.kvasir.engine.lockstep;
  exports io.kvasir.engine.pool;
  exports io.kvasir.engine.pool.cuda;
}
