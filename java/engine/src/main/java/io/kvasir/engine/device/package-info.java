/**
 * The GPUs of this machine: whether they can be used, and if not, why and what helps.
 *
 * <p>{@link io.kvasir.engine.device.CudaDriver} is the one place that asks the CUDA driver whether
 * it is there; {@link io.kvasir.engine.device.Nvml} adds utilisation, health and topology where its
 * library can be loaded. {@link io.kvasir.engine.device.KernelModule} describes the kernels that
 * this build carries and {@link io.kvasir.engine.device.NativeLibrary} the library that runs
 * without a GPU. {@link io.kvasir.engine.device.DeviceSelection} is what a user asked for, resolved
 * against all of them. No GPU, no driver and no kernels are normal states: each is an {@link
 * io.kvasir.engine.device.Unavailability}.
 *
 * <p>{@link io.kvasir.engine.device.CudaApi} and {@link io.kvasir.engine.device.NvmlApi} are the
 * narrow ports to the bindings, so that every failure can be tested without a GPU. {@link
 * io.kvasir.engine.device.DeviceApi} is the port to one device in use; what its calls throw says
 * what to do: {@link io.kvasir.engine.device.RetryableDeviceException} or {@link
 * io.kvasir.engine.device.FatalDeviceException}. The package knows nothing of pools and ranks.
 */
package io.kvasir.engine.device;
