package io.kvasir.simulator.compare;

import io.kvasir.engine.adp.AdpRouterKind;
import io.kvasir.engine.execute.RankPools;
import io.kvasir.fleet.router.legs.WholeOrApart;
import io.kvasir.simulator.fleet.ApartSettings;
import io.kvasir.simulator.fleet.FleetSettings;
import io.kvasir.simulator.replay.Measures;
import io.kvasir.simulator.replay.Replay;
import io.kvasir.simulator.replay.ReplayProgress;
import io.kvasir.simulator.replay.ReplayResult;
import io.kvasir.simulator.replay.ReplaySettings;
import io.kvasir.simulator.workload.Workload;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ExecutorService;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.LongFunction;
import java.util.function.LongToDoubleFunction;
import java.util.stream.Stream;

/**
 * Replays traffic under several routers, at the speed that produces a given utilisation under a
 * reference: round-robin, or for sessions TensorRT-LLM's router {@code conversation}. Closed loops
 * have their own speed.
 *
 * <p>Everything is modelled, so results do not depend on the machine or the number of threads.
 * Immutable. Does not own its threads.
 */
public final class RouterComparison {

  /** Allowed difference between the measured and the target utilisation of the reference. */
  private static final double TOLERANCE = 0.005;

  /** The least relative difference between a speed that is too slow and one that is too fast. */
  private static final double PRECISION = 0.02;

  /** Longest replay time, relative to the arrivals, that counts as keeping up. */
  private static final double MAX_TIME = 1.03;

  private static final int MAX_TRIALS = 12;

  /** Replays that find a capacity: to 2 % if it is above a half, and more roughly below. */
  private static final int CAPACITY_TRIALS = 7;

  /** The least capacity that is tried: one of this value may also be lower. */
  public static final double LEAST_CAPACITY = 1.0 / (1 << (CAPACITY_TRIALS - 1));

  /** Highest speed of sessions: faster ones would leave no time between an answer and a turn. */
  private static final double MAX_SESSION_SPEED = 16;

  /** The most that one trial is faster than the one before it. */
  private static final double MOST_FASTER = 4;

  /** A load that is missed by more than this factor says nothing. */
  private static final int MOST_BELOW = 10;

  /** Tokens of a block in all comparisons. */
  public static final int TOKENS_PER_BLOCK = 32;

  private static final List<Measure> MEASURES =
      List.of(
          Measure.TTFT_P95_MS,
          Measure.TTFT_P50_MS,
          Measure.TTFT_P99_MS,
          Measure.TTFT_MEAN_MS,
          Measure.TOKEN_HIT_RATE,
          Measure.ROUTED_CV,
          Measure.REJECTED,
          Measure.PREFILL_SHARE);

  /** Figures of fleets. */
  private static final List<Measure> FLEET_MEASURES =
      Stream.concat(MEASURES.stream(), Stream.of(Measure.BEHIND_PROMPTS)).toList();

  /** Figures of workers with roles, whose ranks get requests of different kinds. */
  private static final List<Measure> APART_MEASURES =
      Stream.concat(
              MEASURES.stream().filter(measure -> measure != Measure.ROUTED_CV),
              Stream.of(Measure.ITL_MEAN_MS, Measure.LOCAL_PREFILL_SHARE))
          .toList();

  /** Speed of closed loops, which have no other. */
  private static final Speed CLOSED = new Speed(1, Double.NaN);

  private static final Measures FIRST_TOKENS = new Measures(null, false, true);

  private final List<Long> seeds;
  private final ExecutorService threads;
  private final RunStore store;
  private final double saturatedMs;

  /**
   * Creates a comparison.
   *
   * @param seeds seeds of the traffic, 1 to {@link Estimate#MAX_VALUES}
   * @param threads run the replays
   * @param store has the replays that need not be run
   * @param saturatedMs p95 of the time to first token above which a case is saturated, if it is the
   *     lowest one of all policies; policies are then compared by the highest load at which their
   *     p95 is not above it
   */
  public RouterComparison(
      List<Long> seeds, ExecutorService threads, RunStore store, double saturatedMs) {
    this.seeds = List.copyOf(seeds);
    this.threads = threads;
    this.store = store;
    this.saturatedMs = saturatedMs;
  }

