package io.kvasir.cli.command;

import io.kvasir.cli.option.Declared;
import io.kvasir.cli.option.DeclaredOptions;
import io.kvasir.cli.option.UsageException;
import io.kvasir.internal.tls.PemFiles;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import javax.net.ssl.SSLContext;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;

/** A command that asks the admin port of a running gateway. */
@Command
abstract class AdminCommand extends DeclaredOptions {

  private static final String CERTIFICATE = "--ssl-certfile";
  private static final String KEY = "--ssl-keyfile";
  private static final String AUTHORITIES = "--ssl-ca-certs";
  private static final String HTTPS = "https";

  private final Declared<URI> adminUrl =
      option(AdminClient.URL_OPTION, "URL", AdminClient.DEFAULT_URL, AdminClient::url)
          .help(1, "The gateway's admin port");

  private final Declared<Path> authorities =
      path(AUTHORITIES)
          .help(
              11,
              "Certificates in PEM of the authorities that sign the admin port's, with https"
                  + " (default: the authorities that Java trusts).");

  private final Declared<Path> certificate =
      path(CERTIFICATE)
          .help(
              12,
              "Certificate in PEM for an admin port with --admin-ssl-ca-certs (default: none).");

  private final Declared<Path> certificateKey =
      path(KEY)
          .help(13, "The certificate's private key, unencrypted PKCS #8 in PEM (default: none).");

  /** The admin port's address. */
  final URI adminUrl() {
    return adminUrl.value();
  }

  /**
   * The admin port.
   *
   * @param key the key for changes; null for none
   * @param timeout the longest wait for an answer
   * @throws IOException if a file of certificates cannot be read or used
   */
  final AdminClient admin(@Nullable String key, Duration timeout) throws IOException {
    if (certificate.isGiven() != certificateKey.isGiven()) {
      throw new UsageException(
          certificate.isGiven() ? CERTIFICATE : KEY,
          "needs " + (certificate.isGiven() ? KEY : CERTIFICATE) + " too");
    }
    if (!certificate.isGiven() && !authorities.isGiven()) {
      return new AdminClient(adminUrl(), key, timeout, null);
    }
    if (!HTTPS.equals(adminUrl().getScheme())) {
      throw new UsageException(
          authorities.isGiven() ? AUTHORITIES : CERTIFICATE,
          "needs " + AdminClient.URL_OPTION + " https://HOST:PORT");
    }
    SSLContext tls =
        PemFiles.context("TLSv1.3", given(certificate), given(certificateKey), given(authorities));
    return new AdminClient(adminUrl(), key, timeout, tls);
  }

  private static @Nullable Path given(Declared<Path> option) {
    return option.isGiven() ? option.value() : null;
  }
}
