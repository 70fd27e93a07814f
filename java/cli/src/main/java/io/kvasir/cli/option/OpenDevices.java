package io.kvasir.cli.option;

import io.kvasir.cli.terminal.Machine;
import io.kvasir.engine.device.CudaDevice;
import io.kvasir.engine.device.DeviceApi;
import io.kvasir.engine.device.DeviceHealth;
import io.kvasir.engine.execute.RankPools;
import io.kvasir.engine.pool.KvShape;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The devices that a command uses. Closing it closes them.
 *
 * @param devices the devices, with kernels loaded; empty if the pools are in host memory
 * @param health monitors the devices; null if there are none
 */
public record OpenDevices(List<DeviceApi> devices, @Nullable DeviceHealth health)
    implements AutoCloseable {

  /** No devices. */
  public static final OpenDevices NONE = new OpenDevices(List.of(), null);

  /** Copies the list. */
  public OpenDevices {
    devices = List.copyOf(devices);
  }

  /** Opens all of them or none. */
  static OpenDevices open(List<CudaDevice> wanted, Machine machine) {
    List<DeviceApi> opened = new ArrayList<>();
    try {
      for (CudaDevice device : wanted) {
        opened.add(machine.cuda().get().open(device, machine.module().get().orElseThrow()));
      }
      return new OpenDevices(opened, machine.nvml().get().watch(wanted));
    } catch (RuntimeException e) {
      opened.forEach(DeviceApi::close);
      throw e;
    }
  }

  /** {@return whether the pools are in host memory} */
  public boolean isEmpty() {
    return devices.isEmpty();
  }

  /**
   * {@return where pools live: on the devices, or else in host memory}
   *
   * @param kv the KV of a token
   */
  public RankPools.Place place(KvShape kv) {
    return isEmpty()
        ? RankPools.Place.HOST
        : (ranks, shape) -> RankPools.onDevices(devices, ranks, shape, kv, health);
  }

  @Override
  public void close() {
    if (health != null) {
      health.close();
    }
    devices.forEach(DeviceApi::close);
  }
}