  /** A speed and the utilisation under the reference at that speed; 0 and 0 before a trial. */
  private record Speed(double factor, double share) {

    /** The speed for a utilisation, if utilisations are proportional to speeds. */
    double proportional(double utilisation) {
      return factor * Math.min(MOST_FASTER, utilisation / share);
    }
  }

  /**
   * What is compared.
   *
   * @param kind the kind of policies, for the store
   * @param measures their figures
   * @param workers workers that compute prompts under the reference
   * @param reference finds the speed
   * @param players the policies by name
   */
  private record Contest(
      String kind,
      List<Measure> measures,
      int workers,
      Player reference,
      Map<String, Player> players) {}

  /** Plays arrivals under one policy. */
  @FunctionalInterface
  private interface Player {
    ReplayResult play(Workload arrivals);
  }

  /**
   * Compares routers in a case. Runs one replay for each router and seed, at most {@value
   * #CAPACITY_TRIALS} more in a saturated case, and up to a dozen to find the speed.
   *
   * @param setting the case
   * @param routers the routers to compare
   * @return the results
   * @throws IllegalArgumentException if no request fits into a pool, or there are too few requests
   *     for a tenth of the load
   * @throws InterruptedException if this thread is interrupted
   */
  public Cell<PlayedLoad> compare(Setting setting, List<AdpRouterKind> routers)
      throws InterruptedException {
    ReplaySettings worker = worker(setting, setting.load().ranks());
    Function<AdpRouterKind, Player> player =
        router -> {
          ReplaySettings routed = worker.withRouter(router);
          return arrivals ->
              Replay.run(arrivals, routed, RankPools.Place.HOST, ReplayProgress.SILENT);
        };
    Map<String, Player> players = new LinkedHashMap<>();
    routers.forEach(router -> players.put(router.id(), player.apply(router)));
    Player reference = player.apply(AdpRouterKind.CONVERSATION);
    return compare(setting, new Contest("adp", MEASURES, 1, reference, players));
  }

  /**
   * Compares fleet routers in a case, over as many workers of one rank as the load has ranks. The
   * utilisation is the mean of the workers'.
   *
   * @param setting the case
   * @param routers args of the fleet routers to compare, by their names
   * @return the results
   * @throws IllegalArgumentException if no request fits into a pool, there are too few requests for
   *     a tenth of the load, or a name or an arg is wrong
   * @throws InterruptedException if this thread is interrupted
   */
  public Cell<PlayedLoad> compareFleets(Setting setting, Map<String, Map<String, Object>> routers)
      throws InterruptedException {
    int workers = setting.load().ranks();
    ReplaySettings worker = worker(setting, 1);
    BiFunction<String, Map<String, Object>, Player> player =
        (router, own) -> {
          FleetSettings fleet = FleetSettings.of(workers, router).withArgs(own);
          ReplaySettings named = worker.withHashFormat(fleet.naming(worker.pool().hashFormat()));
          return arrivals ->
              Replay.run(arrivals, named, fleet, RankPools.Place.HOST, ReplayProgress.SILENT);
        };
    Map<String, Player> players = new LinkedHashMap<>();
    routers.forEach((router, own) -> players.put(router, player.apply(router, own)));
    Map<String, Object> args = new TreeMap<>();
    routers.values().forEach(args::putAll);
    String kind = args.isEmpty() ? "fleet" : "fleet " + args;
    Player reference = player.apply(reference(setting), Map.of());
    return compare(setting, new Contest(kind, FLEET_MEASURES, workers, reference, players));
  }

  /** The fleet router that sets the speed. */
  private static String reference(Setting setting) {
    return setting.traffic().sessions() ? "conversation" : "round_robin";
  }

