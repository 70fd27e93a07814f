/** Engines that Kvasir stands in front of: prefix index, predicted load, routers, recorder. */
module io.kvasir.fleet {
  requires transitive io.kvasir.base;
  requires transitive com.fasterxml.jackson.core;
  requires it.unimi.dsi.fastutil.core;
  requires org.slf4j;

  exports io.kvasir.fleet.index;
  exports io.kvasir.fleet.load;
  exports io.kvasir.fleet.record;
  exports io.kvasir.fleet.router;
  exports io.kvasir.fleet.router.booking;
  exports io.kvasir.fleet.router.cost;
  exports io.kvasir.fleet.router.legs;
  exports io.kvasir.fleet.router.projected;
  exports io.kvasir.fleet.router.trtllm;
  exports io.kvasir.fleet.router.whatif;
  exports io.kvasir.fleet.wire;

  uses io.kvasir.fleet.router.FleetRouterProvider;

  provides io.kvasir.fleet.router.FleetRouterProvider with
      io.kvasir.fleet.router.RoundRobinProvider,
      io.kvasir.fleet.router.LeastLoadedProvider,
      io.kvasir.fleet.router.trtllm.KvCacheAwareFleetProvider,
      io.kvasir.fleet.router.trtllm.ConversationFleetProvider,
      io.kvasir.fleet.router.cost.CostRouterProvider,
      io.kvasir.fleet.router.cost.ApproximateRouterProvider,
      io.kvasir.fleet.router.cost.PolledRouterProvider,
      io.kvasir.fleet.router.projected.AffinityFleetProvider,
      io.kvasir.fleet.router.projected.ProjectedFleetProvider;
}
