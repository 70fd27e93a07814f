package io.kvasir.engine.pool.cuda;

import io.kvasir.engine.device.DeviceApi;
import java.util.Objects;

/**
 * Where a pool lies on its device. Immutable; valid as long as the pool.
 *
 * @param device the device
 * @param stream the stream on which the pool's operations run: what is launched on it sees all that
 *     was submitted before
 * @param pool address of the {@code DevicePool}
 * @param kv address of the KV memory, blocks one after the other; 0 if there is none
 * @param kvBytesPerBlock bytes of KV of each block
 */
public record DeviceBlocks(
    DeviceApi device, DeviceApi.Stream stream, long pool, long kv, long kvBytesPerBlock) {

  /**
   * Makes the addresses known.
   *
   * @param device the device
   * @param stream the pool's stream
   * @param pool an address
   * @param kv an address or 0
   * @param kvBytesPerBlock bytes
   */
  public DeviceBlocks {
    Objects.requireNonNull(device, "device");
    Objects.requireNonNull(stream, "stream");
  }
}
