package io.kvasir.engine.pool.cuda;

import io.kvasir.engine.device.DeviceApi;
import java.util.Objects;

/**
 * The addresses of a pool on its device. Immutable; valid until the pool is closed. An engine that
 * uses them waits for its work on the stream before it frees memory that the work uses, and is
 * closed before the pool.
 *
 * @param device the device
 * @param stream the stream of the pool's operations: later launches on it see the effects of all
 *     submitted operations
 * @param pool address of the {@code DevicePool}
 * @param kv address of the KV memory, block by block; 0 if there is none
 * @param kvBytesPerBlock bytes of KV of each block
 */
public record DeviceBlocks(
    DeviceApi device, DeviceApi.Stream stream, long pool, long kv, long kvBytesPerBlock) {

  /**
   * Makes the addresses.
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
