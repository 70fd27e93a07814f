package io.kvasir.cli;

import io.kvasir.cli.terminal.Machine;
import io.kvasir.engine.device.CudaApi;
import io.kvasir.engine.device.CudaDevice;
import io.kvasir.engine.device.CudaDriver;
import io.kvasir.engine.device.DeviceApi;
import io.kvasir.engine.device.DriverCallException;
import io.kvasir.engine.device.FatalDeviceException;
import io.kvasir.engine.device.KernelModule;
import io.kvasir.engine.device.NativeLibrary;
import io.kvasir.engine.device.Nvml;
import io.kvasir.engine.device.NvmlApi;
import io.kvasir.engine.device.NvmlDevice;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Properties;

/** Machines that do not exist: one without a GPU, and one with three. */
final class FakeMachine {

  private FakeMachine() {}

  static Machine withoutGpu() {
    return machine(new NoDriver(), new NoNvml("libcudart.so.13"), Optional.empty());
  }

  /** As a machine on which the driver's library is all that is missing. */
  static Machine withoutDriver() {
    return machine(new NoDriver(), new NoNvml("libcuda.so.1"), Optional.empty());
  }

  /** An H100, a MIG instance whose memory cannot be asked for, and a GPU that is too old. */
  static Machine withGpus() {
    List<CudaDevice> devices =
        List.of(
            new CudaDevice(0, "NVIDIA H100", "aa-bb", "0000:1A:00.0", 9, 0, 80L << 30, 1),
            new CudaDevice(1, "NVIDIA H100 MIG 1g", "cc-dd", "0000:3B:00.0", 9, 0, 10L << 30, -1),
            new CudaDevice(2, "Tesla V100", "ee-ff", "0000:5C:00.0", 7, 0, 16L << 30, 0));
    KernelModule module =
        new KernelModule(4712, List.of("sm_80", "compute_80"), "13.0", 1, "compute_80");
    return machine(new Driver(devices), new Counters(), Optional.of(module));
  }

  private static Machine machine(CudaApi cuda, NvmlApi nvml, Optional<KernelModule> module) {
    Properties java = new Properties();
    java.setProperty("java.version", "17.0.1");
    java.setProperty("java.vendor", "Acme");
    java.setProperty("os.name", "Linux");
    java.setProperty("os.arch", "amd64");
    NativeLibrary library =
        new NativeLibrary(Optional.of("/lib/x.so"), OptionalInt.of(1), Optional.empty());
    return new Machine(
        java,
        () -> library,
        () -> module,
        () -> CudaDriver.probe(cuda, Map.of()),
        () -> Nvml.probe(nvml));
  }

  private static final class NoDriver extends Driver {
    NoDriver() {
      super(List.of());
    }

    @Override
    public int driverVersion() {
      throw new UnsatisfiedLinkError("x.so: libcuda.so.1: cannot open shared object file");
    }
  }

  private static class Driver implements CudaApi {
    private final List<CudaDevice> devices;

    Driver(List<CudaDevice> devices) {
      this.devices = devices;
    }

    @Override
    public int driverVersion() {
      return 13000;
    }

    @Override
    public void init() {}

    @Override
    public int deviceCount() {
      return devices.size();
    }

    @Override
    public CudaDevice device(int ordinal) {
      return devices.get(ordinal);
    }

    @Override
    public long freeBytes(int ordinal) {
      if (ordinal == 1) {
        throw new DriverCallException("cuDevicePrimaryCtxRetain", 46, "CUDA_ERROR");
      }
      return devices.get(ordinal).totalBytes() / 2;
    }

    @Override
    public DeviceApi open(CudaDevice device) {
      throw new FatalDeviceException(device.label() + " is lost: ECC", null);
    }

    @Override
    public boolean canAccessPeer(int from, int to) {
      return from != 1 && to != 1;
    }
  }

  private static class Counters implements NvmlApi {
    @Override
    public void init() {}

    @Override
    public String driverVersion() {
      return "580.65.06";
    }

    @Override
    public NvmlDevice device(String pciBusId) {
      return switch (pciBusId) {
        case "0000:1A:00.0" ->
            new NvmlDevice(
                OptionalInt.of(37),
                OptionalLong.of(2),
                Optional.of("pending: reset the GPU"),
                Optional.of(false));
        case "0000:3B:00.0" ->
            new NvmlDevice(
                OptionalInt.empty(), OptionalLong.empty(), Optional.empty(), Optional.of(true));
        default -> throw new DriverCallException("nvmlDeviceGetHandleByPciBusId", 6, "Not Found");
      };
    }

    @Override
    public Optional<XidEvents> xidEvents(String pciBusId) {
      return Optional.empty();
    }

    @Override
    public Optional<String> topology(String pciBusId, String otherPciBusId) {
      return pciBusId.startsWith("0000:1A") ? Optional.of("host bridge") : Optional.empty();
    }
  }

  private static final class NoNvml extends Counters {
    private final String missing;

    NoNvml(String missing) {
      this.missing = missing;
    }

    @Override
    public void init() {
      throw new UnsatisfiedLinkError("y.so: " + missing + ": cannot open shared object file");
    }
  }
}
