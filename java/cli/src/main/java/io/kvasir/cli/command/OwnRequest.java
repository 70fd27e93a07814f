package io.kvasir.cli.command;

import io.kvasir.exchange.http.TlsFiles;
import io.kvasir.gateway.Gateway;
import io.kvasir.gateway.keys.KeyRing;
import java.io.IOException;
import java.io.InputStream;
import java.net.HttpURLConnection;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.CertificateFactory;
import javax.net.ssl.HttpsURLConnection;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/** A request of the command's own to the gateway that it has started. Stateless. */
final class OwnRequest {

  private static final int TIMEOUT_MS = 30_000;

  private OwnRequest() {}

  /**
   * What the gateway answered.
   *
   * @param status the HTTP status
   * @param text the whole body
   */
  record Answer(int status, String text) {}

  /**
   * Posts JSON over the gateway's public port and waits for the whole answer.
   *
   * @param host the host that the gateway listens on
   */
  static Answer send(Gateway gateway, String host, String path, String body) throws IOException {
    TlsFiles tls = gateway.address().tls();
    URI url =
        URI.create((tls == null ? "http://" : "https://") + host + ":" + gateway.port() + path);
    HttpURLConnection connection = (HttpURLConnection) url.toURL().openConnection();
    if (tls != null && connection instanceof HttpsURLConnection secured) {
      trust(secured, tls.certificate());
    }
    connection.setConnectTimeout(TIMEOUT_MS);
    connection.setReadTimeout(TIMEOUT_MS);
    connection.setRequestProperty("content-type", "application/json");
    KeyRing keys = gateway.keys();
    if (keys != null) {
      connection.setRequestProperty("authorization", keys.ownAuthorization());
    }
    connection.setDoOutput(true);
    connection.getOutputStream().write(body.getBytes(StandardCharsets.UTF_8));
    int status = connection.getResponseCode();
    try (InputStream reply =
        status < 400 ? connection.getInputStream() : connection.getErrorStream()) {
      byte[] text = reply == null ? new byte[0] : reply.readAllBytes();
      return new Answer(status, new String(text, StandardCharsets.UTF_8));
    }
  }

  /** Trusts the gateway's own certificate, whatever host it names, and no other. */
  private static void trust(HttpsURLConnection connection, Path certificate) throws IOException {
    try (InputStream file = Files.newInputStream(certificate)) {
      KeyStore own = KeyStore.getInstance(KeyStore.getDefaultType());
      own.load(null, null);
      own.setCertificateEntry(
          "own", CertificateFactory.getInstance("X.509").generateCertificate(file));
      TrustManagerFactory managers =
          TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
      managers.init(own);
      SSLContext context = SSLContext.getInstance("TLS");
      context.init(null, managers.getTrustManagers(), null);
      connection.setSSLSocketFactory(context.getSocketFactory());
      connection.setHostnameVerifier((name, session) -> true);
    } catch (GeneralSecurityException e) {
      throw new IOException("the own certificate cannot be trusted", e);
    }
  }
}
