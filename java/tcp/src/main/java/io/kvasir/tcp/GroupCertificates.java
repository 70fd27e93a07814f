package io.kvasir.tcp;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.Base64;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.TrustManagerFactory;

/**
 * The certificates by which the members of a TCP group encrypt their connections with TLS 1.3. Both
 * sides of a connection show a certificate, which the other's authorities must have signed. Names
 * in certificates are not compared with addresses: authorities are the group's own.
 *
 * <p>Immutable.
 */
public final class GroupCertificates {

  private static final String PROTOCOL = "TLSv1.3";
  private static final long MAX_FILE_BYTES = 1 << 20;
  private static final Pattern PRIVATE_KEY =
      Pattern.compile(
          "-----BEGIN PRIVATE KEY-----([A-Za-z0-9+/=\\s]+)-----END PRIVATE KEY-----",
          Pattern.CASE_INSENSITIVE);

  private final SSLContext context;

  private GroupCertificates(SSLContext context) {
    this.context = context;
  }

  /**
   * Reads PEM files.
   *
   * @param certificates the member's certificate, followed by those of intermediate authorities
   * @param key the private key of the certificate, unencrypted, in PKCS #8
   * @param authorities certificates of the authorities that sign members' certificates; that of the
   *     member itself if all members share it
   * @return the certificates
   * @throws IOException if a file cannot be read or holds anything else; the message has its name
   */
  public static GroupCertificates read(Path certificates, Path key, Path authorities)
      throws IOException {
    List<Certificate> chain = readCertificates(certificates);
    List<Certificate> trusted = readCertificates(authorities);
    PrivateKey privateKey = readKey(key, chain.get(0).getPublicKey().getAlgorithm());
    try {
      KeyStore own = emptyStore();
      own.setKeyEntry("member", privateKey, new char[0], chain.toArray(Certificate[]::new));
      KeyManagerFactory keys =
          KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
      keys.init(own, new char[0]);
      KeyStore others = emptyStore();
      for (int i = 0; i < trusted.size(); i++) {
        others.setCertificateEntry("authority " + i, trusted.get(i));
      }
      TrustManagerFactory trust =
          TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
      trust.init(others);
      SSLContext context = SSLContext.getInstance(PROTOCOL);
      context.init(keys.getKeyManagers(), trust.getTrustManagers(), null);
      return new GroupCertificates(context);
    } catch (GeneralSecurityException e) {
      throw new IOException(certificates + " and " + key + " cannot be used: " + e.getMessage(), e);
    }
  }

  private static KeyStore emptyStore() throws GeneralSecurityException, IOException {
    KeyStore store = KeyStore.getInstance("PKCS12");
    store.load(null, null);
    return store;
  }

  private static List<Certificate> readCertificates(Path file) throws IOException {
    requireSmall(file);
    try (InputStream in = Files.newInputStream(file)) {
      List<Certificate> read =
          List.copyOf(CertificateFactory.getInstance("X.509").generateCertificates(in));
      if (!read.isEmpty()) {
        return read;
      }
    } catch (GeneralSecurityException e) {
      throw new IOException(file + " must hold certificates in PEM: " + e.getMessage(), e);
    }
    throw new IOException(file + " must hold certificates in PEM; it holds none");
  }

  private static PrivateKey readKey(Path file, String algorithm) throws IOException {
    requireSmall(file);
    Matcher matcher = PRIVATE_KEY.matcher(new String(Files.readAllBytes(file), US_ASCII));
    if (!matcher.find()) {
      throw new IOException(
          file + " must hold a private key in PEM, unencrypted PKCS #8 (BEGIN PRIVATE KEY)");
    }
    try {
      byte[] encoded = Base64.getMimeDecoder().decode(matcher.group(1));
      return KeyFactory.getInstance(algorithm).generatePrivate(new PKCS8EncodedKeySpec(encoded));
    } catch (GeneralSecurityException | IllegalArgumentException e) {
      throw new IOException(
          file + " must hold the " + algorithm + " key of the certificate: " + e.getMessage(), e);
    }
  }

  private static void requireSmall(Path file) throws IOException {
    if (Files.size(file) > MAX_FILE_BYTES) {
      throw new IOException(file + " must have at most " + MAX_FILE_BYTES + " bytes");
    }
  }

  /** A new end of a connection; the coordinator's is the server's. */
  SSLEngine engine(boolean server) {
    SSLEngine engine = context.createSSLEngine();
    engine.setUseClientMode(!server);
    engine.setNeedClientAuth(server);
    engine.setEnabledProtocols(new String[] {PROTOCOL});
    return engine;
  }
}
