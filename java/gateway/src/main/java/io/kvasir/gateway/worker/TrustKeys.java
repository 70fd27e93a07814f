package io.kvasir.gateway.worker;

import io.kvasir.exchange.EngineTrust;
import io.kvasir.model.Errors;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The keys of a worker that say which certificates of a server are good. Stateless. */
final class TrustKeys {

  static final String CA = "ca";
  static final String INSECURE = "insecure";

  private TrustKeys() {}

  /**
   * Reads the keys.
   *
   * @param of what the names of the keys begin with
   * @param server the server's URL
   * @param file the value of {@link #CA}: certificates in PEM; null if it is not given
   * @param any the value of {@link #INSECURE}
   * @throws IllegalArgumentException naming the key that is wrong
   */
  static EngineTrust read(String of, URI server, @Nullable String file, boolean any) {
    if (file == null && !any) {
      return EngineTrust.JAVA;
    }
    if (!"https".equals(server.getScheme())) {
      throw new IllegalArgumentException(
          of + (file == null ? INSECURE : CA) + " must be left out without https");
    }
    if (file == null) {
      return EngineTrust.ANY;
    }
    if (any) {
      throw new IllegalArgumentException(
          "only one of " + of + CA + " and " + of + INSECURE + " must be given");
    }
    return new EngineTrust(authorities(of + CA, file), false);
  }

  private static List<X509Certificate> authorities(String key, String file) {
    String source = key + " '" + Errors.shown(file) + "'";
    try (InputStream in = Files.newInputStream(Path.of(file))) {
      List<X509Certificate> found =
          CertificateFactory.getInstance("X.509").generateCertificates(in).stream()
              .map(X509Certificate.class::cast)
              .toList();
      if (found.isEmpty()) {
        throw new IllegalArgumentException(source + " has no certificates");
      }
      return found;
    } catch (IOException | InvalidPathException e) {
      throw new IllegalArgumentException(source + " cannot be read: " + Errors.reason(e), e);
    } catch (CertificateException e) {
      throw new IllegalArgumentException(
          source + " must have certificates in PEM: " + Errors.reason(e), e);
    }
  }
}
