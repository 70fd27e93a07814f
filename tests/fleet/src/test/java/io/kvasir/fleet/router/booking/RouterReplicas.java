package io.kvasir.fleet.router.booking;

import io.kvasir.fleet.load.LoadExchange;
import io.kvasir.fleet.load.PredictedLoads;
import io.kvasir.fleet.load.ReplicaOutbox;
import io.kvasir.fleet.router.FleetRequest;
import io.kvasir.fleet.router.FleetRouter;
import io.kvasir.fleet.router.FleetRouterKind;
import io.kvasir.fleet.router.FleetRouterSetup;
import io.kvasir.fleet.router.Placement;
import io.kvasir.fleet.router.Prompt;
import io.kvasir.fleet.router.RankCapacity;
import io.kvasir.fleet.router.RouteOutcome;
import io.kvasir.hash.HashFormat;
import io.kvasir.model.RankId;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicLong;

/** Several routers in front of the same ranks, which tell each other what they place. */
final class RouterReplicas {

  static final int RANKS = 4;
  static final int BLOCK = 16;

  final AtomicLong clockNs = new AtomicLong();
  final List<Replica> replicas = new ArrayList<>();
  private long requests;

  void start(String policy, int count) {
    start(policy, Map.of(), count);
  }

  void start(String policy, Map<String, Object> args, int count) {
    for (int i = 0; i < count; i++) {
      replicas.add(new Replica(policy, args, i + 1));
    }
  }

  static void stateThrice(Replica first, Replica second) {
    for (int round = 0; round < 3; round++) {
      first.state();
      second.state();
    }
  }

  void sendToAll(byte[] frame) {
    replicas.forEach(each -> each.exchange.onFrame(frame));
  }

  static long requests(List<List<Long>> loads) {
    return loads.stream().mapToLong(load -> load.get(2)).sum();
  }

  /** One router, and what it exchanges with the others. */
  final class Replica implements AutoCloseable {
    final FleetRouter router;
    final ReplicaOutbox outbox;
    final LoadExchange exchange;
    final List<Long> attempts = new ArrayList<>();

    Replica(String policy, Map<String, Object> args, long id) {
      router =
          FleetRouterKind.named(policy)
              .create(args, new FleetRouterSetup(HashFormat.KVASIR, BLOCK, clockNs::get, Map.of()));
      for (int rank = 0; rank < RANKS; rank++) {
        router.addRank(new RankId(rank, 0), RankCapacity.UNKNOWN);
      }
      outbox = new ReplicaOutbox(id);
      exchange = router.exchangeLoads(id, outbox::offer);
    }

    Placement place(int tokens) {
      int[] prompt = new SplittableRandom(++requests).ints(tokens).toArray();
      RouteOutcome outcome =
          router.route(FleetRequest.builder(requests, Prompt.of(prompt)).build());
      Placement placement = ((RouteOutcome.Placed) outcome).placement();
      attempts.add(placement.attempt());
      return placement;
    }

    /** Sends what waits to all, itself included. */
    void send() {
      outbox.drainTo(frame -> replicas.forEach(each -> each.exchange.onFrame(frame)));
    }

    /** States what is in flight to all, itself included. */
    void state() {
      exchange.state(frame -> replicas.forEach(each -> each.exchange.onFrame(frame)));
      replicas.forEach(Replica::send);
    }

    /** Sends what waits, and states what is in flight; some of the frames are lost. */
    void stateWithLosses(SplittableRandom random) {
      List<byte[]> frames = new ArrayList<>();
      outbox.drainTo(frames::add);
      exchange.state(frames::add);
      for (byte[] frame : frames) {
        for (Replica each : replicas) {
          if (random.nextInt(3) > 0) {
            each.exchange.onFrame(frame);
          }
        }
      }
    }

    List<List<Long>> loads() {
      PredictedLoads loads = new PredictedLoads();
      router.loads(loads);
      List<List<Long>> all = new ArrayList<>();
      for (int i = 0; i < loads.size(); i++) {
        all.add(
            List.of(
                loads.activeBlocks(i),
                loads.activePrefillTokens(i),
                (long) loads.activeRequests(i)));
      }
      return all;
    }

    @Override
    public void close() {
      router.close();
    }
  }
}