  /**
   * Compares policies of workers of one rank, where some compute prompts and the others generate
   * the answers. The utilisation is the mean of the prefill workers', if they compute all prompts.
   *
   * @param setting the case, with workers of both roles
   * @param policies the workers of each policy, by its name; those of the case
   * @return the results
   * @throws IllegalArgumentException as for fleet routers
   * @throws InterruptedException if this thread is interrupted
   */
  public Cell<PlayedLoad> compareApart(Setting setting, Map<String, ApartSettings> policies)
      throws InterruptedException {
    int prefills = setting.prefillWorkers();
    ReplaySettings worker = worker(setting, 1);
    Function<ApartSettings, Player> player =
        apart -> {
          ReplaySettings named = worker.withHashFormat(apart.naming(worker.pool().hashFormat()));
          return arrivals ->
              Replay.run(arrivals, named, apart, RankPools.Place.HOST, ReplayProgress.SILENT);
        };
    Map<String, Player> players = new LinkedHashMap<>();
    Map<String, Object> args = new TreeMap<>();
    policies.forEach(
        (policy, apart) -> {
          players.put(policy, player.apply(apart));
          args.putAll(apart.prefill().args());
          args.putAll(apart.decode().args());
        });
    ApartSettings allApart =
        new ApartSettings(
            FleetSettings.of(prefills, reference(setting)),
            FleetSettings.of(setting.decodeWorkers(), reference(setting)),
            WholeOrApart.BY_FORECAST);
    String kind = args.isEmpty() ? "apart" : "apart " + args;
    Player reference = player.apply(allApart);
    return compare(setting, new Contest(kind, APART_MEASURES, prefills, reference, players));
  }

  private static ReplaySettings worker(Setting setting, int ranks) {
    ReplaySettings worker =
        new ReplaySettings(ranks, setting.poolTokens(), TOKENS_PER_BLOCK)
            .withGroups(setting.groups())
            .withMode(setting.mode())
            .withSight(setting.sight())
            .withMeasures(FIRST_TOKENS);
    return setting.engines().of(worker, setting.load().ranks());
  }

  private Cell<PlayedLoad> compare(Setting setting, Contest contest) throws InterruptedException {
    String name = contest.kind + " " + setting.key();
    Speed speed =
        setting.load() instanceof Load.Share share
            ? speedFor(name, setting, share, contest)
            : CLOSED;
    Map<String, LongFunction<ReplayResult>> policies = new LinkedHashMap<>();
    contest.players.forEach(
        (policy, player) ->
            policies.put(
                policy,
                seed -> player.play(setting.traffic().requests().at(speed.factor(), seed))));
    String played = name + " speed " + speed.factor();
    PolicyComparison comparison = new PolicyComparison(seeds, contest.measures, threads, store);
    Cell<PlayedLoad> cell =
        comparison.compare(
            new PlayedLoad(setting, speed.factor(), speed.share()), played, policies);
    if (cell.best().mean(Measure.REJECTED) == 1) {
      throw noneFits(setting);
    }
    if (setting.load() instanceof Load.InFlight
        || cell.best().mean(Measure.TTFT_P95_MS) <= saturatedMs) {
      return cell;
    }
    Map<String, LongToDoubleFunction> capacities = new LinkedHashMap<>();
    contest.players.forEach(
        (policy, player) ->
            capacities.put(
                policy, seed -> capacity(player, setting.traffic(), speed.factor(), seed)));
    return cell.withCapacities(
        comparison.figures(played + " capacity at " + saturatedMs, capacities));
  }

  private static IllegalArgumentException noneFits(Setting setting) {
    return new IllegalArgumentException(
        setting.traffic().name()
            + ": no request fits into a pool of "
            + setting.poolTokens()
            + " tokens");
  }

