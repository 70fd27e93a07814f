package io.kvasir.engine.execute;

import io.kvasir.engine.device.DeviceApi;
import io.kvasir.engine.device.DeviceHealth;
import io.kvasir.engine.device.DeviceOutOfMemoryException;
import io.kvasir.engine.device.ReleaseSteps;
import io.kvasir.engine.pool.BlockPool;
import io.kvasir.engine.pool.HybridBlockPool;
import io.kvasir.engine.pool.HybridPrefixMatcher;
import io.kvasir.engine.pool.KvShape;
import io.kvasir.engine.pool.NativeBlockPool;
import io.kvasir.engine.pool.NativePrefixMatcher;
import io.kvasir.engine.pool.PoolGroup;
import io.kvasir.engine.pool.PoolShape;
import io.kvasir.engine.pool.PrefixMatcher;
import io.kvasir.engine.pool.cuda.CudaBlockPool;
import io.kvasir.engine.pool.cuda.CudaPoolMemory;
import io.kvasir.engine.pool.cuda.CudaPrefixMatcher;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The pools of a worker's ranks, and the matcher over all of them.
 *
 * <p>Immutable; the pools have their own threading rules.
 */
public final class RankPools implements AutoCloseable {

  /** Where the pools of a worker live. */
  @FunctionalInterface
  public interface Place {

    /** Host memory. */
    Place HOST = (ranks, shape) -> onHost(ranks, shape);

    /**
     * Creates the pools of a worker.
     *
     * @param ranks number of ranks
     * @param shape the shape of each pool
     * @return the pools; the caller closes them
     */
    RankPools open(int ranks, PoolShape shape);
  }

  private final List<BlockPool> pools;
  private final PrefixMatcher matcher;

  /** The devices that ranks are distributed over; empty for host memory. */
  private final List<DeviceApi> devices;

  /** Health of the devices; null if they are not monitored. */
  private final @Nullable DeviceHealth health;

  private RankPools(
      List<? extends BlockPool> pools,
      PrefixMatcher matcher,
      List<DeviceApi> devices,
      @Nullable DeviceHealth health) {
    this.pools = List.copyOf(pools);
    this.matcher = matcher;
    this.devices = List.copyOf(devices);
    this.health = health;
  }

  /**
   * Creates pools in host memory.
   *
   * @param ranks number of ranks, at least 1
   * @param shape the shape of each pool
   * @return the pools; the caller closes them
   * @throws OutOfMemoryError if there is not enough address space
   */
  public static RankPools onHost(int ranks, PoolShape shape) {
    return open(
        ranks, rank -> NativeBlockPool.create(shape), NativePrefixMatcher::new, List.of(), null);
  }

  /**
   * Creates pools on devices without health monitoring. Ranks are distributed evenly; neighbouring
   * ranks share a device.
   *
   * @param devices the devices, with kernels loaded; not closed with the pools
   * @param ranks number of ranks, at least 1
   * @param shape the shape of each pool
   * @param kv the KV of a token in a pool
   * @return the pools; the caller closes them
   * @throws DeviceOutOfMemoryException if a device has not enough memory; nothing is kept
   */
  public static RankPools onDevices(
      List<DeviceApi> devices, int ranks, PoolShape shape, KvShape kv) {
    return onDevices(devices, ranks, shape, kv, null);
  }

  /**
   * Creates pools on devices, distributed in the same way.
   *
   * @param devices the devices, with kernels loaded; not closed with the pools
   * @param ranks number of ranks, at least 1
   * @param shape the shape of each pool
   * @param kv the KV of a token in a pool
   * @param health health of the devices, for {@link #problem}; null for none; not closed with the
   *     pools
   * @return the pools; the caller closes them
   * @throws DeviceOutOfMemoryException if a device has not enough memory; nothing is kept
   */
  public static RankPools onDevices(
      List<DeviceApi> devices,
      int ranks,
      PoolShape shape,
      KvShape kv,
      @Nullable DeviceHealth health) {
    long kvBytesPerBlock = kv.bytesPerBlock(shape.tokensPerBlock());
    return open(
        ranks,
        rank ->
            CudaBlockPool.create(
                devices.get(deviceOf(rank, ranks, devices.size())), shape, kvBytesPerBlock),
        CudaPrefixMatcher::new,
        devices,
        health);
  }

