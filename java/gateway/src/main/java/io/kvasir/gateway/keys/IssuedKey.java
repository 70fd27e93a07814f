package io.kvasir.gateway.keys;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.security.SecureRandom;
import java.util.Base64;
import java.util.HexFormat;

/**
 * A new key: {@code kv-}, a public id, and a secret of 256 random bits. Immutable. Its text is
 * shown once and kept nowhere.
 */
public final class IssuedKey {

  /** Characters of an id. */
  static final int ID_CHARACTERS = 12;

  private static final String PREFIX = "kv-";
  private static final String ALPHABET = "abcdefghijklmnopqrstuvwxyz0123456789";
  private static final int SECRET_BYTES = 32;

  private final String id;
  private final String text;

  private IssuedKey(String id, String text) {
    this.id = id;
    this.text = text;
  }

  /**
   * Makes a key.
   *
   * @param random where its bits come from
   * @return the key
   */
  public static IssuedKey next(SecureRandom random) {
    StringBuilder id = new StringBuilder(ID_CHARACTERS);
    for (int i = 0; i < ID_CHARACTERS; i++) {
      id.append(ALPHABET.charAt(random.nextInt(ALPHABET.length())));
    }
    return new IssuedKey(id.toString(), PREFIX + id + "-" + secret(random));
  }

  /**
   * {@return 256 random bits as a text for URLs and header fields}
   *
   * @param random where they come from
   */
  public static String secret(SecureRandom random) {
    byte[] bytes = new byte[SECRET_BYTES];
    random.nextBytes(bytes);
    return Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
  }

  /** The digest by which a key is found: the SHA-256 of its text, in hexadecimal digits. */
  static String sha256(String text) {
    try {
      MessageDigest sha256 = MessageDigest.getInstance("SHA-256");
      return HexFormat.of().formatHex(sha256.digest(text.getBytes(StandardCharsets.UTF_8)));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java platform has SHA-256", e);
    }
  }

  /** {@return the public part, which names the key in lists} */
  public String id() {
    return id;
  }

  /** {@return the whole key, for its client} */
  public String text() {
    return text;
  }

  /** {@return the digest that the file of keys has} */
  public String sha256() {
    return sha256(text);
  }

  @Override
  public String toString() {
    return "(the key " + id + ")";
  }
}
