package io.kvasir.gateway.keys;

import io.kvasir.exchange.Headers;
import java.io.IOException;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The keys that a gateway accepts: those of a file, and one of its own for its own requests.
 *
 * <p>A key is found by the SHA-256 of what a request presents: one hash and one look-up, whether
 * the key is right, wrong or missing. Time can only depend on digests, and choosing a digest
 * requires the key. A slow hash would not make 256 random bits harder to guess, and strangers could
 * keep the gateway busy with it.
 *
 * <p>Thread-safe.
 */
public final class KeyRing {

  /** Name and tenant of the gateway's own key, which no key of a file can have. */
  private static final String OWN_NAME = "-";

  private static final int MAX_CHARACTERS = 512;

  private final Path file;
  private final LongSupplier clockNs;
  private final IssuedKey own = IssuedKey.next(new SecureRandom());
  private final String ownDigest = own.sha256();
  private final KeyUse ownUse;

  /** Those of the file, by digest; replaced as a whole. */
  private volatile Map<String, KeyUse> keys = Map.of();

  /**
   * Reads a file of keys.
   *
   * @param file its path
   * @param clockNs the time, in nanoseconds
   * @throws IOException if it cannot be read
   * @throws IllegalArgumentException naming what is wrong in it
   */
  public KeyRing(Path file, LongSupplier clockNs) throws IOException {
    this.file = file;
    this.clockNs = clockNs;
    ClientKey key = new ClientKey(own.id(), ownDigest, OWN_NAME, OWN_NAME, KeyLimits.NONE, null);
    this.ownUse = new KeyUse(key, clockNs.getAsLong());
    this.keys = read();
  }

  private Map<String, KeyUse> read() throws IOException {
    List<ClientKey> read = KeyFile.read(file); // nothing can fail behind it
    Map<String, KeyUse> next = new HashMap<>();
    for (ClientKey key : read) {
      KeyUse use = keys.get(key.sha256());
      if (use == null) {
        use = new KeyUse(key, clockNs.getAsLong());
      }
      use.key(key);
      next.put(key.sha256(), use);
    }
    return next;
  }

  /**
   * Reads the file again. Keys that stay keep what they have used; requests of those that go end as
   * others do.
   *
   * @return what has changed, in words
   * @throws IOException if the file cannot be read; all keys stay as they are
   * @throws IllegalArgumentException naming what is wrong in it; all keys stay as they are
   */
  public synchronized String reload() throws IOException {
    Map<String, KeyUse> before = keys;
    Map<String, KeyUse> next = read();
    keys = next;
    long stay = next.keySet().stream().filter(before::containsKey).count();
    return counted(next.size() - stay, "API key")
        + (next.size() - stay == 1 ? " comes, " : " come, ")
        + (before.size() - stay)
        + (before.size() - stay == 1 ? " goes, " : " go, ")
        + stay
        + (stay == 1 ? " stays" : " stay");
  }

  /**
   * {@return the key that a request presents; null if it presents none that is known}
   *
   * @param headers the fields of the request
   */
  public @Nullable KeyUse find(Headers headers) {
    String presented = Credentials.presented(headers);
    String digest = IssuedKey.sha256(presented.length() > MAX_CHARACTERS ? "" : presented);
    KeyUse found = presented.isEmpty() ? null : keys.get(digest);
    return found == null && digest.equals(ownDigest) ? ownUse : found;
  }

  /** {@return the value of the field {@code Authorization} of the gateway's own requests} */
  public String ownAuthorization() {
    return "Bearer " + own.text();
  }

  /** {@return how many keys of how many tenants there are, in words} */
  public String summary() {
    Map<String, KeyUse> now = keys;
    long tenants = now.values().stream().map(use -> use.key().tenant()).distinct().count();
    return counted(now.size(), "key") + " of " + counted(tenants, "tenant") + " in " + file;
  }

  private static String counted(long number, String what) {
    return number + " " + what + (number == 1 ? "" : "s");
  }
}
