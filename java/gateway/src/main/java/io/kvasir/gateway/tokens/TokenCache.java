package io.kvasir.gateway.tokens;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Tokens by the question that they answer. Those used last are kept, within a number of bytes.
 * Their maker may have recovered since.
 *
 * <p>Thread-safe; every call is O(bytes of the question). Arrays are shared, not copied.
 */
final class TokenCache {

  /** Bytes of an entry besides its tokens, about. */
  private static final int ENTRY_BYTES = 160;

  private final long maxBytes;
  private final Map<Key, MadeTokens> tokens = new LinkedHashMap<>(16, 0.75f, true);
  private long bytes;

  /** A question's SHA-256. */
  record Key(long a, long b, long c, long d) {}

  /**
   * Creates an empty cache.
   *
   * @param maxBytes bytes of all entries together
   */
  TokenCache(long maxBytes) {
    this.maxBytes = maxBytes;
  }

  /**
   * The key of a question.
   *
   * @param family the engines that answer it alike
   * @param model the model
   * @param target where it is asked
   * @param body what is asked
   */
  static Key key(String family, String model, String target, byte[] body) {
    try {
      MessageDigest sha256 = MessageDigest.getInstance("SHA-256");
      for (String part : new String[] {family, model, target}) {
        byte[] text = part.getBytes(StandardCharsets.UTF_8);
        sha256.update(ByteBuffer.allocate(Integer.BYTES).putInt(0, text.length));
        sha256.update(text);
      }
      ByteBuffer digest = ByteBuffer.wrap(sha256.digest(body));
      return new Key(digest.getLong(), digest.getLong(), digest.getLong(), digest.getLong());
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java platform has SHA-256", e);
    }
  }

  synchronized @Nullable MadeTokens get(Key key) {
    return tokens.get(key);
  }

  synchronized void put(Key key, MadeTokens answer) {
    MadeTokens before = tokens.put(key, answer);
    bytes += cost(answer) - (before == null ? 0 : cost(before));
    Iterator<MadeTokens> eldest = tokens.values().iterator();
    while (bytes > maxBytes && eldest.hasNext()) {
      bytes -= cost(eldest.next());
      eldest.remove();
    }
  }

  private static long cost(MadeTokens answer) {
    return ENTRY_BYTES + (long) Integer.BYTES * answer.ids().length;
  }

  /** Bytes of all entries. */
  synchronized long bytes() {
    return bytes;
  }
}
