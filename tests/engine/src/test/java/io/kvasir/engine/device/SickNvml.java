package io.kvasir.engine.device;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Set;

/** NVML whose devices get the problems that a test gives them; it never waits. */
public final class SickNvml implements NvmlApi {

  private final Map<String, Deque<Long>> xids = new HashMap<>();
  private final Map<String, Long> eccErrors = new HashMap<>();
  private final Set<String> gone = new HashSet<>();
  private final Set<String> broken = new HashSet<>();
  int openEvents;
  int questions;

  /** A watch that polls when {@link #poll} is called. */
  public DeviceHealth watch(List<CudaDevice> devices) {
    return new DeviceHealth(this, devices);
  }

  /** Polls all devices of a watch once. */
  public static void poll(DeviceHealth health) {
    health.poll(0);
  }

  /** The device tells of an error. */
  public void tell(CudaDevice device, long xid) {
    xids.computeIfAbsent(device.pciBusId(), id -> new ArrayDeque<>()).add(xid);
  }

  void addEccError(CudaDevice device) {
    eccErrors.merge(device.pciBusId(), 1L, Long::sum);
  }

  void breakBinding(CudaDevice device) {
    broken.add(device.pciBusId());
  }

  void loseDevice(CudaDevice device) {
    gone.add(device.pciBusId());
  }

  @Override
  public void init() {}

  @Override
  public String driverVersion() {
    return "580.1";
  }

  @Override
  public NvmlDevice device(String pciBusId) {
    questions++;
    if (broken.contains(pciBusId)) {
      throw new IllegalStateException("not an NVML error");
    }
    if (gone.contains(pciBusId)) {
      throw new DriverCallException("nvmlDeviceGetHandleByPciBusId", 15, "GPU is lost");
    }
    return new NvmlDevice(
        OptionalInt.empty(),
        OptionalLong.of(eccErrors.getOrDefault(pciBusId, 3L)),
        Optional.empty(),
        Optional.empty());
  }

  @Override
  public Optional<String> topology(String pciBusId, String otherPciBusId) {
    return Optional.empty();
  }

  @Override
  public Optional<XidEvents> xidEvents(String pciBusId) {
    openEvents++;
    return Optional.of(
        new XidEvents() {
          @Override
          public OptionalLong next(int timeoutMs) {
            Deque<Long> waiting = xids.getOrDefault(pciBusId, new ArrayDeque<>());
            return waiting.isEmpty() ? OptionalLong.empty() : OptionalLong.of(waiting.remove());
          }

          @Override
          public void close() {
            openEvents--;
          }
        });
  }
}
