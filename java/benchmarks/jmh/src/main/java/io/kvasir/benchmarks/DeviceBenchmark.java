package io.kvasir.benchmarks;

import io.kvasir.engine.device.CudaDevice;
import io.kvasir.engine.device.CudaDriver;
import io.kvasir.engine.device.DeviceApi;
import io.kvasir.engine.device.DeviceSelection;
import io.kvasir.engine.device.DeviceUnavailableException;
import io.kvasir.engine.device.KernelModule;
import io.kvasir.engine.pool.NativeBlockPool;
import io.kvasir.engine.pool.PoolShape;
import io.kvasir.engine.pool.cuda.CudaBlockPool;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.Locale;

/**
 * Measures block pools on a CUDA device, as used from Java, against pools in host memory: the pool
 * work of an executor iteration, the batch size from which matching on the device is faster than on
 * the host, and the staleness of the occupancy page.
 *
 * <p>Prints a line for each figure: {@code figure NAME VALUE UNIT [FLOOR]}. Times are medians.
 */
public final class DeviceBenchmark {

  /**
   * Sizes and repetitions.
   *
   * @param promptBlocks blocks of a request of an iteration
   * @param iterations measured iterations
   * @param poolBlocks blocks of a pool that prompts are matched in
   * @param ranks pools
   * @param prompts batch sizes
   * @param rounds repetitions of the other measurements
   * @param loadTokens tokens hashed in one launch of the background load
   * @param patienceNs how long the host waits for a change of the page
   */
  record Size(
      int promptBlocks,
      int iterations,
      int poolBlocks,
      int ranks,
      List<Integer> prompts,
      int rounds,
      int loadTokens,
      long patienceNs) {

    static final Size FULL =
        new Size(250, 1000, 1 << 20, 8, List.of(1, 8, 64, 512, 4096), 21, 1 << 26, 2_000_000_000L);
    static final Size SMALL = new Size(10, 80, 1 << 10, 2, List.of(1, 4), 3, 1 << 12, 1_000_000L);
  }

  private DeviceBenchmark() {}

  /**
   * Runs the benchmark.
   *
   * @param arguments {@code --device cpu} (host memory only, the default) or {@code cuda} (also the
   *     first CUDA device); {@code --small} for a quick pass; {@code --devices-of CLASS} to use the
   *     device returned by the class's static method {@code open()} instead of the driver's
   * @throws ReflectiveOperationException if that class has no such method
   * @throws DeviceUnavailableException if no usable device exists
   */
  public static void main(String[] arguments)
      throws ReflectiveOperationException, DeviceUnavailableException {
    Locale.setDefault(Locale.ROOT);
    Size size = Size.FULL;
    boolean cuda = false;
    String devicesOf = null;
    for (Iterator<String> next = Arrays.asList(arguments).iterator(); next.hasNext(); ) {
      switch (next.next()) {
        case "--small" -> size = Size.SMALL;
        case "--device" -> cuda = next.next().equals("cuda");
        case "--devices-of" -> devicesOf = next.next();
        default ->
            throw new IllegalArgumentException(
                "usage: [--device cpu|cuda] [--small] [--devices-of CLASS]");
      }
    }
    try (NativeBlockPool pool = NativeBlockPool.create(PoolIteration.shape(size.promptBlocks()))) {
      double us = new PoolIteration(pool, size.promptBlocks()).medianUs(size.iterations());
      Figures.print("iteration_64_running_1_new_cpu", us, "us");
    }
    if (devicesOf != null) {
      measure((DeviceApi) Class.forName(devicesOf).getMethod("open").invoke(null), size);
    } else if (cuda) {
      measure(firstDevice(), size);
    }
  }

  private static DeviceApi firstDevice() throws DeviceUnavailableException {
    List<CudaDevice> devices =
        DeviceSelection.parse("cuda").resolve(CudaDriver::system, KernelModule::embedded).devices();
    return CudaDriver.system().open(devices.get(0), KernelModule.embedded().orElseThrow());
  }

  private static void measure(DeviceApi opened, Size size) {
    try (DeviceApi device = opened) {
      double floorUs = new LeastSubmission(device).medianUs(10 * size.rounds());
      Figures.print("least_submission", floorUs, "us");
      iterations(device, size, floorUs);
      try (DeviceLoad load = new DeviceLoad(device, size.loadTokens())) {
        new PageStaleness(device, load, size).print(floorUs);
        try (MatchCrossover crossover = new MatchCrossover(device, load, size)) {
          crossover.print(floorUs);
        }
      }
    }
  }

  private static void iterations(DeviceApi device, Size size, double floorUs) {
    PoolShape shape = PoolIteration.shape(size.promptBlocks());
    try (CudaBlockPool pool = CudaBlockPool.create(device, shape, 0)) {
      double us = new PoolIteration(pool, size.promptBlocks()).medianUs(size.iterations());
      Figures.print("iteration_64_running_1_new_device", us, "us", floorUs);
    }
    CallCounter calls = new CallCounter(device);
    try (CudaBlockPool pool = CudaBlockPool.create(calls.device(), shape, 0)) {
      PoolIteration iteration = new PoolIteration(pool, size.promptBlocks());
      iteration.medianUs(1);
      calls.reset();
      iteration.run(size.iterations());
      for (String call : List.of("copy", "launch", "synchronize")) {
        double each = (double) calls.count(call) / size.iterations();
        String floor = call.equals("launch") ? "-" : "1";
        Figures.print("iteration_calls_of_" + call, each, "calls", floor);
      }
    }
  }
}
