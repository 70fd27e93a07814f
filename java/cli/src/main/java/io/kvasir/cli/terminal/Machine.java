package io.kvasir.cli.terminal;

import io.kvasir.engine.device.CudaDriver;
import io.kvasir.engine.device.KernelModule;
import io.kvasir.engine.device.NativeLibrary;
import io.kvasir.engine.device.Nvml;
import java.util.Optional;
import java.util.Properties;
import java.util.function.Supplier;

/**
 * The machine that a command runs on. Each part is examined on first use.
 *
 * @param java system properties of the running Java
 * @param library the native library
 * @param module the GPU kernels of this build
 * @param cuda the CUDA driver and its devices
 * @param nvml the counters of the devices
 */
public record Machine(
    Properties java,
    Supplier<NativeLibrary> library,
    Supplier<Optional<KernelModule>> module,
    Supplier<CudaDriver> cuda,
    Supplier<Nvml> nvml) {

  /** {@return this machine} */
  public static Machine local() {
    return new Machine(
        System.getProperties(),
        NativeLibrary::load,
        KernelModule::embedded,
        CudaDriver::system,
        Nvml::system);
  }
}
