/**
 * The GPUs of this machine: whether they can be used, and if not, the reason and the remedy.
 *
 * <p>{@link io.kvasir.engine.device.CudaDriver} is the only place that probes the CUDA driver.
 * {@link io.kvasir.engine.device.Nvml} adds utilisation, health and topology if its library can be
 * loaded. {@link io.kvasir.engine.device.KernelModule} describes the kernels of this build and
 * {@link io.kvasir.engine.device.NativeLibrary} the library that runs without a GPU. {@link
 * io.kvasir.engine.device.DeviceSelection} resolves a user's choice against all of them. A missing
 * GPU, driver or kernel module is a normal state and is reported as an {@link
 * io.kvasir.engine.device.Unavailability}.
 *
 * <p>{@link io.kvasir.engine.device.CudaApi} and {@link io.kvasir.engine.device.NvmlApi} are the
 * narrow ports to the bindings, so that every failure can be tested without a GPU. {@link
 * io.kvasir.engine.device.DeviceApi} is the port to one open device. Its calls throw {@link
 * io.kvasir.engine.device.RetryableDeviceException} if the device remains usable and {@link
 * io.kvasir.engine.device.FatalDeviceException} if it does not. The package does not depend on
 * pools or ranks.
 */
@NullMarked
package io.kvasir.engine.device;

import org.jspecify.annotations.NullMarked;
