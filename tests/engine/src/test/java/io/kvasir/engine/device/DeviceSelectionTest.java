package io.kvasir.engine.device;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kvasir.engine.device.DeviceSelection.Target;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class DeviceSelectionTest {

  private static final CudaDriver TWO_HOPPERS =
      driver(FakeCuda.with(13000, FakeCuda.device(0, 9, 0), FakeCuda.device(1, 9, 0)));
  private static final CudaDriver OLD_AND_NEW =
      driver(FakeCuda.with(13000, FakeCuda.device(0, 7, 0), FakeCuda.device(1, 9, 0)));

  @Test
  void textIsRead() {
    assertThat(DeviceSelection.parse("auto")).isEqualTo(DeviceSelection.AUTO);
    assertThat(DeviceSelection.parse(" cpu ").target()).isEqualTo(Target.CPU);
    assertThat(DeviceSelection.parse("cuda"))
        .isEqualTo(new DeviceSelection(Target.CUDA, List.of()));
    assertThat(DeviceSelection.parse("cuda:3,0").ordinals()).containsExactly(3, 0);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "gpu",
        "CUDA0",
        "cuda:",
        "cuda:0,",
        "cuda:-1",
        "cuda:0,0",
        "cuda:a",
        "cuda:99999"
      })
  void otherTextIsRefused(String text) {
    assertThatThrownBy(() -> DeviceSelection.parse(text))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageStartingWith("must be auto, cpu, cuda or cuda:0,1,...")
        .hasMessageEndingWith("not '" + text + "'");
  }

  @Test
  void theCpuNeedsNoReasonAndAsksNoDriver() throws DeviceUnavailableException {
    assertThat(
            DeviceSelection.parse("cpu")
                .resolve(
                    () -> {
                      throw new AssertionError("the driver was asked");
                    },
                    () -> {
                      throw new AssertionError("the kernels were asked for");
                    }))
        .isEqualTo(new DeviceSelection.Resolution(List.of(), Optional.empty()));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = ' ',
      value = {"cuda 0,1", "cuda:0 0", "cuda:1,0 1,0", "auto 0,1"})
  void usableDevicesAreTakenInTheOrderGiven(String text, String ordinals)
      throws DeviceUnavailableException {
    assertThat(taken(text, TWO_HOPPERS)).isEqualTo(ordinals);
  }

  @Test
  void oneUsableDeviceIsEnoughUnlessAnotherIsNamed() throws DeviceUnavailableException {
    assertThat(taken("auto", OLD_AND_NEW)).isEqualTo("1");
    assertThat(taken("cuda", OLD_AND_NEW)).isEqualTo("1");
    assertThat(taken("cuda:1", OLD_AND_NEW)).isEqualTo("1");
    assertThat(reason("cuda:0", OLD_AND_NEW)).contains("do not run on device 0, GPU 0 (sm_70)");
    assertThat(reason("cuda:1,0", OLD_AND_NEW)).contains("do not run on device 0");
  }

  @Test
  void theFirstObstacleIsTold() throws DeviceUnavailableException {
    CudaDriver none = driver(new UnlinkedCuda("x: libcuda.so.1: cannot open"));
    CudaDriver old = driver(FakeCuda.with(10020, FakeCuda.device(0, 9, 0)));
    for (String text : List.of("auto", "cuda", "cuda:5")) {
      assertThat(reason(text, none)).startsWith("there is no NVIDIA driver");
    }
    assertThat(reason("auto", old)).startsWith("the driver is too old");
    assertThat(reason("cuda:0", old)).startsWith("the driver is too old");
    assertThat(reason("cuda:0,2", TWO_HOPPERS))
        .isEqualTo("there is no CUDA device 2; devices are 0 to 1");
    assertThat(DeviceSelection.AUTO.resolve(() -> TWO_HOPPERS, Optional::empty).fallback())
        .hasValue(KernelModule.ABSENT);
  }

  private static String taken(String text, CudaDriver driver) throws DeviceUnavailableException {
    DeviceSelection.Resolution resolution = resolve(text, driver);
    assertThat(resolution.fallback()).isEmpty();
    return resolution.devices().stream()
        .map(device -> String.valueOf(device.ordinal()))
        .collect(Collectors.joining(","));
  }

  /** Why the CPU is used, or why there is nothing to use. */
  private static String reason(String text, CudaDriver driver) {
    try {
      return resolve(text, driver).fallback().orElseThrow().reason();
    } catch (DeviceUnavailableException e) {
      assertThat(DeviceSelection.parse(text).target()).isEqualTo(Target.CUDA);
      return e.getMessage();
    }
  }

  private static DeviceSelection.Resolution resolve(String text, CudaDriver driver)
      throws DeviceUnavailableException {
    return DeviceSelection.parse(text).resolve(() -> driver, () -> Optional.of(FakeCuda.KERNELS));
  }

  private static CudaDriver driver(CudaApi api) {
    return CudaDriver.probe(api, Map.of());
  }
}
