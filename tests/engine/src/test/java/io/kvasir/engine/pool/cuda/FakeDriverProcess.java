package io.kvasir.engine.pool.cuda;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.kvasir.engine.device.CudaDriver;
import io.kvasir.engine.device.DeviceApi;
import io.kvasir.engine.device.DeviceApi.Event;
import io.kvasir.engine.device.DeviceApi.Stream;
import io.kvasir.engine.device.DeviceOutOfMemoryException;
import io.kvasir.engine.device.FakeDriverDevice;
import io.kvasir.engine.device.FatalDeviceException;
import io.kvasir.engine.device.KernelArguments;
import io.kvasir.engine.execute.RankPools;
import io.kvasir.engine.pool.PoolShape;
import io.kvasir.engine.pool.RandomPoolRun;
import io.kvasir.internal.nativelib.NativeMemory;
import io.kvasir.testing.pool.PoolChurn;
import io.kvasir.testing.pool.PoolScenario;
import io.kvasir.testing.pool.TestHash;
import java.nio.ByteBuffer;
import java.util.concurrent.TimeUnit;
import jcuda.driver.CUcontext;
import jcuda.driver.CUdevice;
import jcuda.driver.JCudaDriver;

/** What {@link FakeDriverTest} does in processes of its own; prints OK when all was well. */
final class FakeDriverProcess {

  private static final int PAGE = 4096;

  private FakeDriverProcess() {}

  /**
   * Does one of the things.
   *
   * @param arguments which
   */
  public static void main(String[] arguments) {
    switch (arguments[0]) {
      case "device" -> useDevice();
      case "history" -> runHistory();
      case "memory" -> exhaustMemory();
      case "lose" -> loseDevice();
      case "close" -> closeDuringSubmissions();
      case "hang" -> closeDeviceThatHangs();
      case "wait" -> waitForDeviceThatHangs();
      case "context" -> changeTheContext();
      default -> releaseInUse(arguments[0]);
    }
    System.out.println("OK");
  }

  private static void useDevice() {
    assertThat(CudaDriver.system().devices()).hasSize(1);
    assertThat(CudaDriver.system().version()).hasValue(13_000);
    try (DeviceApi device = FakeDriverDevice.open()) {
      try (DeviceApi again = FakeDriverDevice.open()) {
        assertThat(again.freeBytes()).isEqualTo(device.freeBytes());
      }
      assertThat(device.device().label()).isEqualTo("CUDA device 0 (Fake GPU)");
      assertThat(device.device().pciBusId()).isEqualTo("0000:1F:00.0");
      assertThat(device.device().architecture()).isEqualTo("sm_90");
      assertThat(device.multiprocessors()).isEqualTo(2);
      long freeBytes = device.freeBytes();
      assertThat(CudaDriver.system().freeBytes(device.device())).hasValue(freeBytes);
      copyBothWays(device);
      measure(device);
      assertThatThrownBy(() -> device.kernel("no_such_kernel"))
          .isInstanceOf(FatalDeviceException.class)
          .hasMessageContaining("cuModuleGetFunction failed: CUDA_ERROR_NOT_FOUND (500)");
      assertThat(device.freeBytes()).isEqualTo(freeBytes);
    }
    CUcontext left = new CUcontext();
    assertThat(JCudaDriver.cuCtxGetCurrent(left)).isZero();
    assertThat(left).as("the thread's context after the close").isEqualTo(new CUcontext());
  }

  private static void copyBothWays(DeviceApi device) {
    Stream stream = device.openStream(false);
    long pinned = device.allocatePinned(2 * PAGE);
    assertThat(pinned % PAGE).isZero();
    long memory = device.allocate(PAGE);
    assertThat(memory % 256).isZero();
    ByteBuffer words = NativeMemory.view(pinned, 2 * PAGE);
    for (int i = 0; i < PAGE; i += Long.BYTES) {
      words.putLong(i, 0x0123456789abcdefL * i);
    }
    device.copy(stream, memory, pinned, PAGE);
    device.copy(stream, pinned + PAGE, memory, PAGE);
    boolean[] asked = new boolean[1];
    device.synchronize(stream, () -> asked[0] = true); // returns although there is work
    assertThat(asked[0]).isTrue();
    device.synchronize(stream, () -> words.getLong(PAGE + 8) == words.getLong(8));
    device.synchronize(stream, () -> false);
    assertThat(words.slice(0, PAGE)).isEqualTo(words.slice(PAGE, PAGE));
    device.fill(stream, memory + 8, (byte) -3, 8);
    device.copy(stream, pinned, memory, 16);
    assertThat(device.trySynchronize(stream, Long.MAX_VALUE)).isTrue();
    assertThat(words.getLong(0)).isZero();
    assertThat(words.getLong(8)).isEqualTo(0xfdfdfdfdfdfdfdfdL);
    device.free(memory);
    device.freePinned(pinned);
    device.closeStream(stream);
  }

