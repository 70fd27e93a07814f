package io.kvasir.internal.tls;

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
import javax.net.ssl.KeyManager;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManager;
import javax.net.ssl.TrustManagerFactory;
import org.jspecify.annotations.Nullable;

/** Makes TLS contexts of certificates and private keys in PEM files. Stateless. */
public final class PemFiles {

  private static final long MAX_FILE_BYTES = 1 << 20;
  private static final Pattern PRIVATE_KEY =
      Pattern.compile(
          "-----BEGIN PRIVATE KEY-----([A-Za-z0-9+/=\\s]+)-----END PRIVATE KEY-----",
          Pattern.CASE_INSENSITIVE);

  private PemFiles() {}

  /**
   * Makes a context.
   *
   * @param protocol the newest version of TLS, for example {@code TLSv1.3}
   * @param own a certificate to show, followed by those of intermediate authorities; null for none
   * @param key the private key of {@code own}, unencrypted, in PKCS #8; null without {@code own}
   * @param authorities certificates of the authorities that sign those of others; null for the
   *     authorities that Java trusts
   * @return the context
   * @throws IOException if a file cannot be read or holds anything else; the message has its name
   */
  public static SSLContext context(
      String protocol, @Nullable Path own, @Nullable Path key, @Nullable Path authorities)
      throws IOException {
    TrustManager[] trusted = authorities == null ? null : trust(authorities);
    KeyManager[] shown = own == null || key == null ? null : keys(own, key);
    try {
      SSLContext context = SSLContext.getInstance(protocol);
      context.init(shown, trusted, null);
      return context;
    } catch (GeneralSecurityException e) {
      throw new IOException(protocol + " cannot be used: " + e.getMessage(), e);
    }
  }

  private static KeyManager[] keys(Path own, Path key) throws IOException {
    List<Certificate> chain = certificates(own);
    PrivateKey read = key(key, chain.get(0).getPublicKey().getAlgorithm());
    try {
      KeyStore store = emptyStore();
      store.setKeyEntry("own", read, new char[0], chain.toArray(Certificate[]::new));
      KeyManagerFactory keys =
          KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
      keys.init(store, new char[0]);
      return keys.getKeyManagers();
    } catch (GeneralSecurityException e) {
      throw new IOException(own + " and " + key + " cannot be used: " + e.getMessage(), e);
    }
  }

  private static TrustManager[] trust(Path authorities) throws IOException {
    List<Certificate> trusted = certificates(authorities);
    try {
      KeyStore store = emptyStore();
      for (int i = 0; i < trusted.size(); i++) {
        store.setCertificateEntry("authority " + i, trusted.get(i));
      }
      TrustManagerFactory trust =
          TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
      trust.init(store);
      return trust.getTrustManagers();
    } catch (GeneralSecurityException e) {
      throw new IOException(authorities + " cannot be used: " + e.getMessage(), e);
    }
  }

  private static KeyStore emptyStore() throws GeneralSecurityException, IOException {
    KeyStore store = KeyStore.getInstance("PKCS12");
    store.load(null, null);
    return store;
  }

  private static List<Certificate> certificates(Path file) throws IOException {
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

  private static PrivateKey key(Path file, String algorithm) throws IOException {
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
}
