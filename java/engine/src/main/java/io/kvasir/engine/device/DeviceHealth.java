package io.kvasir.engine.device;

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
 * Watches devices for errors after which what runs on them must not be relied upon: critical errors
 * (XID) of the hardware, and memory errors that could not be corrected. Errors of programs are left
 * to the driver, which answers every later call of the program with them.
 *
 * <p>Thread-safe. A thread of its own listens. A device is watched until its first problem.
 */
public final class DeviceHealth implements AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(DeviceHealth.class);
  private static final int ROUND_MS = 1_000;

  /**
   * XIDs of broken hardware: double bit and uncontained memory errors, failed row remapping, NVLink
   * errors, a device off the bus, a firmware that does not answer.
   */
  private static final Set<Long> HARDWARE =
      Set.of(48L, 64L, 74L, 79L, 95L, 119L, 120L, 140L, 143L, 154L);

  private final NvmlApi api;

  /** Confined to the thread that goes the rounds. */
  private final List<Watched> watched = new ArrayList<>();

  private final Map<Integer, String> problems = new ConcurrentHashMap<>();

  /** Written behind the problem that it counts. */
  private volatile int problemCount;

  private volatile boolean closed;

  private record Watched(
      CudaDevice device, NvmlApi.XidEvents events, OptionalLong eccErrorsAtFirst) {}

  /** Watches as often as somebody calls {@link #round}. */
  DeviceHealth(NvmlApi api, List<CudaDevice> devices) {
    this.api = api;
    for (CudaDevice device : devices) {
      try {
        OptionalLong eccErrors = api.device(device.pciBusId()).uncorrectedEccErrors();
        api.xidEvents(device.pciBusId())
            .ifPresent(events -> watched.add(new Watched(device, events, eccErrors)));
      } catch (DriverCallException e) {
        LOG.info("{} cannot be watched: {}", device.label(), e.getMessage());
      }
    }
  }

  /** Watches on a thread of its own, if there is anything to watch. */
  static DeviceHealth listening(NvmlApi api, List<CudaDevice> devices) {
    DeviceHealth health = new DeviceHealth(api, devices);
    if (!health.watched.isEmpty()) {
      Thread thread = new Thread(health::listen, "kvasir-device-health");
      thread.setDaemon(true);
      thread.start();
    }
    return health;
  }

  /**
   * Why a device must not be used any more.
   *
   * @param device a watched device
   * @return empty as long as nothing is known against it
   */
  public Optional<String> problem(CudaDevice device) {
    return Optional.ofNullable(problems.get(device.ordinal()));
  }

  /**
   * How many devices have a problem. Costs one volatile load.
   *
   * @return at least 0; never falls
   */
  public int problems() {
    return problemCount;
  }

  private void listen() {
    while (!closed && !watched.isEmpty()) {
      round(Math.max(1, ROUND_MS / watched.size()));
    }
    watched.forEach(each -> each.events().close());
  }

  /** Looks at every device once, waiting so long for each to tell of an error. */
  void round(int timeoutMs) {
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
    } catch (DriverCallException e) {
      report(each.device(), "NVML has lost it: " + e.getMessage());
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

  /** Ends the watch. Returns at once; the thread ends with its round. */
  @Override
  public void close() {
    closed = true;
  }
}
