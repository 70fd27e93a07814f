package io.kvasir.engine.pool.cuda;

import io.kvasir.engine.device.DeviceApi;
import io.kvasir.engine.device.FatalDeviceException;
import io.kvasir.engine.device.KernelArguments;
import io.kvasir.engine.device.ReleaseSteps;
import io.kvasir.engine.device.RetryableDeviceException;
import io.kvasir.engine.pool.DirectoryProbe;
import io.kvasir.engine.pool.PrefixMatcher;
import io.kvasir.engine.pool.PrefixMatches;
import io.kvasir.engine.pool.ProbeBatch;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Matches a batch against the pools of all ranks, either on their devices or in the pools' mirrors
 * on the host, whichever was faster recently for batches of that size. Both return the same
 * matches. On the devices, each device runs one launch on a high-priority stream, all devices in
 * parallel.
 *
 * <p>Confined to the thread of the pools' owner.
 */
public final class CudaPrefixMatcher implements PrefixMatcher {

  private static final Logger LOG = LoggerFactory.getLogger(CudaPrefixMatcher.class);

  /** The path through the mirrors; the other path is that of the devices. */
  private static final int HOST = 0;

  private final List<CudaBlockPool> pools;
  private final int tokensPerBlock;
  private final DirectoryProbe mirrors;
  private final List<DeviceProbe> devices = new ArrayList<>();
  private final BitSet retired = new BitSet();
  private final PathTimings timings = new PathTimings();
  private final LongSupplier nanoTime;

  /**
   * Makes a matcher; it does not own the pools.
   *
   * @param pools one pool per rank, in rank order, all with the same tokens per block
   * @throws IllegalArgumentException if there is none, or their tokens per block differ
   */
  public CudaPrefixMatcher(List<CudaBlockPool> pools) {
    this(pools, System::nanoTime);
  }

  CudaPrefixMatcher(List<CudaBlockPool> pools, LongSupplier nanoTime) {
    this.pools = List.copyOf(pools);
    this.mirrors = DirectoryProbe.of(this.pools, CudaBlockPool::shape, CudaBlockPool::directory);
    this.tokensPerBlock = pools.get(0).shape().tokensPerBlock();
    this.nanoTime = nanoTime;
    Map<DeviceApi, List<Integer>> ranks = new LinkedHashMap<>();
    for (int rank = 0; rank < pools.size(); rank++) {
      DeviceApi device = pools.get(rank).deviceBlocks().device();
      ranks.computeIfAbsent(device, key -> new ArrayList<>()).add(rank);
    }
    try {
      ranks.forEach((device, members) -> devices.add(new DeviceProbe(device, members, this.pools)));
    } catch (RuntimeException e) {
      ReleaseSteps.after(e, List.of(this::close));
      throw e;
    }
  }

  @Override
  public PrefixMatches match(ProbeBatch batch) {
    int searches = searches(pools.size(), batch.size());
    int path = retired.isEmpty() ? timings.choose(searches) : HOST;
    long from = nanoTime.getAsLong();
    PrefixMatches matches = path == HOST ? matchOnHost(batch) : matchOnDevices(batch);
    timings.record(path, searches, nanoTime.getAsLong() - from);
    return matches;
  }

  /**
   * {@inheritDoc}
   *
   * <p>All later batches are matched on the host, so that a lost device cannot fail the look-ups of
   * other ranks.
   */
  @Override
  public void retire(int rank) {
    retired.set(Objects.checkIndex(rank, pools.size()));
  }

  /**
   * {@return the number of look-ups (prompts x ranks) from which the devices were faster than the
   * host; a power of two, or -1 if there is none}
   */
  public int crossover() {
    return timings.crossover();
  }

  /**
   * Matches a batch in the mirrors on the host.
   *
   * @param batch the prompts
   * @return matched tokens by rank and prompt
   */
  public PrefixMatches matchOnHost(ProbeBatch batch) {
    return mirrors.match(batch, retired);
  }

  /**
   * Matches a batch on the devices; on the host if a device fails.
   *
   * @param batch the prompts
   * @return matched tokens by rank and prompt
   * @throws IllegalArgumentException if prompts x pools is 2^31 or more
   */
  public PrefixMatches matchOnDevices(ProbeBatch batch) {
    searches(pools.size(), batch.size());
    PrefixMatches matches = new PrefixMatches(pools.size(), batch.size());
    if (batch.size() > 0) {
      try {
        devices.forEach(device -> device.start(batch));
        devices.forEach(device -> device.finish(batch.size(), tokensPerBlock, matches));
      } catch (FatalDeviceException | RetryableDeviceException e) {
        devices.forEach(DeviceProbe::awaitStarted);
        return matchOnHost(batch); // the pool of a lost device throws at its next use
      }
    }
    return matches;
  }

  /** The number of look-ups of a batch. */
  static int searches(int pools, int prompts) {
    long searches = (long) pools * prompts;
    if (searches > Integer.MAX_VALUE) {
      throw new IllegalArgumentException(
          "a batch must have less than 2^31 look-ups, not "
              + prompts
              + " prompts x "
              + pools
              + " pools");
    }
    return (int) searches;
  }

