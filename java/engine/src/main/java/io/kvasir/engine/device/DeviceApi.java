package io.kvasir.engine.device;

import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/**
 * One open CUDA device: its memory, streams and kernels. A port, so that its users can be tested
 * without a device. Thread-safe. No call depends on state of the calling thread.
 *
 * <p>Addresses are those of unified addressing: the value alone distinguishes device memory from
 * page-locked host memory. Work on one stream runs in order. Calls that enqueue work do not wait
 * for it. Memory, streams and events are released only when no pending work uses them: the driver
 * does not check this, and work that continues writes into memory that others may have allocated
 * since. {@link ReleaseSteps#onceIdle} does both in order.
 *
 * <p>Every method may throw {@link RetryableDeviceException} if the device can still be used and
 * {@link FatalDeviceException} if it cannot. The error may be one of work that was enqueued
 * earlier.
 */
public interface DeviceApi extends AutoCloseable {

  /** The longest wait for the work of a stream, far above the duration of a step of an engine. */
  long PATIENCE_NS = TimeUnit.SECONDS.toNanos(30);

  /** A queue of work that runs in order. */
  interface Stream {}

  /** A function of the loaded module. */
  interface Kernel {}

  /** A point in a stream. */
  interface Event {}

  /** {@return the description of the device} */
  CudaDevice device();

  /** {@return the bytes of device memory that are free now, as the driver reports them} */
  long freeBytes();

  /** {@return the number of multiprocessors of the device, at least 1} */
  int multiprocessors();

  /**
   * Loads the kernels. Called once, before {@link #kernel}.
   *
   * @param module a fatbin
   * @throws FatalDeviceException if the driver or the device cannot run them
   */
  void loadModule(byte[] module);

  /**
   * Finds a kernel.
   *
   * @param name its name
   * @return the kernel, valid until {@link #close}
   */
  Kernel kernel(String name);

  /**
   * Allocates device memory.
   *
   * @param bytes at least 1
   * @return its address, a multiple of 256; the contents are undefined
   * @throws DeviceOutOfMemoryException if there is too little memory
   */
  long allocate(long bytes);

  /**
   * Frees device memory, which no pending work may use.
   *
   * @param address an address that {@link #allocate} returned
   */
  void free(long address);

  /**
   * Allocates page-locked host memory that the device can also access.
   *
   * @param bytes at least 1
   * @return its address, for host and device, a multiple of 4,096; the contents are undefined
   * @throws DeviceOutOfMemoryException if the system refuses
   */
  long allocatePinned(long bytes);

  /**
   * Frees page-locked memory, which no pending work may use.
   *
   * @param address an address that {@link #allocatePinned} returned
   */
  void freePinned(long address);

  /**
   * Creates a stream.
   *
   * @param urgent whether its work has priority over that of other streams
   * @return the stream
   */
  Stream openStream(boolean urgent);

  /**
   * Closes a stream, which must have no pending work.
   *
   * @param stream the stream
   */
  void closeStream(Stream stream);

  /**
   * Creates an event.
   *
   * @param timed whether it can measure time, which makes it more expensive to record
   * @return the event
   */
  Event openEvent(boolean timed);

  /**
   * Closes an event.
   *
   * @param event the event
   */
  void closeEvent(Event event);

  /**
   * Records an event at the current end of a stream's work.
   *
   * @param stream the stream
   * @param event the event; replaces an earlier recording
   */
  void record(Stream stream, Event event);

  /**
   * Makes later work of a stream wait for an event.
   *
   * @param stream the stream that waits
   * @param event a recorded event
   */
  void await(Stream stream, Event event);

  /**
   * Time between two events that have occurred.
   *
   * @param from the earlier event, a timed one
   * @param to the later event, a timed one
   * @return nanoseconds, with a resolution of about 500
   */
  long elapsedNs(Event from, Event to);

  /**
   * Copies memory.
   *
   * @param stream the stream that carries this out
   * @param destination device or page-locked memory
   * @param source device or page-locked memory
   * @param bytes at least 1
   */
  void copy(Stream stream, long destination, long source, long bytes);

  /**
   * Fills memory.
   *
   * @param stream the stream that carries this out
   * @param address device memory
   * @param value the value of each byte
   * @param bytes at least 1
   */
  void fill(Stream stream, long address, byte value, long bytes);

  /**
   * Launches a kernel. The arguments' values are read before this returns.
   *
   * @param stream the stream that carries this out
   * @param kernel the kernel
   * @param blocks number of thread blocks, at least 1
   * @param threads threads of each block, a multiple of the warp size
   * @param arguments one argument for each parameter
   */
  void launch(Stream stream, Kernel kernel, int blocks, int threads, KernelArguments arguments);

  /**
   * Waits until a stream has no pending work, for {@link #PATIENCE_NS} at most. After that the
   * device counts as unresponsive, as after {@link #trySynchronize}.
   *
   * @param stream the stream
   * @throws FatalDeviceException if the device does not respond
   */
  void synchronize(Stream stream);

  /**
   * Waits as {@link #synchronize(Stream)}, but returns as soon as a condition holds, such as a
   * value of a word in page-locked memory that the last work writes last. The driver says later
   * than this word that the work is complete.
   *
   * @param stream the stream
   * @param done the condition, which holds once the stream has no pending work; called often
   * @throws FatalDeviceException if the device does not respond
   */
  default void synchronize(Stream stream, BooleanSupplier done) {
    synchronize(stream);
  }

  /**
   * Waits until a stream has no pending work, for a limited time: a device may stop responding
   * without an error. After the first wait that was too short, the device counts as unresponsive:
   * this returns false for all of its streams, because they share memory, and every other call but
   * {@link #close} throws {@link FatalDeviceException}.
   *
   * @param stream the stream
   * @param timeoutNs the longest wait, in nanoseconds
   * @return whether the stream has no pending work and the device responds
   */
  boolean trySynchronize(Stream stream, long timeoutNs);

  /**
   * Closes the device. All memory, streams and events must have been released before, except those
   * that pending work of a lost device may use.
   */
  @Override
  void close();
}
