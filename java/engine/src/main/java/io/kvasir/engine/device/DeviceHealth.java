package io.kvasir.engine.device;

import io.kvasir.model.Errors;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Watches devices for hardware errors that make their results unreliable: critical errors (XID) and
 * uncorrectable memory errors. Errors of programs are ignored, because the driver returns them from
 * every later call of the program.
 *
 * <p>Thread-safe. A dedicated thread polls NVML. A device is watched until its first problem.
 */
public final class DeviceHealth implements AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(DeviceHealth.class);
  private static final int POLL_MS = 1_000;

  /**
   * XIDs of broken hardware: double bit and uncontained memory errors, failed row remapping, NVLink
   * errors, a device that fell off the bus, firmware that does not respond.
   */
  private static final Set<Long> HARDWARE =
      Set.of(48L, 64L, 74L, 79L, 95L, 119L, 120L, 140L, 143L, 154L);

  private final NvmlApi api;

  /** Confined to the polling thread. */
  private final List<Watched> watched = new ArrayList<>();

  private final Map<Integer, String> problems = new ConcurrentHashMap<>();

  /** Written after the problem that it counts. */
  private volatile int problemCount;

  private volatile boolean closed;

  private record Watched(
      CudaDevice device, NvmlApi.XidEvents events, OptionalLong eccErrorsAtFirst) {}

  /** Starts no thread: the caller polls with {@link #poll}. */
  DeviceHealth(NvmlApi api, List<CudaDevice> devices) {
    this.api = api;
    for (CudaDevice device : devices) {
      try {
        OptionalLong eccErrors = api.device(device.pciBusId()).uncorrectedEccErrors();
        api.xidEvents(device.pciBusId())
            .ifPresent(events -> watched.add(new Watched(device, events, eccErrors)));
      } catch (DriverCallException e) {
        LOG.info("The health of {} is not monitored: {}", device.label(), e.getMessage());
      }
    }
  }

  /** Starts a polling thread if at least one device can be watched. */
  static DeviceHealth polling(NvmlApi api, List<CudaDevice> devices) {
    DeviceHealth health = new DeviceHealth(api, devices);
    if (!health.watched.isEmpty()) {
      Thread thread = new Thread(health::pollUntilClosed, "kvasir-device-health");
      thread.setDaemon(true);
      thread.start();
    }
    return health;
  }

  /**
   * Why a device must no longer be used.
   *
   * @param device a watched device
   * @return empty if it has no problem
   */
  public Optional<String> problem(CudaDevice device) {
    return Optional.ofNullable(problems.get(device.ordinal()));
  }

  /**
   * Number of devices that have a problem. One volatile load.
   *
   * @return at least 0; never decreases
   */
  public int problems() {
    return problemCount;
  }

  private void pollUntilClosed() {
    while (!closed && !watched.isEmpty()) {
      poll(Math.max(1, POLL_MS / watched.size()));
    }
    watched.forEach(each -> each.events().close());
  }

  /** Polls every device once; waits up to {@code timeoutMs} for an error of each. */
  void poll(int timeoutMs) {
    watched.removeIf(
        each -> {
          check(each, timeoutMs);
          boolean failed = problems.containsKey(each.device().ordinal());
          if (failed) {
            each.events().close();
          }
          return failed;
        });
  }

  private void check(Watched each, int timeoutMs) {
    try {
      each.events().next(timeoutMs).ifPresent(xid -> onXid(each.device(), xid));
      compareEccErrors(each);
    } catch (RuntimeException e) { // of any kind: the thread must go on for the other devices
      report(each.device(), "NVML cannot read its state: " + Errors.reason(e));
    }
  }

  private void onXid(CudaDevice device, long xid) {
    if (HARDWARE.contains(xid)) {
      report(device, "the driver reports XID " + xid);
    } else {
      LOG.info("{}: XID {}", device.label(), xid);
    }
  }

  private void compareEccErrors(Watched each) {
    OptionalLong now = api.device(each.device().pciBusId()).uncorrectedEccErrors();
    if (now.isPresent()
        && each.eccErrorsAtFirst().isPresent()
        && now.getAsLong() > each.eccErrorsAtFirst().getAsLong()) {
      report(each.device(), "memory errors that could not be corrected: " + now.getAsLong());
    }
  }

  private void report(CudaDevice device, String problem) {
    if (problems.putIfAbsent(device.ordinal(), problem) == null) {
      problemCount = problems.size();
      LOG.warn("{} is not healthy: {}", device.label(), problem);
    }
  }

  /** Stops watching. Returns at once; the thread ends after its current poll. */
  @Override
  public void close() {
    closed = true;
  }
}
