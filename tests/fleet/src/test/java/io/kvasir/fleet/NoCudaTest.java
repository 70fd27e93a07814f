package io.kvasir.fleet;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A process that only chooses workers needs no CUDA bindings. */
class NoCudaTest {

  /** The class path of these tests contains all dependencies of java/fleet. */
  @Test
  void cudaIsNotAmongTheDependencies() {
    List<String> names =
        Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator, -1))
            .map(entry -> new File(entry).getName())
            .toList();
    assertThat(names)
        .anyMatch(name -> name.startsWith("javacpp-"))
        .noneMatch(name -> name.contains("cuda"));
  }

  @Test
  void cudaCannotBeLoaded() {
    assertThat(NoCudaTest.class.getClassLoader().getResource("jcuda/driver/JCudaDriver.class"))
        .isNull();
    assertThat(
            NoCudaTest.class.getClassLoader().getResource("org/bytedeco/cuda/global/cudart.class"))
        .isNull();
  }
}
