package io.kvasir.engine.device;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.internal.nativelib.NativeMemory;
import java.lang.ref.Reference;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.function.BooleanSupplier;

/**
 * A CUDA device that is not there: its memory is the host's and its kernels run on the CPU, through
 * {@link ShimLibrary}.
 *
 * <p>Streams are lazy: work is carried out when something waits for it, or before that by chance,
 * during any call, a random number of pieces of a random stream. A stream that is closed with work
 * pending, and memory that is freed while pending work may use it ({@link ShimReach}), fail the
 * test. Memory holds garbage when it is allocated. A write outside of it, or memory that is not
 * freed, fails the test. Calls are counted and can be made to fail with a code of the driver; after
 * a fatal one the device is lost, and so are all later calls. Failures name the seed. Thread-safe.
 */
public final class ShimDevice implements DeviceApi {

  private static final long SEED = Long.getLong("kvasir.test.seed", System.nanoTime());

  static {
    System.out.println("-Dkvasir.test.seed=" + SEED + " (ShimDevice)");
  }

  private static final int OUT_OF_MEMORY = 2;
  private static final int NOT_FOUND = 500;
  private static final int NOT_READY = 600;

  private record ShimKernel(String name) implements Kernel {}

  private record Fault(ShimCall call, int at, int code) {}

  /** Calls between two moments at which work is carried out by chance. */
  private static final int CALLS_PER_CHANCE = 3;

  private final CudaDevice device;
  private final long seed;
  private final SplittableRandom chance;
  private final ShimHeap heap = new ShimHeap();
  private final List<ShimStream> streams = new ArrayList<>();
  private final Map<ShimCall, Integer> counts = new EnumMap<>(ShimCall.class);
  private final List<Fault> faults = new ArrayList<>();
  private int openEvents;
  private int urgentStreams;
  private int copiesToDevice;
  private boolean lost;
  private boolean hangs;
  private boolean unresponsive;

  private ShimDevice(int ordinal, long totalBytes, long seed) {
    String pciBusId = "0000:0" + ordinal + ":00.0";
    this.device = new CudaDevice(ordinal, "shim", "uuid", pciBusId, 9, 0, totalBytes, -1);
    this.seed = seed;
    this.chance = new SplittableRandom(seed);
  }

  /**
   * A device with the seed of this run, {@code -Dkvasir.test.seed}, which is printed.
   *
   * @param totalBytes size of its memory
   */
  public static ShimDevice of(long totalBytes) {
    return of(totalBytes, SEED);
  }

  /**
   * A device.
   *
   * @param totalBytes size of its memory
   * @param seed of the moments at which work is carried out by chance
   */
  public static ShimDevice of(long totalBytes, long seed) {
    return of(totalBytes, seed, 0);
  }

  /**
   * The same as one of several.
   *
   * @param totalBytes size of its memory
   * @param seed of the moments at which work is carried out by chance
   * @param ordinal its number, of one digit
   */
  public static ShimDevice of(long totalBytes, long seed, int ordinal) {
    return new ShimDevice(ordinal, totalBytes, seed);
  }

  /**
   * Lets a later call fail.
   *
   * @param call its kind
   * @param nth 1 for the next call of that kind
   * @param code of the CUDA driver API
   */
  public synchronized void failAt(ShimCall call, int nth, int code) {
    faults.add(new Fault(call, count(call) + nth, code));
  }

  /** Lets no more work be carried out, without an error. */
  public synchronized void hang() {
    hangs = true;
  }

  /** How many pieces of work wait, on all streams. */
  public synchronized int pending() {
    return streams.stream().mapToInt(ShimStream::pending).sum();
  }

  /** Bytes that are not allocated, whatever the device's state. */
  public synchronized long unusedBytes() {
    return device.totalBytes() - heap.device().usedBytes();
  }

  /** How many calls of a kind there were, failed ones too. */
  public synchronized int count(ShimCall call) {
    return counts.getOrDefault(call, 0);
  }

  /** How many copies there were from the host's memory to the device's. */
  public synchronized int copiesToDevice() {
    return copiesToDevice;
  }

  /** Fails if something was written outside of the memory that is allocated now. */
  public synchronized void assertGuarded() {
    heap.assertGuarded();
  }

