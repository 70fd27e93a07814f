package io.kvasir.exchange.http;

import io.kvasir.model.Errors;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.ClientAuth;
import io.vertx.core.net.PemKeyCertOptions;
import io.vertx.core.net.PemTrustOptions;
import io.vertx.core.net.ServerSSLOptions;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.PrivateKey;
import java.security.PublicKey;
import java.security.Signature;
import java.security.cert.Certificate;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import javax.net.ssl.KeyManager;
import javax.net.ssl.TrustManagerFactory;
import javax.net.ssl.X509KeyManager;
import org.jspecify.annotations.Nullable;

/**
 * A server's certificate and private key, RSA or EC, in PEM files of their own. Immutable.
 *
 * @param certificate the certificate, and behind it those that vouch for it
 * @param key its private key, without a password
 * @param clients the certificates of the authorities that sign those of clients, which then need
 *     one; null if clients need none
 */
public record TlsFiles(Path certificate, Path key, @Nullable Path clients) {

  private static final Set<String> PROTOCOLS = Set.of("TLSv1.2", "TLSv1.3");
  private static final List<String> ALPN = List.of("h2", "http/1.1");

  /**
   * Reads the files.
   *
   * @throws IOException if a file cannot be read, the key is not that of the certificate, or a
   *     certificate is not valid today
   */
  ServerSSLOptions read(Vertx vertx) throws IOException {
    PemKeyCertOptions pem =
        new PemKeyCertOptions().setCertValue(bytes(certificate)).setKeyValue(bytes(key));
    try {
      for (KeyManager each : pem.getKeyManagerFactory(vertx).getKeyManagers()) {
        check((X509KeyManager) each);
      }
    } catch (IOException e) {
      throw e;
    } catch (Exception e) { // Vert.x declares any
      throw new IOException(
          certificate + " and " + key + " are no certificate and key: " + Errors.reason(e), e);
    }
    ServerSSLOptions options = new ServerSSLOptions();
    if (clients != null) {
      options.setClientAuth(ClientAuth.REQUIRED).setTrustOptions(authorities(clients, vertx));
    }
    return options
        .setUseAlpn(true)
        .setApplicationLayerProtocols(ALPN)
        .setKeyCertOptions(pem)
        .setEnabledSecureTransportProtocols(PROTOCOLS);
  }

  private static PemTrustOptions authorities(Path file, Vertx vertx) throws IOException {
    Buffer bytes = bytes(file);
    Collection<? extends Certificate> all;
    try {
      all =
          CertificateFactory.getInstance("X.509")
              .generateCertificates(new ByteArrayInputStream(bytes.getBytes()));
    } catch (CertificateException e) {
      throw new IOException(file + " has no certificates: " + Errors.reason(e), e);
    }
    if (all.isEmpty()) {
      throw new IOException(file + " has no certificates");
    }
    for (Certificate each : all) {
      checkDates(file, (X509Certificate) each);
    }
    PemTrustOptions trust = new PemTrustOptions().addCertValue(bytes);
    try {
      TrustManagerFactory unused = trust.getTrustManagerFactory(vertx);
    } catch (Exception e) { // Vert.x declares any
      throw new IOException(file + " has no certificates in PEM: " + Errors.reason(e), e);
    }
    return trust;
  }

  private static void checkDates(Path file, X509Certificate certificate) throws IOException {
    try {
      certificate.checkValidity();
    } catch (CertificateException e) {
      throw new IOException(file + " is not valid today: " + Errors.reason(e), e);
    }
  }

  private static Buffer bytes(Path file) throws IOException {
    try {
      return Buffer.buffer(Files.readAllBytes(file));
    } catch (IOException e) {
      throw new IOException(file + " cannot be read: " + Errors.reason(e), e);
    }
  }

  private void check(X509KeyManager manager) throws IOException, GeneralSecurityException {
    for (String type : new String[] {"RSA", "EC"}) {
      String[] aliases = manager.getServerAliases(type, null);
      for (String alias : aliases == null ? new String[0] : aliases) {
        X509Certificate own = manager.getCertificateChain(alias)[0];
        checkDates(certificate, own);
        if (!isPair(manager.getPrivateKey(alias), own.getPublicKey())) {
          throw new IOException(key + " is not the key of " + certificate);
        }
      }
    }
  }

  /** Keys of two algorithms are no pair, which Java has found before. */
  private static boolean isPair(PrivateKey own, PublicKey other) throws GeneralSecurityException {
    String algorithm = own.getAlgorithm().equals("RSA") ? "SHA256withRSA" : "SHA256withECDSA";
    byte[] text = {1};
    Signature signer = Signature.getInstance(algorithm);
    signer.initSign(own);
    signer.update(text);
    Signature verifier = Signature.getInstance(algorithm);
    verifier.initVerify(other);
    verifier.update(text);
    return verifier.verify(signer.sign());
  }
}
