package io.kvasir.gateway;

import io.kvasir.exchange.EventLoop;
import io.kvasir.fleet.index.NativePrefixIndex;
import io.kvasir.fleet.index.PrefixIndex;
import io.kvasir.fleet.router.FleetRouter;
import io.kvasir.fleet.router.FleetRouterProvider;
import io.kvasir.fleet.router.FleetRouterSetup;
import io.kvasir.fleet.router.booking.BookingSettings;
import io.kvasir.fleet.router.whatif.WhatIfRouter;
import io.kvasir.gateway.disagg.RouterChoice;
import io.kvasir.gateway.events.EventPump;
import io.kvasir.gateway.events.FleetSteps;
import io.kvasir.gateway.events.ReplicaLink;
import io.kvasir.gateway.observe.TrafficRecording;
import io.kvasir.gateway.route.FleetWorker;
import io.kvasir.gateway.route.FollowedRanks;
import io.kvasir.gateway.route.ModelFleet;
import io.kvasir.gateway.verify.SentBytes;
import io.kvasir.gateway.worker.WorkerRole;
import io.kvasir.gateway.worker.WorkerSpec;
import io.kvasir.hash.HashFormat;
import io.kvasir.model.Digest64;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Puts the fleets of a gateway together: for each model its router and what follows its ranks.
 * Thread-safe; the parts that it is given stay the caller's.
 */
final class FleetAssembly {

  private static final Logger LOG = LoggerFactory.getLogger(FleetAssembly.class);
  private static final int TOKENS_PER_BLOCK = 32;
  private static final long INDEX_BYTES = 1L << 33;

  /** One that follows events, and one of predictions. */
  private static final int INDEXES_OF_A_ROUTER = 2;

  private static final long SENT_PROMPTS_BYTES = 128 << 20;

  private final GatewaySettings settings;
  private final EventPump pump;
  private final @Nullable ReplicaLink replicas;
  private final TrafficRecording recording;
  private final EventLoop loop;
  private final IndexMemory indexMemory = new IndexMemory(INDEX_BYTES);
  private final SentBytes sentBytes = new SentBytes(SENT_PROMPTS_BYTES);

  /**
   * Prepares for the fleets of a gateway.
   *
   * @param replicas the link to other gateways; null for none
   * @param loop runs what routers plan
   */
  FleetAssembly(
      GatewaySettings settings,
      EventPump pump,
      @Nullable ReplicaLink replicas,
      TrafficRecording recording,
      EventLoop loop) {
    this.settings = settings;
    this.pump = pump;
    this.replicas = replicas;
    this.recording = recording;
    this.loop = loop;
  }

  /**
   * Makes a router and closes it.
   *
   * @throws IllegalArgumentException if the args are wrong or the policy fails
   */
  static void tryOut(FleetRouterProvider policy, Map<String, Object> args) {
    try {
      policy.create(args, FleetRouterSetup.of(TOKENS_PER_BLOCK)).close();
    } catch (IllegalArgumentException e) {
      throw e; // about the args
    } catch (RuntimeException e) {
      throw new IllegalArgumentException(
          "fleet router " + policy.name() + " of " + policy.getClass().getName() + " fails: " + e,
          e);
    }
  }

  /** A fleet for a model; the profile of the first worker decides how it works. */
  ModelFleet fleet(String model, FleetWorker first) {
    int blockSize = first.profile().blockSize();
    int tokensPerBlock = blockSize > 0 ? blockSize : TOKENS_PER_BLOCK;
    boolean publishes = first.publishes();
    RouterChoice choice = choice(first.role());
    FleetRouterProvider policy = choice.policy(publishes);
    FleetRouterSetup setup = FleetRouterSetup.of(tokensPerBlock);
    FleetRouter router = policy.create(withIndexMemory(model, choice, policy), setup);
    if (first.role() == WorkerRole.BOTH && !settings.shadows().isEmpty()) {
      router =
          new WhatIfRouter(
              router,
              settings.shadows(),
              shadow -> argsOf(model, shadow),
              setup,
              settings.shadowFleet());
    }
    LOG.info(
        "model {}: fleet router {}, block events {}, blocks of {} tokens",
        model,
        router.name(),
        publishes ? "followed" : "not followed",
        tokensPerBlock);
    if (replicas != null) {
      replicas.join(fleetId(model, first.role(), tokensPerBlock), router);
    }
    return new ModelFleet(
        router,
        policy.choosesRanks(),
        tokensPerBlock,
        publishes ? followed(model, policy, router, tokensPerBlock) : null,
        policy.readsForwardPasses() ? new FleetSteps(pump, router) : null);
  }

  private RouterChoice choice(WorkerRole role) {
    if (role == WorkerRole.PREFILL) {
      return settings.disagg().prefillRouter();
    }
    return role == WorkerRole.DECODE || settings.hasDecodeWorkers()
        ? settings.disagg().decodeRouter()
        : settings.choice();
  }

  /** The args of a policy that is asked only, whose indexes share the memory. */
  private Map<String, Object> argsOf(String model, FleetRouterProvider shadow) {
    RouterChoice defaults = new RouterChoice(RouterChoice.AUTO, Map.of());
    return withIndexMemory(model + ", shadow " + shadow.name(), defaults, shadow);
  }

  /** The args of a policy, with a share of the memory for indexes if they do not set one. */
  private Map<String, Object> withIndexMemory(
      String model, RouterChoice choice, FleetRouterProvider policy) {
    Map<String, Object> args = choice.argsOf(policy);
    if (policy.keys().contains(BookingSettings.MAX_INDEX_BYTES)
        && !args.containsKey(BookingSettings.MAX_INDEX_BYTES)) {
      args.put(BookingSettings.MAX_INDEX_BYTES, indexMemory.take(model, INDEXES_OF_A_ROUTER));
    }
    return args;
  }

  /** The same at all gateways that name the same workers in the same order. */
  private long fleetId(String model, WorkerRole role, int tokensPerBlock) {
    long id = Digest64.fold(Digest64.fold(Digest64.EMPTY, model), tokensPerBlock);
    if (role == WorkerRole.PREFILL) {
      id = Digest64.fold(id, role.id());
    }
    for (WorkerSpec spec : settings.workers()) {
      id = Digest64.fold(id, spec.name());
    }
    return id;
  }

  /** The index of a router that matches by block events, or else another one. */
  private FollowedRanks followed(
      String model, FleetRouterProvider policy, FleetRouter router, int tokensPerBlock) {
    PrefixIndex index = policy.followsBlocks() ? router.index() : null;
    if (index != null) {
      return new FollowedRanks(
          pump, recording.following(index), null, tokensPerBlock, loop, sentBytes);
    }
    PrefixIndex own =
        new NativePrefixIndex(HashFormat.KVASIR, tokensPerBlock, indexMemory.take(model, 1));
    return new FollowedRanks(pump, recording.following(own), own, tokensPerBlock, loop, sentBytes);
  }
}
