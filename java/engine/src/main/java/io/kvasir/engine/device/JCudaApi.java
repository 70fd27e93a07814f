package io.kvasir.engine.device;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import jcuda.driver.CUcontext;
import jcuda.driver.CUdevice;
import jcuda.driver.CUdevice_attribute;
import jcuda.driver.CUresult;
import jcuda.driver.CUuuid;
import jcuda.driver.JCudaDriver;

/** The CUDA driver through JCuda. Thread-safe. */
final class JCudaApi implements CudaApi {

  /**
   * JCuda's native library. It is loaded here first, from {@code java.library.path}. Otherwise
   * JCuda would extract a copy to a temporary directory that other users may be able to write to.
   */
  static final String BINDING = "JCudaDriver-12.6.0-linux-x86_64";

  private static final int NAME_BYTES = 256;
  private static final int BUS_ID_BYTES = 32;

  @Override
  public int driverVersion() {
    System.loadLibrary(BINDING);
    int[] version = new int[1];
    check("cuDriverGetVersion", JCudaDriver.cuDriverGetVersion(version));
    return version[0];
  }

  @Override
  public void init() {
    check("cuInit", JCudaDriver.cuInit(0));
  }

  @Override
  public int deviceCount() {
    int[] count = new int[1];
    check("cuDeviceGetCount", JCudaDriver.cuDeviceGetCount(count));
    return count[0];
  }

  @Override
  public CudaDevice device(int ordinal) {
    CUdevice device = handle(ordinal);
    byte[] name = new byte[NAME_BYTES];
    check("cuDeviceGetName", JCudaDriver.cuDeviceGetName(name, name.length, device));
    CUuuid uuid = new CUuuid();
    check("cuDeviceGetUuid", JCudaDriver.cuDeviceGetUuid(uuid, device));
    String[] busId = new String[1];
    check("cuDeviceGetPCIBusId", JCudaDriver.cuDeviceGetPCIBusId(busId, BUS_ID_BYTES, device));
    long[] totalBytes = new long[1];
    check("cuDeviceTotalMem", JCudaDriver.cuDeviceTotalMem(totalBytes, device));
    String pciBusId = busId[0].strip();
    return new CudaDevice(
        ordinal,
        text(name),
        grouped(uuid.bytes),
        pciBusId,
        attribute(device, CUdevice_attribute.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR),
        attribute(device, CUdevice_attribute.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR),
        totalBytes[0],
        numaNode(pciBusId));
  }

  @Override
  public long freeBytes(int ordinal) {
    CUdevice device = handle(ordinal);
    CUcontext context = new CUcontext();
    check("cuDevicePrimaryCtxRetain", JCudaDriver.cuDevicePrimaryCtxRetain(context, device));
    try {
      check("cuCtxPushCurrent", JCudaDriver.cuCtxPushCurrent(context));
      try {
        long[] free = new long[1];
        check("cuMemGetInfo", JCudaDriver.cuMemGetInfo(free, new long[1]));
        return free[0];
      } finally {
        check("cuCtxPopCurrent", JCudaDriver.cuCtxPopCurrent(new CUcontext()));
      }
    } finally {
      check("cuDevicePrimaryCtxRelease", JCudaDriver.cuDevicePrimaryCtxRelease(device));
    }
  }

  @Override
  public boolean canAccessPeer(int from, int to) {
    int[] can = new int[1];
    check(
        "cuDeviceCanAccessPeer", JCudaDriver.cuDeviceCanAccessPeer(can, handle(from), handle(to)));
    return can[0] != 0;
  }

  @Override
  public DeviceApi open(CudaDevice device) {
    return new JCudaDeviceApi(device);
  }

  private static CUdevice handle(int ordinal) {
    CUdevice device = new CUdevice();
    check("cuDeviceGet", JCudaDriver.cuDeviceGet(device, ordinal));
    return device;
  }

  private static int attribute(CUdevice device, int attribute) {
    int[] value = new int[1];
    check("cuDeviceGetAttribute", JCudaDriver.cuDeviceGetAttribute(value, attribute, device));
    return value[0];
  }

  /** The memory node next to a device, as the operating system reports it; -1 if unknown. */
  private static int numaNode(String pciBusId) {
    Path file = Path.of("/sys/bus/pci/devices", pciBusId.toLowerCase(Locale.ROOT), "numa_node");
    try {
      return Integer.parseInt(Files.readString(file).strip());
    } catch (IOException | NumberFormatException e) {
      return -1;
    }
  }

  private static String text(byte[] terminated) {
    int end = 0;
    while (end < terminated.length && terminated[end] != 0) {
      end++;
    }
    return new String(terminated, 0, end, StandardCharsets.UTF_8);
  }

  private static String grouped(byte[] uuid) {
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < uuid.length; i++) {
      if (i == 4 || i == 6 || i == 8 || i == 10) {
        text.append('-');
      }
      text.append(String.format(Locale.ROOT, "%02x", uuid[i]));
    }
    return text.toString();
  }

  private static void check(String call, int result) {
    if (result != CUresult.CUDA_SUCCESS) {
      throw new DriverCallException(call, result, CUresult.stringFor(result));
    }
  }
}
