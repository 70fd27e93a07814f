package io.kvasir.engine.device;

/**
 * One CUDA device in use: its memory, streams and kernels. The port that everything on a device
 * works through, so that it can be tested without one. Thread-safe; each call names what it works
 * on, nothing depends on the calling thread.
 *
 * <p>Addresses are those of unified addressing: device memory and page-locked host memory are told
 * apart by their value alone. Work on one stream runs in order; calls that put it there do not wait
 * for it.
 *
 * <p>Every method may throw {@link RetryableDeviceException} if the device can still be used and
 * {@link FatalDeviceException} if it cannot, be it for an error of earlier work that shows now.
 */
public interface DeviceApi extends AutoCloseable {

  /** Work in order. */
  interface Stream {}

  /** A function of the loaded module. */
  interface Kernel {}

  /** A point in a stream. */
  interface Event {}

  /**
   * The device.
   *
   * @return its description
   */
  CudaDevice device();

  /**
   * Memory of the device that is free now, as the driver says.
   *
   * @return bytes
   */
  long freeBytes();

  /**
   * How many multiprocessors the device has.
   *
   * @return at least 1
   */
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
   * @return the kernel, valid as long as this
   */
  Kernel kernel(String name);

  /**
   * Takes device memory.
   *
   * @param bytes at least 1
   * @return its address, a multiple of 256; the memory holds anything
   * @throws DeviceOutOfMemoryException if there is not that much
   */
  long allocate(long bytes);

  /**
   * Gives device memory back. Waits for work that uses it.
   *
   * @param address what {@link #allocate} returned
   */
  void free(long address);

  /**
   * Takes page-locked host memory that the device can use too.
   *
   * @param bytes at least 1
   * @return its address, for host and device, a multiple of 4,096; the memory holds anything
   * @throws DeviceOutOfMemoryException if the system refuses
   */
  long allocatePinned(long bytes);

  /**
   * Gives page-locked memory back.
   *
   * @param address what {@link #allocatePinned} returned
   */
  void freePinned(long address);

  /**
   * Page-locks host memory of somebody else, such as a mapped file, and lets the device use it.
   *
   * @param address a multiple of 4,096
   * @param bytes at least 1
   * @return the address that kernels must use
   */
  long pin(long address, long bytes);

  /**
   * Ends {@link #pin}.
   *
   * @param address the host's address
   */
  void unpin(long address);

  /**
   * Makes a stream.
   *
   * @param urgent whether its work goes before that of others
   * @return the stream
   */
  Stream openStream(boolean urgent);

  /**
   * Ends a stream; work that it still has is carried out.
   *
   * @param stream the stream
   */
  void closeStream(Stream stream);

  /**
   * Makes an event that measures time.
   *
   * @return the event
   */
  Event openEvent();

  /**
   * Ends an event.
   *
   * @param event the event
   */
  void closeEvent(Event event);

  /**
   * Marks where a stream is now.
   *
   * @param stream the stream
   * @param event the mark; an earlier one is forgotten
   */
  void record(Stream stream, Event event);

  /**
   * Lets later work of a stream wait for a mark.
   *
   * @param stream the stream that waits
   * @param event a recorded event
   */
  void await(Stream stream, Event event);

  /**
   * Time between two marks that have been passed.
   *
   * @param from the earlier one
   * @param to the later one
   * @return nanoseconds; the device's clock ticks about every 500
   */
  long elapsedNs(Event from, Event to);

  /**
   * Copies memory.
   *
   * @param stream when
   * @param destination device or page-locked memory
   * @param source device or page-locked memory
   * @param bytes at least 1
   */
  void copy(Stream stream, long destination, long source, long bytes);

  /**
   * Fills memory.
   *
   * @param stream when
   * @param address device memory
   * @param value of each byte
   * @param bytes at least 1
   */
  void fill(Stream stream, long address, byte value, long bytes);

  /**
   * Launches a kernel. What the arguments hold is read before this returns.
   *
   * @param stream when
   * @param kernel what
   * @param blocks blocks of threads, at least 1
   * @param threads of each block, whole warps
   * @param arguments one for each parameter
   */
  void launch(Stream stream, Kernel kernel, int blocks, int threads, KernelArguments arguments);

  /**
   * Waits until a stream has nothing left to do.
   *
   * @param stream the stream
   */
  void synchronize(Stream stream);

  /** Leaves the device; everything that was taken from it must have been given back. */
  @Override
  void close();
}
