package io.kvasir.cli.terminal;

import io.kvasir.engine.device.CudaDriver;
import io.kvasir.engine.device.KernelModule;
import io.kvasir.engine.device.NativeLibrary;
import io.kvasir.engine.device.Nvml;
import java.util.Optional;
import java.util.Properties;
import java.util.function.Supplier;

/**
 * What a command runs on. Each part is looked at when it is first asked for.
 *
 * @param java system properties of the running Java
 * @param library the native library
 * @param module the GPU kernels of this build
 * @param cuda the CUDA driver and its devices
 * @param nvml their counters
 */
public record Machine(
    Properties java,
    Supplier<NativeLibrary> library,
    Supplier<Optional<KernelModule>> module,
    Supplier<CudaDriver> cuda,
    Supplier<Nvml> nvml) {

  /** This machine. */
  public static Machine local() {
    return new Machine(
        System.getProperties(),
        NativeLibrary::load,
        KernelModule::embedded,
        CudaDriver::system,
        Nvml::system);
  }
}
