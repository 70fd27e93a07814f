package io.kvasir.tcp;

import java.nio.ByteBuffer;
import java.security.GeneralSecurityException;
import java.security.SecureRandom;
import java.util.HexFormat;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.jspecify.annotations.Nullable;

/**
 * The secret that the members of a TCP group share. It is never sent over the group's connections:
 * members prove by HMAC-SHA256 that they have it. With certificates, they also encrypt what they
 * send once all have joined.
 *
 * <p>Immutable.
 */
public final class GroupSecret {

  private static final String ALGORITHM = "HmacSHA256";
  private static final int BYTES = 32;
  private static final SecureRandom RANDOM = new SecureRandom();

  private final byte[] bytes;

  private final @Nullable GroupCertificates certificates;

  private GroupSecret(byte[] bytes, @Nullable GroupCertificates certificates) {
    this.bytes = bytes;
    this.certificates = certificates;
  }

  /** {@return a new secret, 256 random bits} */
  public static GroupSecret random() {
    return new GroupSecret(randomBytes(BYTES), null);
  }

  /**
   * Reads a secret that {@link #hex} wrote.
   *
   * @param hex 64 hexadecimal digits
   * @return the secret
   * @throws IllegalArgumentException if it is anything else; the message does not contain the text
   */
  public static GroupSecret parse(String hex) {
    if (!hex.matches("[0-9a-fA-F]{" + 2 * BYTES + "}")) {
      throw new IllegalArgumentException("a secret must be " + 2 * BYTES + " hexadecimal digits");
    }
    return new GroupSecret(HexFormat.of().parseHex(hex), null);
  }

  /**
   * {@return the same secret for members that encrypt; either all members of a group do, or none}
   *
   * @param by the certificates that this member uses
   */
  public GroupSecret encrypting(GroupCertificates by) {
    return new GroupSecret(bytes, by);
  }

  /** The certificates by which members encrypt; null if they do not. */
  @Nullable GroupCertificates certificates() {
    return certificates;
  }

  /**
   * {@return the secret as 64 hexadecimal digits, for a pipe or a file that only its owner can
   * read}
   */
  public String hex() {
    return HexFormat.of().formatHex(bytes);
  }

  static byte[] randomBytes(int count) {
    byte[] random = new byte[count];
    RANDOM.nextBytes(random);
    return random;
  }

  /** The HMAC-SHA256 of the parts, one after the other. Buffers keep their positions. */
  byte[] mac(ByteBuffer... parts) {
    try {
      Mac mac = Mac.getInstance(ALGORITHM);
      mac.init(new SecretKeySpec(bytes, ALGORITHM));
      for (ByteBuffer part : parts) {
        mac.update(part.duplicate());
      }
      return mac.doFinal();
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("this Java has no " + ALGORITHM, e);
    }
  }

  /** Does not show the secret. */
  @Override
  public String toString() {
    return "GroupSecret";
  }
}