  @Override
  public CudaDevice device() {
    return device;
  }

  @Override
  public synchronized long freeBytes() {
    enter(ShimCall.FREE_BYTES);
    return device.totalBytes() - heap.device().usedBytes();
  }

  @Override
  public int multiprocessors() {
    return 2;
  }

  @Override
  public synchronized void loadModule(byte[] module) {
    enter(ShimCall.LOAD_MODULE);
  }

  @Override
  public synchronized Kernel kernel(String name) {
    enter(ShimCall.KERNEL);
    if (!List.of(ShimLibrary.kernels()).contains(name)) {
      throw failure(ShimCall.KERNEL, NOT_FOUND);
    }
    return new ShimKernel(name);
  }

  @Override
  public synchronized long allocate(long bytes) {
    enter(ShimCall.ALLOCATE, bytes);
    if (heap.device().usedBytes() + bytes > device.totalBytes()) {
      throw outOfMemory(ShimCall.ALLOCATE, bytes);
    }
    return heap.device().allocate(bytes);
  }

  @Override
  public synchronized void free(long address) {
    enter(ShimCall.FREE);
    requireUnused("device memory", address);
    heap.device().free(address);
  }

  @Override
  public synchronized long allocatePinned(long bytes) {
    enter(ShimCall.ALLOCATE_PINNED, bytes);
    return heap.pageLocked().allocate(bytes);
  }

  @Override
  public synchronized void freePinned(long address) {
    enter(ShimCall.FREE_PINNED);
    requireUnused("page-locked memory", address);
    heap.pageLocked().free(address);
  }

  @Override
  public synchronized Stream openStream(boolean urgent) {
    enter(ShimCall.OPEN_STREAM);
    ShimStream stream = new ShimStream();
    streams.add(stream);
    urgentStreams += urgent ? 1 : 0;
    return stream;
  }

  /** How many streams were opened whose work goes before that of others. */
  public synchronized int urgentStreams() {
    return urgentStreams;
  }

  @Override
  public synchronized void closeStream(Stream stream) {
    enter(ShimCall.CLOSE_STREAM);
    int pending = open(stream).pending();
    assertThat(pending).as("pending work of a closed stream; device seed %d", seed).isZero();
    streams.remove(stream);
  }

  @Override
  public synchronized Event openEvent(boolean timed) {
    enter(ShimCall.OPEN_EVENT);
    openEvents++;
    return new ShimStream.Mark(timed);
  }

  @Override
  public synchronized void closeEvent(Event event) {
    enter(ShimCall.CLOSE_EVENT);
    openEvents--;
  }

  @Override
  public synchronized void record(Stream stream, Event event) {
    enter(ShimCall.RECORD);
    open(stream).record((ShimStream.Mark) event);
  }

  @Override
  public synchronized void await(Stream stream, Event event) {
    enter(ShimCall.AWAIT);
    open(stream).submit(((ShimStream.Mark) event).reach());
  }

  @Override
  public synchronized long elapsedNs(Event from, Event to) {
    enter(ShimCall.ELAPSED);
    ShimStream.Mark first = (ShimStream.Mark) from;
    ShimStream.Mark second = (ShimStream.Mark) to;
    assertThat(first.timed() && second.timed()).as("events measure time").isTrue();
    if (!first.passed() || !second.passed()) {
      throw failure(ShimCall.ELAPSED, NOT_READY);
    }
    return second.passedNs() - first.passedNs();
  }

  @Override
  public synchronized void copy(Stream stream, long destination, long source, long bytes) {
    enter(ShimCall.COPY);
    heap.requireKnown(destination, bytes);
    heap.requireKnown(source, bytes);
    boolean toDevice =
        heap.device().contains(destination, bytes) && !heap.device().contains(source, bytes);
    copiesToDevice += toDevice ? 1 : 0;
    open(stream)
        .submit(
            () -> ShimHeap.view(destination, bytes).put(ShimHeap.view(source, bytes)),
            destination,
            source);
  }

  @Override
  public synchronized void fill(Stream stream, long address, byte value, long bytes) {
    enter(ShimCall.FILL);
    assertThat(heap.device().contains(address, bytes)).as("device memory at " + address).isTrue();
    open(stream)
        .submit(
            () -> {
              ByteBuffer filled = ShimHeap.view(address, bytes);
              while (filled.hasRemaining()) {
                filled.put(value);
              }
            },
            address);
  }

