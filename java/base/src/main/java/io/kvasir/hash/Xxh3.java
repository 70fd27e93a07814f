package io.kvasir.hash;

import io.kvasir.internal.nativelib.HashLibrary;
import java.nio.charset.StandardCharsets;

/**
 * XXH3-64 of bytes, computed by the native library.
 *
 * <p>Thread-safe and stateless.
 */
public final class Xxh3 {

  private Xxh3() {}

  /**
   * XXH3-64 of an array. O(bytes).
   *
   * @param bytes the input
   * @param seed the seed; 0 means unseeded
   * @return the hash
   */
  public static long hash(byte[] bytes, long seed) {
    return HashLibrary.kvasir_xxh3_64(bytes, bytes.length, seed);
  }

  /**
   * The id of a LoRA adapter in the {@code dynamo} format: unseeded XXH3-64 of its name in UTF-8.
   *
   * @param name the adapter's name
   * @return an id for {@link io.kvasir.model.CacheScope#withLora}
   */
  public static long loraTaskId(String name) {
    return hash(name.getBytes(StandardCharsets.UTF_8), 0);
  }
}