  private static void measure(DeviceApi device) {
    Stream first = device.openStream(false);
    Stream second = device.openStream(true);
    Event from = device.openEvent(true);
    Event to = device.openEvent(true);
    device.record(first, from);
    device.await(second, from);
    device.record(second, to);
    device.synchronize(second);
    assertThat(device.elapsedNs(from, to)).isNotNegative();
    Event untimed = device.openEvent(false);
    device.record(second, untimed);
    device.synchronize(second);
    assertThatThrownBy(() -> device.elapsedNs(from, untimed))
        .hasMessageContaining("CUDA_ERROR_INVALID_HANDLE");
    device.closeEvent(untimed);
    device.closeEvent(from);
    device.closeEvent(to);
    device.closeStream(first);
    device.closeStream(second);
  }

  private static void runHistory() {
    PoolShape shape = new PoolShape(40, 3, 8, 20, 64);
    try (DeviceApi device = FakeDriverDevice.open()) {
      long freeBytes = device.freeBytes();
      try (CudaBlockPool pool = CudaBlockPool.create(device, shape, 100)) {
        new RandomPoolRun(pool, TestHash.STRONG, 5).run(200, 3);
        assertThat(pool.occupancy().evictedBlocks()).isPositive();
      }
      try (RankPools pools = RankPools.onHost(1, shape);
          CudaBlockPool pool = CudaBlockPool.create(device, shape, 0)) {
        PoolChurn onHost = new PoolChurn(pools.pools().get(0), 5);
        PoolChurn onDevice = new PoolChurn(pool, 5);
        for (int step = 0; step < 100; step++) {
          onHost.comeOrGo();
          onDevice.comeOrGo();
          pool.settle();
          assertThat(pool.occupancy()).isEqualTo(pools.pools().get(0).occupancy());
        }
      }
      assertThat(device.freeBytes()).isEqualTo(freeBytes);
    }
  }

  private static void closeDuringSubmissions() {
    PoolShape shape = PoolScenario.shape(8, 4, 0);
    try (DeviceApi device = FakeDriverDevice.open()) {
      long freeBytes = device.freeBytes();
      for (int round = 0; round < 20; round++) {
        try (CudaBlockPool pool = CudaBlockPool.create(device, shape, 16)) {
          PoolScenario scenario = new PoolScenario(pool);
          scenario.commit(scenario.start(scenario.want("ABC")), "ABC", 0, 3);
          pool.submit();
        }
        assertThat(device.freeBytes()).isEqualTo(freeBytes);
      }
    }
  }

  /** The driver carries nothing out after some launches. */
  private static void closeDeviceThatHangs() {
    DeviceApi device = FakeDriverDevice.open();
    Stream stream = device.openStream(false);
    try (CudaBlockPool pool = CudaBlockPool.create(device, PoolScenario.shape(8, 4, 0), 16)) {
      long word = device.allocatePinned(PAGE);
      for (int launch = 0; launch < 40; launch++) {
        assertThat(device.trySynchronize(stream, Long.MAX_VALUE)).isTrue();
        device.fill(stream, pool.deviceBlocks().kv(), (byte) 0, 16);
        KernelArguments arguments = KernelArguments.words(1).set(0, word);
        device.launch(stream, device.kernel("kvasir_module_abi"), 1, 32, arguments);
        if (!device.trySynchronize(stream, 1)) {
          break;
        }
      }
      assertThat(device.trySynchronize(stream, Long.MAX_VALUE)).isFalse();
    }
    device.close();
    assertThatThrownBy(device::freeBytes).isInstanceOf(IllegalStateException.class);
  }

  /** What the first call of the pool throws that finds the device lost. */
  private static Throwable lossDuringUse(PoolScenario pool) {
    Throwable loss = null;
    for (int round = 0; loss == null; round++) {
      assertThat(round).isLessThan(100);
      loss = catchThrowable(() -> pool.cache("ABC"));
    }
    return loss;
  }

