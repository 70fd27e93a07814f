package io.kvasir.engine.device;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;

class NvmlTest {

  private static final NvmlDevice BUSY =
      new NvmlDevice(OptionalInt.of(90), OptionalLong.of(0), Optional.empty(), Optional.of(false));

  /** NVML that knows device 0 alone. */
  private record FakeNvml(Runnable start) implements NvmlApi {

    @Override
    public void init() {
      start.run();
    }

    @Override
    public String driverVersion() {
      return "580.1";
    }

    @Override
    public NvmlDevice device(String pciBusId) {
      if (!pciBusId.equals("0000:00:00.0")) {
        throw new DriverCallException("nvmlDeviceGetHandleByPciBusId", 6, "Not Found");
      }
      return BUSY;
    }

    @Override
    public Optional<XidEvents> xidEvents(String pciBusId) {
      return Optional.empty();
    }

    @Override
    public Optional<String> topology(String pciBusId, String otherPciBusId) {
      device(otherPciBusId);
      return Optional.of("host bridge");
    }
  }

  private static final CudaDevice KNOWN = FakeCuda.device(0, 9, 0);
  private static final CudaDevice UNKNOWN = FakeCuda.device(1, 9, 0);

  @Test
  void countersAndTopologyAreReadWhereNvmlKnowsTheDevice() {
    Nvml nvml = Nvml.probe(new FakeNvml(() -> {}));

    assertThat(nvml.isAvailable()).isTrue();
    assertThat(nvml.driverVersion()).hasValue("580.1");
    assertThat(nvml.state(KNOWN)).hasValue(BUSY);
    assertThat(nvml.state(UNKNOWN)).isEmpty();
    assertThat(nvml.topology(UNKNOWN, KNOWN)).hasValue("host bridge");
    assertThat(nvml.topology(KNOWN, UNKNOWN)).isEmpty();
  }

  @Test
  void withoutItsLibrariesNvmlHasItsOwnReason() {
    assertThat(reason(new UnsatisfiedLinkError("a.so: libcudart.so.13: cannot open")))
        .isEqualTo("the CUDA runtime libcudart.so.13 cannot be loaded");
    assertThat(reason(new UnsatisfiedLinkError("a.so: libnvidia-ml.so.1: cannot open")))
        .isEqualTo("libnvidia-ml.so.1 cannot be loaded");
  }

  @Test
  void anNvmlThatDoesNotStartSaysNothingElse() {
    Nvml nvml =
        Nvml.probe(
            new FakeNvml(
                () -> {
                  throw new DriverCallException("nvmlInit", 9, "Driver Not Loaded");
                }));

    assertThat(nvml.unavailability().orElseThrow().reason())
        .isEqualTo("NVML does not start: nvmlInit failed: Driver Not Loaded (9)");
    assertThat(nvml.driverVersion()).isEmpty();
    assertThat(nvml.state(KNOWN)).isEmpty();
    assertThat(nvml.topology(KNOWN, KNOWN)).isEmpty();
  }

  private static String reason(LinkageError failure) {
    Nvml nvml =
        Nvml.probe(
            new FakeNvml(
                () -> {
                  throw failure;
                }));
    return nvml.unavailability().orElseThrow().reason();
  }
}