  @Override
  public synchronized void launch(
      Stream stream, Kernel kernel, int blocks, int threads, KernelArguments arguments) {
    enter(ShimCall.LAUNCH);
    String name = ((ShimKernel) kernel).name();
    KernelArguments held = arguments.copy();
    open(stream)
        .submit(
            () -> {
              long parameters = NativeMemory.address(held.pointers());
              try {
                assertThat(ShimLibrary.launch(name, blocks, threads, parameters)).isZero();
              } finally {
                Reference.reachabilityFence(held); // keeps the values during the native call
              }
            },
            held.words().toArray(Long[]::new));
  }

  @Override
  public synchronized void synchronize(Stream stream) {
    synchronize(stream, () -> open(stream).pending() == 0);
  }

  @Override // carries out no more than it must
  public synchronized void synchronize(Stream stream, BooleanSupplier done) {
    enter(ShimCall.SYNCHRONIZE);
    unresponsive |= hangs && open(stream).pending() > 0;
    if (unresponsive) {
      throw new FatalDeviceException("the device does not respond", null);
    }
    while (!done.getAsBoolean()) {
      assertThat(open(stream).pending()).as("work that does what is waited for").isPositive();
      open(stream).run(1);
    }
  }

  @Override
  public synchronized boolean trySynchronize(Stream stream, long timeoutNs) {
    enter(ShimCall.TRY_SYNCHRONIZE);
    unresponsive |= hangs && open(stream).pending() > 0;
    if (!unresponsive) {
      open(stream).runAll();
    }
    return !unresponsive;
  }

  /** Fails if something was not given back, unless the device was lost or hangs. */
  @Override
  public synchronized void close() {
    if (lost || unresponsive) {
      return;
    }
    heap.assertAllGivenBack();
    assertThat(streams).as("open streams").isEmpty();
    assertThat(openEvents).as("open events").isZero();
  }

  private void enter(ShimCall call) {
    enter(call, 0);
  }

  private void enter(ShimCall call, long wantedBytes) {
    int count = counts.merge(call, 1, Integer::sum);
    if (lost) {
      throw failure(call, 700);
    }
    if (unresponsive && call != ShimCall.TRY_SYNCHRONIZE) {
      throw new FatalDeviceException("the device does not respond", null);
    }
    runByChance();
    for (Fault fault : faults) {
      if (fault.call == call && fault.at == count) {
        throw fault.code == OUT_OF_MEMORY && wantedBytes > 0
            ? outOfMemory(call, wantedBytes)
            : failure(call, fault.code);
      }
    }
  }

  private RuntimeException failure(ShimCall call, int code) {
    RuntimeException failure =
        DeviceFailure.of(device, new DriverCallException(call.name(), code, "injected"));
    lost |= failure instanceof FatalDeviceException;
    return failure;
  }

  private RuntimeException outOfMemory(ShimCall call, long wantedBytes) {
    DriverCallException cause =
        new DriverCallException(call.name(), OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY");
    return call == ShimCall.ALLOCATE_PINNED
        ? DeviceFailure.outOfPinnedMemory(wantedBytes, cause)
        : DeviceFailure.outOfMemory(
            device, wantedBytes, device.totalBytes() - heap.device().usedBytes(), cause);
  }

  private ShimStream open(Stream stream) {
    assertThat(streams).as("open streams").contains((ShimStream) stream);
    return (ShimStream) stream;
  }

  private void runByChance() {
    if (!hangs && !streams.isEmpty() && chance.nextInt(CALLS_PER_CHANCE) == 0) {
      ShimStream stream = streams.get(chance.nextInt(streams.size()));
      stream.run(chance.nextInt(stream.pending() + 1));
    }
  }

  private void requireUnused(String what, long address) {
    ShimReach reach = new ShimReach(heap);
    streams.forEach(stream -> stream.addresses().forEach(reach::add));
    assertThat(reach.contains(address))
        .as("pending work may use the %s that is freed; device seed %d", what, seed)
        .isFalse();
  }
}
