package io.kvasir.engine.device;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class CudaDriverTest {

  @Test
  void aDriverWithDevicesIsAvailable() {
    CudaDriver driver = probe(FakeCuda.with(12080, device(0), device(1), device(2)));

    assertThat(driver.isAvailable()).isTrue();
    assertThat(driver.unavailability()).isEmpty();
    assertThat(driver.version()).hasValue(12080);
    assertThat(driver.devices()).hasSize(3);
    assertThat(driver.freeBytes(device(0))).hasValue(60);
    assertThat(driver.freeBytes(device(1))).as("the device refuses").isEmpty();
    assertThat(driver.peers(device(0))).containsExactly(device(1), device(2));
    assertThat(driver.peers(device(1))).containsExactly(device(0));
    assertThat(driver.peers(device(2))).as("the device refuses").isEmpty();
  }

  @Test
  void noDriverIsAReason() {
    CudaDriver driver =
        probe(unlinked("/x/libB.so: libcuda.so.1: cannot open shared object file: No such file"));

    assertThat(driver.isAvailable()).isFalse();
    assertThat(driver.version()).isEmpty();
    assertThat(driver.devices()).isEmpty();
    assertThat(reason(driver))
        .isEqualTo("there is no NVIDIA driver: libcuda.so.1 cannot be loaded");
  }

  @Test
  void bindingsThatAreAbsentOrForeignAreAReason() {
    assertThat(reason(probe(unlinked("no B in java.library.path: /usr/lib"))))
        .isEqualTo("the CUDA bindings' libraries are not in java.library.path");
    assertThat(reason(probe(unlinked("libB.so: wrong ELF class\nmore"))))
        .isEqualTo("the CUDA bindings cannot be loaded: libB.so: wrong ELF class");
    assertThat(reason(probe(unlinked(null)))).startsWith("the CUDA bindings cannot be loaded");
  }

  @ParameterizedTest
  @CsvSource({
    "100, the driver sees no GPU, nvidia-smi",
    "34, the toolkit's stub, LD_LIBRARY_PATH",
    "802, fabric, nvidia-fabricmanager",
    "803, different versions, reboot",
    "805, MPS, nvidia-cuda-mps-control",
    "999, cuInit failed: CUDA_ERROR (999), /dev/nvidia-uvm",
    "3, cuInit failed: CUDA_ERROR (3), nvidia-smi",
  })
  void errorsOfTheDriverAreReasonsWithRemedies(int code, String reason, String remedy) {
    CudaDriver driver = probe(FakeCuda.failing(code));

    assertThat(driver.version()).as("known before").hasValue(13000);
    assertThat(reason(driver)).contains(reason);
    assertThat(driver.unavailability().orElseThrow().remedy()).contains(remedy);
  }

  @Test
  void theVariableThatHidesDevicesIsNamed() {
    assertThat(reason(CudaDriver.probe(FakeCuda.failing(100), Map.of("CUDA_VISIBLE_DEVICES", ""))))
        .isEqualTo("CUDA_VISIBLE_DEVICES is empty, which hides every GPU");
    assertThat(reason(CudaDriver.probe(FakeCuda.with(13000), Map.of("CUDA_VISIBLE_DEVICES", "7"))))
        .isEqualTo("CUDA_VISIBLE_DEVICES=7 names no GPU of this machine");
    assertThat(reason(probe(FakeCuda.with(13000)))).startsWith("the driver sees no GPU");
  }

  @Test
  void thisMachineIsProbedWithoutFailing() {
    CudaDriver driver = CudaDriver.system();

    assertThat(driver.isAvailable()).isEqualTo(!driver.devices().isEmpty());
    if (!driver.isAvailable()) {
      assertThat(reason(driver)).as("the bindings are there").doesNotContain("bindings");
    }
    assertThat(Nvml.system().unavailability().map(Unavailability::reason).orElse(""))
        .doesNotContain("bindings");
  }

  @Test
  void theBindingIsFoundUnderTheNameOfItsVersion() {
    assertThat(Stream.of(System.getProperty("java.library.path").split(File.pathSeparator)))
        .anyMatch(folder -> new File(folder, System.mapLibraryName(JCudaApi.BINDING)).isFile());
  }

  @Test
  void aMigInstanceIsToldByItsName() {
    CudaDevice slice =
        new CudaDevice(0, "NVIDIA H100 MIG 1g.10gb", "uuid", "0000:01:00.0", 9, 0, 1, -1);

    assertThat(slice.isMigInstance()).isTrue();
    assertThat(slice.architecture()).isEqualTo("sm_90");
    assertThat(List.of(device(0))).noneMatch(CudaDevice::isMigInstance);
  }

  private static CudaDevice device(int ordinal) {
    return FakeCuda.device(ordinal, 9, 0);
  }

  private static CudaDriver probe(CudaApi api) {
    return CudaDriver.probe(api, Map.of());
  }

  private static String reason(CudaDriver driver) {
    return driver.unavailability().orElseThrow().reason();
  }

  private static CudaApi unlinked(String message) {
    return new UnlinkedCuda(message);
  }
}
