package io.kvasir.engine.device;

import io.kvasir.internal.nativelib.LibraryLoader;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import org.bytedeco.cuda.global.nvml;
import org.bytedeco.cuda.nvml.nvmlDevice_st;
import org.bytedeco.cuda.nvml.nvmlEventData_t;
import org.bytedeco.cuda.nvml.nvmlEventSet_st;
import org.bytedeco.cuda.nvml.nvmlUtilization_t;
import org.bytedeco.javacpp.PointerPointer;

/** NVML through the JavaCPP presets. Thread-safe; NVML stays initialised until the process ends. */
final class JavaCppNvmlApi implements NvmlApi {

  private static final int VERSION_BYTES = 80;

  @Override
  public void init() {
    LibraryLoader.requireLoaded(); // gives JavaCPP a private cache
    check("nvmlInit", nvml.nvmlInit_v2());
  }

  @Override
  public String driverVersion() {
    byte[] version = new byte[VERSION_BYTES];
    check("nvmlSystemGetDriverVersion", nvml.nvmlSystemGetDriverVersion(version, version.length));
    return new String(version, StandardCharsets.US_ASCII).trim();
  }

  @Override
  public NvmlDevice device(String pciBusId) {
    nvmlDevice_st device = handle(pciBusId);
    return new NvmlDevice(
        utilizationPercent(device),
        uncorrectedEccErrors(device),
        rowRemapping(device),
        mig(device));
  }

  @Override
  public Optional<String> topology(String pciBusId, String otherPciBusId) {
    int[] level = new int[1];
    int result =
        nvml.nvmlDeviceGetTopologyCommonAncestor(handle(pciBusId), handle(otherPciBusId), level);
    if (!supported("nvmlDeviceGetTopologyCommonAncestor", result)) {
      return Optional.empty();
    }
    return switch (level[0]) {
      case nvml.NVML_TOPOLOGY_INTERNAL -> Optional.of("same board");
      case nvml.NVML_TOPOLOGY_SINGLE -> Optional.of("one PCIe switch");
      case nvml.NVML_TOPOLOGY_MULTIPLE -> Optional.of("several PCIe switches");
      case nvml.NVML_TOPOLOGY_HOSTBRIDGE -> Optional.of("host bridge");
      case nvml.NVML_TOPOLOGY_NODE -> Optional.of("NUMA node");
      case nvml.NVML_TOPOLOGY_SYSTEM -> Optional.of("across NUMA nodes");
      default -> Optional.empty();
    };
  }

  @Override
  public Optional<XidEvents> xidEvents(String pciBusId) {
    nvmlDevice_st device = handle(pciBusId);
    nvmlEventSet_st set;
    try (PointerPointer<nvmlEventSet_st> out = new PointerPointer<>(1)) {
      check("nvmlEventSetCreate", nvml.nvmlEventSetCreate(out));
      set = out.get(nvmlEventSet_st.class);
    }
    XidEvents events = new EventSet(set);
    try {
      int result = nvml.nvmlDeviceRegisterEvents(device, nvml.nvmlEventTypeXidCriticalError, set);
      if (supported("nvmlDeviceRegisterEvents", result)) {
        return Optional.of(events);
      }
    } catch (DriverCallException e) {
      events.close();
      throw e;
    }
    events.close();
    return Optional.empty();
  }

  private record EventSet(nvmlEventSet_st set) implements XidEvents {

    @Override
    public OptionalLong next(int timeoutMs) {
      try (nvmlEventData_t event = new nvmlEventData_t()) {
        int result = nvml.nvmlEventSetWait_v2(set, event, timeoutMs);
        if (result == nvml.NVML_ERROR_TIMEOUT) {
          return OptionalLong.empty();
        }
        check("nvmlEventSetWait", result);
        return OptionalLong.of(event.eventData());
      }
    }

    @Override
    public void close() {
      nvml.nvmlEventSetFree(set);
    }
  }

  private static nvmlDevice_st handle(String pciBusId) {
    try (PointerPointer<nvmlDevice_st> out = new PointerPointer<>(1)) {
      check("nvmlDeviceGetHandleByPciBusId", nvml.nvmlDeviceGetHandleByPciBusId_v2(pciBusId, out));
      return out.get(nvmlDevice_st.class);
    }
  }

  private static OptionalInt utilizationPercent(nvmlDevice_st device) {
    try (nvmlUtilization_t utilization = new nvmlUtilization_t()) {
      int result = nvml.nvmlDeviceGetUtilizationRates(device, utilization);
      return supported("nvmlDeviceGetUtilizationRates", result)
          ? OptionalInt.of(utilization.gpu())
          : OptionalInt.empty();
    }
  }

  private static OptionalLong uncorrectedEccErrors(nvmlDevice_st device) {
    long[] errors = new long[1];
    int result =
        nvml.nvmlDeviceGetTotalEccErrors(
            device, nvml.NVML_MEMORY_ERROR_TYPE_UNCORRECTED, nvml.NVML_VOLATILE_ECC, errors);
    return supported("nvmlDeviceGetTotalEccErrors", result)
        ? OptionalLong.of(errors[0])
        : OptionalLong.empty();
  }

  private static Optional<String> rowRemapping(nvmlDevice_st device) {
    int[] pending = new int[1];
    int[] failed = new int[1];
    int result = nvml.nvmlDeviceGetRemappedRows(device, new int[1], new int[1], pending, failed);
    if (!supported("nvmlDeviceGetRemappedRows", result)) {
      return Optional.empty();
    }
    if (failed[0] != 0) {
      return Optional.of("failed: replace the GPU");
    }
    return pending[0] != 0 ? Optional.of("pending: reset the GPU") : Optional.empty();
  }

  private static Optional<Boolean> mig(nvmlDevice_st device) {
    int[] mode = new int[1];
    int result = nvml.nvmlDeviceGetMigMode(device, mode, new int[1]);
    return supported("nvmlDeviceGetMigMode", result)
        ? Optional.of(mode[0] == nvml.NVML_DEVICE_MIG_ENABLE)
        : Optional.empty();
  }

  /** False if the product does not support the query, or this user lacks the permission. */
  private static boolean supported(String call, int result) {
    if (result == nvml.NVML_ERROR_NOT_SUPPORTED || result == nvml.NVML_ERROR_NO_PERMISSION) {
      return false;
    }
    check(call, result);
    return true;
  }

  private static void check(String call, int result) {
    if (result != nvml.NVML_SUCCESS) {
      throw new DriverCallException(call, result, nvml.nvmlErrorString(result).getString());
    }
  }
}