  /**
   * The blocks per pool if all pools of a device together take a share of its currently free
   * memory, as engines size their caches.
   *
   * @param devices the devices, with kernels loaded
   * @param ranks number of ranks, at least 1
   * @param shape the shape of each pool; its capacity and longest lease are upper bounds
   * @param kv the KV of a token in a pool
   * @param freeMemoryFraction the share, above 0 and at most 1
   * @return blocks of each pool, 0 if not even one fits
   */
  public static int blocksThatFit(
      List<DeviceApi> devices, int ranks, PoolShape shape, KvShape kv, double freeMemoryFraction) {
    long bytesPerRank = Long.MAX_VALUE;
    for (int device = 0; device < devices.size(); device++) {
      int here = 0;
      for (int rank = 0; rank < ranks; rank++) {
        here += deviceOf(rank, ranks, devices.size()) == device ? 1 : 0;
      }
      if (here > 0) {
        double share = freeMemoryFraction * devices.get(device).freeBytes() / here;
        bytesPerRank = Math.min(bytesPerRank, (long) share);
      }
    }
    int fits = 0;
    int tooMany = shape.capacityBlocks();
    while (fits < tooMany) {
      int blocks = fits + (tooMany - fits + 1) / 2;
      if (CudaPoolMemory.deviceBytes(shape.withBlocks(blocks), kv) <= bytesPerRank) {
        fits = blocks;
      } else {
        tooMany = blocks - 1;
      }
    }
    return fits;
  }

  private static int deviceOf(int rank, int ranks, int devices) {
    return (int) ((long) rank * devices / ranks);
  }

  private static <P extends BlockPool> RankPools open(
      int ranks,
      Function<Integer, P> create,
      Function<List<P>, PrefixMatcher> match,
      List<DeviceApi> devices,
      @Nullable DeviceHealth health) {
    List<P> pools = new ArrayList<>();
    try {
      for (int rank = 0; rank < ranks; rank++) {
        pools.add(create.apply(rank));
      }
      return new RankPools(pools, match.apply(pools), devices, health);
    } catch (RuntimeException | Error e) {
      ReleaseSteps.after(e, closing(pools));
      throw e;
    }
  }

  /**
   * These pools for a hybrid model.
   *
   * @param further the cache groups besides full attention; if there is none, these pools are as
   *     they are
   * @return the pools, which own these; the caller closes them instead
   * @throws IllegalArgumentException if states are not kept at the ends of blocks
   */
  public RankPools withGroups(List<PoolGroup> further) {
    if (further.isEmpty()) {
      return this;
    }
    List<HybridBlockPool> hybrid =
        pools.stream().map(pool -> new HybridBlockPool(pool, further)).toList();
    return new RankPools(hybrid, new HybridPrefixMatcher(matcher, hybrid), devices, health);
  }

  /** {@return the pools, by rank} */
  public List<BlockPool> pools() {
    return pools;
  }

  /** {@return the matcher over all pools; closed with the pools} */
  public PrefixMatcher matcher() {
    return matcher;
  }

  /**
   * The number of devices with a problem. One volatile load; free for pools in host memory.
   *
   * @return at least 0; never decreases
   */
  public int problems() {
    return health == null ? 0 : health.problems();
  }

  /**
   * The problem of a rank's device, after which its pool must not be trusted.
   *
   * @param rank its index
   * @return the problem; empty if the device has none
   */
  public Optional<String> problem(int rank) {
    return health == null
        ? Optional.empty()
        : health.problem(devices.get(deviceOf(rank, pools.size(), devices.size())).device());
  }

  /** Closes the matcher and the pools. */
  @Override
  public void close() {
    List<Runnable> steps = closing(pools);
    steps.add(0, matcher::close);
    ReleaseSteps.all(steps);
  }

  private static List<Runnable> closing(List<? extends BlockPool> pools) {
    List<Runnable> steps = new ArrayList<>();
    pools.forEach(pool -> steps.add(pool::close));
    return steps;
  }
}