  /** As {@link #closeDeviceThatHangs}; a call of the pool waits for it. */
  private static void waitForDeviceThatHangs() {
    DeviceApi device = FakeDriverDevice.open(TimeUnit.MILLISECONDS.toNanos(200));
    try (PoolScenario pool =
        new PoolScenario(CudaBlockPool.create(device, PoolScenario.shape(8, 4, 0), 0))) {
      assertThat(lossDuringUse(pool))
          .isInstanceOf(FatalDeviceException.class)
          .hasMessageContaining("CUDA device 0 (Fake GPU) does not respond");
      assertThatThrownBy(pool::occupancy).isInstanceOf(FatalDeviceException.class);
      assertThatThrownBy(device::freeBytes).isInstanceOf(FatalDeviceException.class);
    }
    device.close();
  }

  /** Another library makes its own context current on the pool's thread, or none. */
  private static void changeTheContext() {
    try (DeviceApi device = FakeDriverDevice.open();
        PoolScenario pool =
            new PoolScenario(CudaBlockPool.create(device, PoolScenario.shape(8, 4, 0), 0))) {
      CUcontext other = new CUcontext();
      assertThat(JCudaDriver.cuCtxCreate(other, 0, new CUdevice())).isZero();
      for (int round = 0; round < 20; round++) {
        CUcontext changed = round % 2 == 0 ? other : new CUcontext();
        assertThat(JCudaDriver.cuCtxSetCurrent(changed)).isZero();
        pool.cache("ABC");
        assertThat(JCudaDriver.cuCtxSetCurrent(changed)).isZero();
        assertThat(device.freeBytes()).isPositive();
      }
      assertThat(pool.held("ABC")).isEqualTo(3);
    }
  }

  /** Makes a mistake that ends the process. The driver carries nothing out after this launch. */
  private static void releaseInUse(String mistake) {
    DeviceApi device = FakeDriverDevice.open();
    Stream stream = device.openStream(false);
    long memory = device.allocate(PAGE);
    long pinned = device.allocatePinned(PAGE);
    long pointedTo = device.allocatePinned(PAGE);
    NativeMemory.view(pinned, PAGE).putLong(8, pointedTo + 5);
    KernelArguments arguments = KernelArguments.words(1).set(0, pinned);
    device.launch(stream, device.kernel("kvasir_module_abi"), 1, 32, arguments);
    device.copy(stream, memory, pinned, PAGE);
    switch (mistake) {
      case "closeStream" -> device.closeStream(stream);
      case "free" -> device.free(memory);
      case "freePinned" -> device.freePinned(pinned);
      case "freePointedTo" -> device.freePinned(pointedTo);
      case "unload" -> device.close();
      default -> throw new IllegalArgumentException(mistake);
    }
  }

  private static void exhaustMemory() {
    try (DeviceApi device = FakeDriverDevice.open()) {
      long freeBytes = device.freeBytes();
      PoolShape shape = PoolScenario.shape(8, 4, 0);
      Throwable refusal = catchThrowable(() -> CudaBlockPool.create(device, shape, 1 << 30));
      assertThat(refusal)
          .isInstanceOf(DeviceOutOfMemoryException.class)
          .hasMessageContaining("CUDA device 0 (Fake GPU) has too little memory: ")
          .hasMessageContaining(" bytes were wanted, " + freeBytes + " are free");
      assertThat(((DeviceOutOfMemoryException) refusal).wantedBytes()).isGreaterThan(8L << 30);
      assertThat(device.freeBytes()).isEqualTo(freeBytes);
      CudaBlockPool.create(device, shape, 1 << 10).close();
    }
  }

  /** The driver was told to lose its device at some launch. */
  private static void loseDevice() {
    try (DeviceApi device = FakeDriverDevice.open();
        PoolScenario pool =
            new PoolScenario(CudaBlockPool.create(device, PoolScenario.shape(8, 4, 0), 0))) {
      assertThat(lossDuringUse(pool))
          .isInstanceOf(FatalDeviceException.class)
          .hasMessageContaining("is lost: cuLaunchKernel failed: CUDA_ERROR_ILLEGAL_ADDRESS (700)");
      assertThatThrownBy(pool::occupancy).isInstanceOf(FatalDeviceException.class);
      assertThatThrownBy(() -> pool.start(pool.want("A"))).isInstanceOf(FatalDeviceException.class);
      assertThatThrownBy(device::freeBytes).isInstanceOf(FatalDeviceException.class);
      assertThatThrownBy(() -> device.allocate(1)).isInstanceOf(FatalDeviceException.class);
    }
  }
}
