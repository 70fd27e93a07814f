package io.kvasir.benchmarks;

import io.kvasir.engine.device.DeviceApi;
import io.kvasir.engine.device.KernelArguments;
import io.kvasir.engine.device.ReleaseSteps;
import io.kvasir.internal.nativelib.NativeMemory;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/**
 * Background load that keeps a device busy: launches that hash tokens, one after the other on a
 * low-priority stream, each on all multiprocessors and bound by memory bandwidth.
 *
 * <p>Not thread-safe.
 */
final class DeviceLoad implements AutoCloseable {

  private static final int TOKENS_PER_BLOCK = 16;
  private static final int MAX_PROMPT_TOKENS = 1 << 14;
  private static final int SCOPE_BYTES = 24;
  private static final int BATCH_BYTES = 48;
  private static final int THREADS = 128;
  private static final int BLOCKS_PER_MULTIPROCESSOR = 6;
  private static final int MAX_LAUNCHES = 2000;

  private final DeviceApi device;
  private final DeviceApi.Stream stream;
  private final DeviceApi.Kernel kernel;
  private final KernelArguments arguments = new KernelArguments(4, 4, BATCH_BYTES, 4);
  private final long[] memory;
  private final long launchNs;

  DeviceLoad(DeviceApi device, int tokens) {
    this.device = device;
    stream = device.openStream(false);
    kernel = device.kernel("kvasir_hash_local");
    int length = Math.min(tokens, MAX_PROMPT_TOKENS);
    int prompts = tokens / length;
    long hashBytes = (long) tokens / TOKENS_PER_BLOCK * Long.BYTES;
    long[] bytes = {
      (long) tokens * Integer.BYTES,
      (prompts + 1L) * Integer.BYTES,
      (long) prompts * Integer.BYTES,
      (long) prompts * SCOPE_BYTES,
      hashBytes,
      hashBytes
    };
    memory = new long[bytes.length];
    for (int i = 0; i < bytes.length; i++) {
      memory[i] = device.allocate(bytes[i]);
      device.fill(stream, memory[i], (byte) 0, bytes[i]);
      arguments.setField(2, i * Long.BYTES, memory[i]);
    }
    offsets(memory[1], prompts + 1, length);
    offsets(memory[2], prompts, length / TOKENS_PER_BLOCK);
    arguments.set(0, 0).set(1, TOKENS_PER_BLOCK).set(3, prompts);
    launchNs = measure();
  }

  private void offsets(long destination, int count, int step) {
    int bytes = count * Integer.BYTES;
    long pinned = device.allocatePinned(bytes);
    ByteBuffer view = NativeMemory.view(pinned, bytes);
    for (int i = 0; i < count; i++) {
      view.putInt(i * Integer.BYTES, i * step);
    }
    device.copy(stream, destination, pinned, bytes);
    device.synchronize(stream);
    device.freePinned(pinned);
  }

  private long measure() {
    launch();
    DeviceApi.Event from = device.openEvent(true);
    DeviceApi.Event to = device.openEvent(true);
    device.record(stream, from);
    launch();
    device.record(stream, to);
    device.synchronize(stream);
    long ns = Math.max(1000, device.elapsedNs(from, to));
    device.closeEvent(from);
    device.closeEvent(to);
    return ns;
  }

  private void launch() {
    int blocks = BLOCKS_PER_MULTIPROCESSOR * device.multiprocessors();
    device.launch(stream, kernel, blocks, THREADS, arguments);
  }

  /** Keeps the device busy for this long, starting when earlier work ends. */
  void begin(long ns) {
    long launches = Math.min(MAX_LAUNCHES, ns / launchNs + 1);
    for (long i = 0; i < launches; i++) {
      launch();
    }
  }

  /** Waits until the device has finished the load. */
  void end() {
    device.synchronize(stream);
  }

  @Override
  public void close() {
    List<Runnable> steps = new ArrayList<>(List.of(() -> device.closeStream(stream)));
    for (long address : memory) {
      steps.add(() -> device.free(address));
    }
    ReleaseSteps.onceIdle(device, stream, steps);
  }
}
