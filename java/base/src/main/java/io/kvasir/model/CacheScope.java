package io.kvasir.model;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;

/**
 * The LoRA adapter and the cache salt (tenant) of a request. Two requests share KV only if their
 * tokens and their scopes are equal.
 *
 * <p>Immutable. Absent and zero differ: an adapter with id 0 is not "no adapter".
 *
 * @param hasLora whether an adapter is used
 * @param loraTaskId the adapter's id; 0 when {@code hasLora} is false
 * @param hasSalt whether a salt is used
 * @param saltId the salt's id (see {@link #saltId(String)}); 0 when {@code hasSalt} is false
 */
public record CacheScope(boolean hasLora, long loraTaskId, boolean hasSalt, long saltId) {

  /** The scope of a request with neither an adapter nor a salt. */
  public static final CacheScope NONE = new CacheScope(false, 0, false, 0);

  /**
   * Checks that absent parts are zero, so that equal scopes are equal records.
   *
   * @throws IllegalArgumentException if an absent part carries an id
   */
  public CacheScope {
    if (!hasLora && loraTaskId != 0) {
      throw new IllegalArgumentException("loraTaskId must be 0 without an adapter");
    }
    if (!hasSalt && saltId != 0) {
      throw new IllegalArgumentException("saltId must be 0 without a salt");
    }
  }

  /**
   * This scope with a LoRA adapter.
   *
   * @param taskId the adapter's id, any value
   * @return the scope with that adapter
   */
  public CacheScope withLora(long taskId) {
    return new CacheScope(true, taskId, hasSalt, saltId);
  }

  /**
   * This scope with a cache salt.
   *
   * @param salt the salt as the client sent it
   * @return the scope with that salt
   */
  public CacheScope withSalt(String salt) {
    return new CacheScope(hasLora, loraTaskId, true, saltId(salt));
  }

  /**
   * {@return the bit mask of the parts that are present, in the native library's encoding: bit 0 is
   * the adapter, bit 1 the salt; a number from 0 to 3}
   */
  public int presenceMask() {
    return (hasLora ? 1 : 0) | (hasSalt ? 2 : 0);
  }

  /**
   * The 64-bit id of a salt: the first eight bytes of its SHA-256, little-endian, as TensorRT-LLM
   * derives it.
   *
   * @param salt the salt as the client sent it
   * @return its id
   * @throws IllegalArgumentException if the salt has an unpaired surrogate, which UTF-8 cannot
   *     encode
   */
  public static long saltId(String salt) {
    try {
      MessageDigest sha256 = MessageDigest.getInstance("SHA-256");
      sha256.update(StandardCharsets.UTF_8.newEncoder().encode(CharBuffer.wrap(salt)));
      return ByteBuffer.wrap(sha256.digest()).order(ByteOrder.LITTLE_ENDIAN).getLong();
    } catch (CharacterCodingException e) {
      throw new IllegalArgumentException("salt must be well-formed Unicode", e);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java platform has SHA-256", e);
    }
  }
}