  /**
   * {@inheritDoc}
   *
   * <p>Waits for look-ups that still run. Must be called before the pools are closed, because
   * look-ups read their memory.
   */
  @Override
  public void close() {
    List<Runnable> steps = new ArrayList<>();
    devices.forEach(device -> steps.add(device::close));
    devices.clear();
    ReleaseSteps.all(steps);
  }

  /** Matches batches against the pools of one device. */
  private static final class DeviceProbe implements AutoCloseable {

    private static final int THREADS = 128;

    /** Up to this many searches get a warp each in the kernel; beyond it, four lanes each. */
    private static final int MAX_WIDE_SEARCHES = 2048;

    private static final int BLOCKS_PER_MULTIPROCESSOR = 16;
    private static final int STAGING_BYTES = 1 << 20;

    private final DeviceApi device;
    private final List<Integer> ranks;
    private final List<CudaBlockPool> pools;
    private final DeviceApi.Stream stream;
    private final DeviceApi.Event submitted;
    private final DeviceApi.Kernel kernel;
    private final KernelArguments arguments = KernelArguments.words(6);
    private final DeviceStaging staging;
    private final int mostBlocks;
    private int answers;

    /** Whether the device may still use the staging memory. */
    private boolean started;

    DeviceProbe(DeviceApi device, List<Integer> ranks, List<CudaBlockPool> all) {
      this.device = device;
      this.ranks = ranks;
      this.pools = ranks.stream().map(all::get).toList();
      this.kernel = device.kernel("kvasir_probe");
      this.mostBlocks = device.multiprocessors() * BLOCKS_PER_MULTIPROCESSOR;
      this.staging = new DeviceStaging(device, STAGING_BYTES);
      DeviceApi.Stream opened = null;
      try {
        opened = device.openStream(true);
        this.stream = opened;
        this.submitted = device.openEvent(false);
      } catch (RuntimeException e) {
        List<Runnable> steps = new ArrayList<>(List.of(staging::close));
        if (opened != null) {
          DeviceApi.Stream leftOver = opened;
          steps.add(0, () -> device.closeStream(leftOver));
        }
        ReleaseSteps.after(e, steps);
        throw e;
      }
    }

    void start(ProbeBatch batch) {
      if (started) {
        awaitAnswers(); // of an earlier batch, which failed on another device
      }
      started = true;
      for (CudaBlockPool pool : pools) {
        pool.submit();
        device.record(pool.deviceBlocks().stream(), submitted);
        device.await(stream, submitted);
      }
      int prompts = batch.size();
      long poolBytes = DeviceStaging.aligned((long) pools.size() * Long.BYTES);
      long hashBytes = DeviceStaging.aligned((long) batch.hashCount() * Long.BYTES);
      long offsetBytes = DeviceStaging.aligned((prompts + 1L) * Integer.BYTES);
      long answerBytes = DeviceStaging.aligned((long) pools.size() * prompts * Integer.BYTES);
      staging.reset();
      long bytes = poolBytes + hashBytes + offsetBytes + answerBytes;
      if (!staging.fits(bytes)) {
        staging.grow(bytes);
      }
      int poolsAt = staging.reserve(poolBytes);
      for (int i = 0; i < pools.size(); i++) {
        staging.bytes().putLong(poolsAt + i * Long.BYTES, pools.get(i).deviceBlocks().pool());
      }
      int hashesAt = staging.reserve(hashBytes);
      int offsetsAt = staging.reserve(offsetBytes);
      batch.copyTo(staging.bytes(), hashesAt, offsetsAt);
      staging.copyToDevice(stream);
      answers = staging.reserve(answerBytes);
      arguments
          .set(0, staging.onDevice(poolsAt))
          .set(1, pools.size())
          .set(2, staging.onDevice(hashesAt))
          .set(3, staging.onDevice(offsetsAt))
          .set(4, prompts)
          .set(5, staging.onDevice(answers));
      int searches = searches(pools.size(), prompts);
      int perBlock = THREADS / (searches <= MAX_WIDE_SEARCHES ? 32 : 4);
      int blocks = searches / perBlock + (searches % perBlock == 0 ? 0 : 1);
      device.launch(stream, kernel, Math.min(blocks, mostBlocks), THREADS, arguments);
      staging.copyFromDevice(stream, answers, Math.multiplyExact(searches, Integer.BYTES));
    }

    private void awaitAnswers() {
      device.synchronize(stream);
      started = false;
    }

    /** Ends a batch that failed on another device. Nothing here may be left running. */
    void awaitStarted() {
      try {
        if (started) {
          awaitAnswers();
        }
      } catch (FatalDeviceException | RetryableDeviceException e) {
        LOG.debug("The look-ups of a failed batch still run", e); // the next batch or close waits
      }
    }

    void finish(int prompts, int tokensPerBlock, PrefixMatches matches) {
      awaitAnswers();
      for (int i = 0; i < pools.size(); i++) {
        for (int prompt = 0; prompt < prompts; prompt++) {
          int at = answers + (i * prompts + prompt) * Integer.BYTES;
          int matchedBlocks = staging.bytes().getInt(at);
          matches.set(ranks.get(i), prompt, Math.multiplyExact(matchedBlocks, tokensPerBlock));
        }
      }
    }

    @Override
    public void close() {
      ReleaseSteps.onceIdle(
          device,
          stream,
          List.of(
              () -> device.closeEvent(submitted),
              () -> device.closeStream(stream),
              staging::close));
    }
  }
}