  /** The speed for a load, which the store may know. */
  private Speed speedFor(String name, Setting setting, Load.Share load, Contest contest) {
    List<Double> found =
        store.of(
            name + " speed for " + load + " seed " + seeds.get(0),
            () -> {
              Speed speed = findSpeed(setting, load.utilisation(), contest);
              return List.of(speed.factor(), speed.share());
            });
    Speed speed = new Speed(found.get(0), found.get(1));
    if (speed.share() < load.utilisation() / MOST_BELOW) {
      throw new IllegalArgumentException(
          setting.traffic().name()
              + ": "
              + setting.traffic().requests().at(1, seeds.get(0)).plannedRequests()
              + " requests are too few for load "
              + load
              + ": the last answers come long after the last arrival");
    }
    return speed;
  }

  /**
   * The highest speed at which the p95 of the time to first token is not above {@link
   * #saturatedMs}, relative to that of the case, and at most that. Bisects logarithms.
   *
   * @return at least {@link #LEAST_CAPACITY}, also if it is above at that speed
   */
  private double capacity(Player player, Traffic traffic, double speed, long seed) {
    double low = 0;
    double high = 2;
    for (int trial = 0; trial < CAPACITY_TRIALS; trial++) {
      double next = low == 0 ? high / 2 : Math.sqrt(low * high);
      ReplayResult result = player.play(traffic.requests().at(next * speed, seed));
      if (Measure.TTFT_P95_MS.of(result) > saturatedMs) {
        high = next;
      } else if (next == 1) {
        return 1;
      } else {
        low = next;
      }
    }
    return Math.max(low, LEAST_CAPACITY);
  }

  /**
   * Interpolates between a speed that is too slow and one that is too fast, and bisects in every
   * third trial and where the reference did not keep up. If it stops keeping up below the target
   * utilisation, the slower one is used, and where two that keep up are close together, the one
   * nearer to the utilisation. Sessions always do, as they wait for answers; their speed has a
   * limit instead. In a fleet, one long request near the end occupies one worker; the time that
   * this takes at the lowest speed is allowed in addition, or that in which an engine hangs.
   */
  private Speed findSpeed(Setting setting, double utilisation, Contest contest) {
    Traffic traffic = setting.traffic();
    Speed slow = new Speed(0, 0);
    Speed fast = null;
    boolean fastKeptUp = false;
    double tailNs = setting.engines().kind().hangNs();
    double next = 1;
    for (int trial = 0; trial < MAX_TRIALS; trial++) {
      ReplayResult result = contest.reference.play(traffic.reference().at(next, seeds.get(0)));
      if (result.completed() == 0) {
        throw noneFits(setting);
      }
      Speed tried = new Speed(next, result.prefillShare() / contest.workers);
      double arrivalsNs = traffic.lastArrivalNs() / next;
      boolean keepsUp = result.virtualNs() <= MAX_TIME * arrivalsNs + tailNs;
      if (keepsUp && trial == 0 && contest.workers > 1 && !traffic.sessions()) {
        tailNs = Math.max(tailNs, result.virtualNs() - arrivalsNs);
      }
      if (!keepsUp || tried.share() > utilisation + TOLERANCE) {
        fast = tried;
        fastKeptUp = keepsUp;
      } else if (tried.share() < utilisation - TOLERANCE) {
        slow = tried;
      } else {
        return tried;
      }
      if (fast != null && slow.factor() > (1 - PRECISION) * fast.factor()) {
        boolean nearer = fast.share() - utilisation < utilisation - slow.share();
        return fastKeptUp && nearer ? fast : slow;
      }
      if (fast == null) {
        next = trial == 0 ? slow.proportional(utilisation) : 2 * slow.factor();
      } else if (fastKeptUp && trial % 3 != 2) {
        next = interpolated(slow, fast, utilisation);
      } else {
        next = (slow.factor() + fast.factor()) / 2;
      }
      if (traffic.sessions()) {
        if (slow.factor() == MAX_SESSION_SPEED) {
          return slow;
        }
        next = Math.min(next, MAX_SESSION_SPEED);
      }
    }
    return slow.factor() > 0 || fast == null ? slow : fast;
  }

  private static double interpolated(Speed slow, Speed fast, double utilisation) {
    double part = (utilisation - slow.share()) / (fast.share() - slow.share());
    return slow.factor() + part * (fast.factor() - slow.factor());
  }
}
