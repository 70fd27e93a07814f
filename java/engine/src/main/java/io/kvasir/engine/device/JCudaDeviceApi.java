package io.kvasir.engine.device;

import io.kvasir.engine.device.JCudaAddresses.DeviceAddress;
import io.kvasir.engine.device.JCudaAddresses.HostAddress;
import java.lang.ref.Reference;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.IntSupplier;
import jcuda.Pointer;
import jcuda.driver.CUcontext;
import jcuda.driver.CUdevice;
import jcuda.driver.CUdevice_attribute;
import jcuda.driver.CUevent;
import jcuda.driver.CUevent_flags;
import jcuda.driver.CUfunction;
import jcuda.driver.CUmodule;
import jcuda.driver.CUresult;
import jcuda.driver.CUstream;
import jcuda.driver.CUstream_flags;
import jcuda.driver.JCudaDriver;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * An open device through JCuda. Retains the primary context, which all libraries of the process
 * share, from construction to {@link #close}. Calls make the context current on their thread;
 * launches and waits only if the thread's last call was to another device, or the driver refuses
 * their handles because another library has changed the context.
 */
final class JCudaDeviceApi implements DeviceApi {

  private static final Logger LOG = LoggerFactory.getLogger(JCudaDeviceApi.class);

  /** A wait polls without pause at first, because a submission takes some 20 to 100 us. */
  private static final long SPIN_NS = 500_000;

  private static final long POLL_NS = 50_000;

  /** How long a wait looks at memory before it asks the driver. */
  private static final long LOOK_NS = 10_000;

  /** Results of a call whose handles are not of the current context. */
  private static final Set<Integer> FOREIGN =
      Set.of(
          CUresult.CUDA_ERROR_INVALID_CONTEXT,
          CUresult.CUDA_ERROR_INVALID_HANDLE,
          CUresult.CUDA_ERROR_CONTEXT_IS_DESTROYED);

  /** The device of the thread's last call, unless it was closed there. */
  private static final ThreadLocal<JCudaDeviceApi> ENTERED = new ThreadLocal<>();

  private record JCudaStream(CUstream handle) implements Stream {}

  private record JCudaKernel(CUfunction handle) implements Kernel {}

  private record JCudaEvent(CUevent handle) implements Event {}

  private final CudaDevice device;
  private final long responseNs;
  private final CUdevice handle = new CUdevice();
  private final CUcontext context = new CUcontext();
  private final AtomicBoolean closed = new AtomicBoolean();
  private final CUmodule module = new CUmodule();
  private boolean loaded;

  /** Whether a limited wait ended before the work did. */
  private volatile boolean unresponsive;

  JCudaDeviceApi(CudaDevice device) {
    this(device, PATIENCE_NS);
  }

  /**
   * Opens a device.
   *
   * @param device the device
   * @param responseNs how long {@link #synchronize} waits
   */
  JCudaDeviceApi(CudaDevice device, long responseNs) {
    this.device = device;
    this.responseNs = responseNs;
    check("cuDeviceGet", JCudaDriver.cuDeviceGet(handle, device.ordinal()));
    check("cuDevicePrimaryCtxRetain", JCudaDriver.cuDevicePrimaryCtxRetain(context, handle));
  }

  @Override
  public CudaDevice device() {
    return device;
  }

  @Override
  public long freeBytes() {
    enter();
    long[] free = new long[1];
    check("cuMemGetInfo", JCudaDriver.cuMemGetInfo(free, new long[1]));
    return free[0];
  }

  @Override
  public int multiprocessors() {
    int[] count = new int[1];
    int attribute = CUdevice_attribute.CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT;
    check("cuDeviceGetAttribute", JCudaDriver.cuDeviceGetAttribute(count, attribute, handle));
    return count[0];
  }

  @Override
  public void loadModule(byte[] image) {
    enter();
    check("cuModuleLoadData", JCudaDriver.cuModuleLoadData(module, image));
    loaded = true;
  }

  @Override
  public Kernel kernel(String name) {
    enter();
    CUfunction function = new CUfunction();
    check("cuModuleGetFunction", JCudaDriver.cuModuleGetFunction(function, module, name));
    return new JCudaKernel(function);
  }

  @Override
  public long allocate(long bytes) {
    enter();
    DeviceAddress address = new DeviceAddress(0);
    int result = JCudaDriver.cuMemAlloc(address, bytes);
    if (result == CUresult.CUDA_ERROR_OUT_OF_MEMORY) {
      throw DeviceFailure.outOfMemory(device, bytes, freeBytes(), failed("cuMemAlloc", result));
    }
    check("cuMemAlloc", result);
    return address.value();
  }

  @Override
  public void free(long address) {
    enter();
    check("cuMemFree", JCudaDriver.cuMemFree(new DeviceAddress(address)));
  }

  @Override
  public long allocatePinned(long bytes) {
    enter();
    HostAddress address = new HostAddress(0);
    int flags = JCudaDriver.CU_MEMHOSTALLOC_PORTABLE | JCudaDriver.CU_MEMHOSTALLOC_DEVICEMAP;
    int result = JCudaDriver.cuMemHostAlloc(address, bytes, flags);
    if (result == CUresult.CUDA_ERROR_OUT_OF_MEMORY) {
      throw DeviceFailure.outOfPinnedMemory(bytes, failed("cuMemHostAlloc", result));
    }
    check("cuMemHostAlloc", result);
    return address.value();
  }

  @Override
  public void freePinned(long address) {
    enter();
    check("cuMemFreeHost", JCudaDriver.cuMemFreeHost(new HostAddress(address)));
  }

  @Override
  public Stream openStream(boolean urgent) {
    enter();
    int[] least = new int[1];
    int[] greatest = new int[1];
    check("cuCtxGetStreamPriorityRange", JCudaDriver.cuCtxGetStreamPriorityRange(least, greatest));
    CUstream stream = new CUstream();
    check(
        "cuStreamCreateWithPriority",
        JCudaDriver.cuStreamCreateWithPriority(
            stream, CUstream_flags.CU_STREAM_NON_BLOCKING, urgent ? greatest[0] : least[0]));
    return new JCudaStream(stream);
  }

  @Override
  public void closeStream(Stream stream) {
    enter();
    check("cuStreamDestroy", JCudaDriver.cuStreamDestroy(handle(stream)));
  }

  @Override
  public Event openEvent(boolean timed) {
    enter();
    CUevent event = new CUevent();
    int flags = timed ? CUevent_flags.CU_EVENT_DEFAULT : CUevent_flags.CU_EVENT_DISABLE_TIMING;
    check("cuEventCreate", JCudaDriver.cuEventCreate(event, flags));
    return new JCudaEvent(event);
  }

  @Override
  public void closeEvent(Event event) {
    enter();
    check("cuEventDestroy", JCudaDriver.cuEventDestroy(handle(event)));
  }

  @Override
  public void record(Stream stream, Event event) {
    enter();
    check("cuEventRecord", JCudaDriver.cuEventRecord(handle(event), handle(stream)));
  }

  @Override
  public void await(Stream stream, Event event) {
    enter();
    check("cuStreamWaitEvent", JCudaDriver.cuStreamWaitEvent(handle(stream), handle(event), 0));
  }

  @Override
  public long elapsedNs(Event from, Event to) {
    enter();
    float[] milliseconds = new float[1];
    check(
        "cuEventElapsedTime",
        JCudaDriver.cuEventElapsedTime(milliseconds, handle(from), handle(to)));
    return (long) (milliseconds[0] * 1e6);
  }

  @Override
  public void copy(Stream stream, long destination, long source, long bytes) {
    enter();
    check(
        "cuMemcpyAsync",
        JCudaDriver.cuMemcpyAsync(
            new DeviceAddress(destination), new DeviceAddress(source), bytes, handle(stream)));
  }

  @Override
  public void fill(Stream stream, long address, byte value, long bytes) {
    enter();
    check(
        "cuMemsetD8Async",
        JCudaDriver.cuMemsetD8Async(new DeviceAddress(address), value, bytes, handle(stream)));
  }

  @Override
  public void launch(
      Stream stream, Kernel kernel, int blocks, int threads, KernelArguments arguments) {
    requireUsable();
    Pointer pointers = Pointer.to(arguments.pointers());
    CUfunction function = ((JCudaKernel) kernel).handle();
    CUstream on = handle(stream);
    try {
      check(
          "cuLaunchKernel",
          inContext(
              () ->
                  JCudaDriver.cuLaunchKernel(
                      function, blocks, 1, 1, threads, 1, 1, 0, on, pointers, null)));
    } finally {
      Reference.reachabilityFence(arguments); // keeps the values, which the pointers do not
    }
  }

  @Override
  public void synchronize(Stream stream) {
    if (!trySynchronize(stream, responseNs)) {
      throw unresponsive();
    }
  }

  @Override
  public void synchronize(Stream stream, BooleanSupplier done) {
    long fromNs = System.nanoTime();
    while (!done.getAsBoolean()) {
      if (System.nanoTime() - fromNs > LOOK_NS) {
        if (!waitFor(stream, responseNs, done)) {
          throw unresponsive();
        }
        return;
      }
      Thread.onSpinWait();
    }
  }

  @Override
  public boolean trySynchronize(Stream stream, long timeoutNs) {
    return waitFor(stream, timeoutNs, () -> false);
  }

  private boolean waitFor(Stream stream, long timeoutNs, BooleanSupplier done) {
    if (unresponsive) {
      return false;
    }
    CUstream on = handle(stream);
    long fromNs = System.nanoTime();
    long waitedNs = 0; // before the latest query, so that a pause of this process does not count
    int result = inContext(() -> JCudaDriver.cuStreamQuery(on));
    while (result == CUresult.CUDA_ERROR_NOT_READY && !done.getAsBoolean()) {
      if (waitedNs >= timeoutNs) {
        unresponsive = true;
        return false;
      }
      if (waitedNs < SPIN_NS) {
        Thread.onSpinWait();
      } else {
        LockSupport.parkNanos(POLL_NS);
      }
      waitedNs = System.nanoTime() - fromNs;
      result = JCudaDriver.cuStreamQuery(on);
    }
    if (result != CUresult.CUDA_ERROR_NOT_READY) {
      check("cuStreamQuery", result);
    }
    return true;
  }

  /**
   * Unloads the kernels and releases the context, which is then not current on this thread. A
   * device that does not respond keeps both until the process ends, because its work may still run.
   */
  @Override
  public void close() {
    if (closed.compareAndSet(false, true) && !unresponsive) {
      // On a lost device both calls may fail. The context ends with its last release.
      if (loaded && JCudaDriver.cuCtxSetCurrent(context) == CUresult.CUDA_SUCCESS) {
        logFailure("cuModuleUnload", JCudaDriver.cuModuleUnload(module));
      }
      logFailure("cuCtxSetCurrent", JCudaDriver.cuCtxSetCurrent(new CUcontext()));
      ENTERED.remove();
      logFailure("cuDevicePrimaryCtxRelease", JCudaDriver.cuDevicePrimaryCtxRelease(handle));
    }
  }

  private void logFailure(String call, int result) {
    if (result != CUresult.CUDA_SUCCESS) {
      LOG.debug("Closing {} failed: {}", device.label(), failed(call, result).getMessage());
    }
  }

  private void enter() {
    requireUsable();
    makeCurrent();
  }

  private void makeCurrent() {
    requireOpen();
    check("cuCtxSetCurrent", JCudaDriver.cuCtxSetCurrent(context));
    ENTERED.set(this);
  }

  /** Makes a call whose handles are of this context: the driver should refuse it in another. */
  private int inContext(IntSupplier call) {
    requireOpen();
    if (ENTERED.get() == this) {
      int result = call.getAsInt();
      if (!FOREIGN.contains(result)) {
        return result;
      }
    }
    makeCurrent();
    return call.getAsInt();
  }

  private void requireOpen() {
    if (closed.get()) {
      throw new IllegalStateException(device.label() + " is closed");
    }
  }

  private void requireUsable() {
    requireOpen();
    if (unresponsive) {
      throw unresponsive();
    }
  }

  private FatalDeviceException unresponsive() {
    return new FatalDeviceException(
        device.label() + " does not respond: its work does not end", null);
  }

  private static CUstream handle(Stream stream) {
    return ((JCudaStream) stream).handle();
  }

  private static CUevent handle(Event event) {
    return ((JCudaEvent) event).handle();
  }

  private void check(String call, int result) {
    if (result != CUresult.CUDA_SUCCESS) {
      throw DeviceFailure.of(device, failed(call, result));
    }
  }

  private static DriverCallException failed(String call, int result) {
    return new DriverCallException(call, result, CUresult.stringFor(result));
  }
}
