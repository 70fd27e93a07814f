package io.kvasir.fleet.router.trtllm;

import io.kvasir.event.BlockEvent;
import io.kvasir.hash.TrtllmHash;
import io.kvasir.hash.TrtllmSha256Keys;
import io.kvasir.model.Errors;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Reads TensorRT-LLM's {@code kv_cache_events} as a JSON parser gives them.
 *
 * <p>Handles and sequence hashes of the result are both TensorRT-LLM's block hashes, digests in
 * their short form. An event may stand by itself or in the {@code data} of an envelope; {@code
 * hash_algo} may be in either. {@code created} and {@code updated} events do not change the stored
 * blocks.
 *
 * <p>Thread-safe and stateless.
 */
public final class CacheEvents {

  private static final int HEX_DIGITS = 2 * TrtllmSha256Keys.DIGEST_BYTES;

  private CacheEvents() {}

  /**
   * Reads a list of events; all or none.
   *
   * @param events the list
   * @return the events that change what is held, in order
   * @throws IllegalArgumentException naming the event and the field that is wrong
   */
  public static List<BlockEvent> parse(List<?> events) {
    List<BlockEvent> parsed = new ArrayList<>(events.size());
    for (int i = 0; i < events.size(); i++) {
      String at = "events[" + i + "]";
      Map<?, ?> envelope = object(at, events.get(i));
      Object inner = envelope.get("data");
      Map<?, ?> data = inner == null ? envelope : object(at + ".data", inner);
      Object algorithm = data.get("hash_algo");
      TrtllmHash hash = hash(at, algorithm == null ? envelope.get("hash_algo") : algorithm);
      Object type = data.get("type");
      if ("stored".equals(type)) {
        List<?> blocks = list(at + ".blocks", data.get("blocks"));
        parsed.add(stored(at, hash, data.get("parent_hash"), blocks));
      } else if ("removed".equals(type)) {
        parsed.add(removed(at, hash, list(at + ".block_hashes", data.get("block_hashes"))));
      } else if (!"created".equals(type) && !"updated".equals(type)) {
        throw wrong(at + ".type", "created, stored, removed or updated", type);
      }
    }
    return parsed;
  }

  private static BlockEvent stored(
      String at, @Nullable TrtllmHash given, @Nullable Object parent, List<?> blocks) {
    List<Object> keys = new ArrayList<>(blocks.size());
    for (Object block : blocks) {
      keys.add(object(at + ".blocks", block).get("block_hash"));
    }
    TrtllmHash hash = hashOf(given, keys);
    if (parent == null) {
      return BlockEvent.Stored.named(hash, keys(at, hash, keys));
    }
    long parentKey = keys(at + ".parent_hash", hash, List.of(parent))[0];
    return BlockEvent.Stored.namedAfter(hash, parentKey, keys(at, hash, keys));
  }

  private static BlockEvent removed(String at, @Nullable TrtllmHash given, List<?> keys) {
    return new BlockEvent.Removed(hashOf(given, keys), keys(at, given, keys));
  }

  /** A text can only be a digest, whether the event says so or not. */
  private static @Nullable TrtllmHash hashOf(@Nullable TrtllmHash given, List<?> keys) {
    return given == null && !keys.isEmpty() && keys.get(0) instanceof String
        ? TrtllmHash.V2_SHA256
        : given;
  }

  private static long[] keys(String at, @Nullable TrtllmHash given, List<?> values) {
    boolean digests = hashOf(given, values) == TrtllmHash.V2_SHA256;
    long[] keys = new long[values.size()];
    for (int i = 0; i < keys.length; i++) {
      keys[i] = digests ? digest(at, values.get(i)) : number(at, values.get(i));
    }
    return keys;
  }

  private static long digest(String at, @Nullable Object value) {
    if (value instanceof String text
        && text.length() == HEX_DIGITS
        && text.chars().allMatch(c -> c < 128 && Character.digit(c, 16) >= 0)) {
      return Long.parseUnsignedLong(text.substring(0, 2 * Long.BYTES), 16);
    }
    throw wrong(at + " block hash", "a text of " + HEX_DIGITS + " hexadecimal digits", value);
  }

  private static long number(String at, @Nullable Object value) {
    if (value instanceof Long || value instanceof Integer) {
      long number = ((Number) value).longValue();
      if (number >= 0) {
        return number;
      }
    } else if (value instanceof BigInteger big && big.signum() >= 0 && big.bitLength() <= 64) {
      return big.longValue();
    }
    throw wrong(at + " block hash", "an integer from 0 to 2^64 - 1", value);
  }

  private static @Nullable TrtllmHash hash(String at, @Nullable Object value) {
    if (value == null) {
      return null;
    }
    if (value instanceof String name) {
      return TrtllmHash.named(name);
    }
    throw wrong(at + ".hash_algo", "a text", value);
  }

  private static Map<?, ?> object(String at, @Nullable Object value) {
    if (value instanceof Map<?, ?> map) {
      return map;
    }
    throw wrong(at, "an object", value);
  }

  private static List<?> list(String at, @Nullable Object value) {
    if (value instanceof List<?> list) {
      return list;
    }
    throw wrong(at, "a list", value);
  }

  private static IllegalArgumentException wrong(String at, String allowed, @Nullable Object value) {
    return new IllegalArgumentException(
        at + " must be " + allowed + ", not " + Errors.shown(value));
  }
}
