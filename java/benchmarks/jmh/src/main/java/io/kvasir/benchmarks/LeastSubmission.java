package io.kvasir.benchmarks;

import io.kvasir.engine.device.DeviceApi;
import io.kvasir.engine.device.KernelArguments;

/**
 * The minimum cost of a device query: one launch of a kernel that writes four bytes to the host,
 * and one synchronisation. Not thread-safe.
 */
final class LeastSubmission {

  private static final int WARP = 32;

  private final DeviceApi device;

  LeastSubmission(DeviceApi device) {
    this.device = device;
  }

  double medianUs(int rounds) {
    DeviceApi.Kernel kernel = device.kernel("kvasir_module_abi");
    long word = device.allocatePinned(Integer.BYTES);
    DeviceApi.Stream stream = device.openStream(true);
    KernelArguments arguments = KernelArguments.words(1).set(0, word);
    long[] ns = new long[rounds];
    for (int round = -rounds; round < rounds; round++) {
      long from = System.nanoTime();
      device.launch(stream, kernel, 1, WARP, arguments);
      device.synchronize(stream);
      ns[Math.max(0, round)] = System.nanoTime() - from;
    }
    device.closeStream(stream);
    device.freePinned(word);
    return Figures.medianUs(ns);
  }
}
