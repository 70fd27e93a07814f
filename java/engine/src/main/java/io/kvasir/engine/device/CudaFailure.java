package io.kvasir.engine.device;

import io.kvasir.model.Errors;
import java.util.Map;

/** Describes why the CUDA driver or NVML cannot be used, and the remedy. Stateless. */
final class CudaFailure {

  static final String VISIBLE_DEVICES = "CUDA_VISIBLE_DEVICES";

  private static final int STUB_LIBRARY = 34;
  private static final int NO_DEVICE = 100;
  private static final int INVALID_DEVICE = 101;
  private static final int SYSTEM_NOT_READY = 802;
  private static final int SYSTEM_DRIVER_MISMATCH = 803;
  private static final int MPS_CONNECTION_FAILED = 805;
  private static final int UNKNOWN = 999;

  static final String LOOK_AT_DRIVER =
      "see whether nvidia-smi works and reload or reinstall the NVIDIA driver";

  private CudaFailure() {}

  /** The driver returned an error. */
  static Unavailability explain(DriverCallException e, Map<String, String> environment) {
    return switch (e.code()) {
      case NO_DEVICE, INVALID_DEVICE -> noDevice(Errors.reason(e), environment);
      case STUB_LIBRARY ->
          new Unavailability(
              "libcuda.so.1 is the toolkit's stub, not a driver",
              "take the stubs folder out of LD_LIBRARY_PATH and install the NVIDIA driver");
      case SYSTEM_NOT_READY ->
          new Unavailability(
              "the GPUs' fabric is not ready: " + e.getMessage(),
              "start the service nvidia-fabricmanager");
      case SYSTEM_DRIVER_MISMATCH ->
          new Unavailability(
              "libcuda.so.1 and the NVIDIA kernel module are of different versions: "
                  + e.getMessage(),
              "reboot after the driver update, or give the container the host's libraries");
      case MPS_CONNECTION_FAILED ->
          new Unavailability(
              "the MPS server does not answer: " + e.getMessage(),
              "start nvidia-cuda-mps-control, or unset CUDA_MPS_PIPE_DIRECTORY");
      case UNKNOWN ->
          new Unavailability(
              "the driver does not start: " + e.getMessage(),
              LOOK_AT_DRIVER + "; in a container, look for /dev/nvidia-uvm");
      default -> new Unavailability("the driver does not start: " + e.getMessage(), LOOK_AT_DRIVER);
    };
  }

  /** The driver works but lists no device. */
  static Unavailability noDevice(String answer, Map<String, String> environment) {
    String visible = environment.get(VISIBLE_DEVICES);
    if (visible == null) {
      return new Unavailability(
          "the driver sees no GPU: " + answer,
          "see whether nvidia-smi lists one; in a container, pass it in (--gpus all)");
    }
    return new Unavailability(
        visible.isBlank()
            ? VISIBLE_DEVICES + " is empty, which hides every GPU"
            : VISIBLE_DEVICES + "=" + visible + " names no GPU of this machine",
        "unset " + VISIBLE_DEVICES + ", or list GPUs that nvidia-smi shows");
  }

  /** A library is missing or incompatible. */
  static Unavailability explain(LinkageError e) {
    String message = firstLine(e);
    if (message.contains("libcuda.so.1:")) {
      return new Unavailability(
          "there is no NVIDIA driver: libcuda.so.1 cannot be loaded",
          "install the NVIDIA driver; in a container, pass the GPUs in (--gpus all)");
    }
    if (message.contains("libcudart.so")) {
      return new Unavailability(
          "the CUDA runtime libcudart.so.13 cannot be loaded",
          "install the package cuda-cudart-13-0, or add its folder to LD_LIBRARY_PATH");
    }
    if (message.contains("libnvidia-ml.so.1:")) {
      return new Unavailability(
          "libnvidia-ml.so.1 cannot be loaded",
          "install the driver's NVML (libnvidia-ml1); in a container, allow the capability"
              + " 'utility'");
    }
    if (message.contains("java.library.path")) {
      return new Unavailability(
          "the CUDA bindings' libraries are not in java.library.path",
          "start Kvasir with ./kvasir on Linux x86_64, or pass java"
              + " -Djava.library.path=java/engine/target/bindings");
    }
    return new Unavailability(
        "the CUDA bindings cannot be loaded: " + message,
        "the bindings that Kvasir brings are for Linux x86_64; elsewhere use the CPU");
  }

  private static String firstLine(LinkageError e) {
    return String.valueOf(e.getMessage()).lines().findFirst().orElse("");
  }
}
