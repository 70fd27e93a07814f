package io.kvasir.cli.option;

import static java.nio.charset.StandardCharsets.US_ASCII;

import io.kvasir.tcp.GroupCertificates;
import io.kvasir.tcp.GroupSecret;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.util.EnumSet;
import java.util.Map;
import java.util.Set;

/** Options by which processes that meet over TCP trust each other. */
@Heading(Heading.PROCESSES)
final class TrustOptions extends DeclaredOptions {

  private static final String SECRET_FILE = "--secret-file";
  private static final String CERTIFICATE = "--ssl-certfile";
  private static final String KEY = "--ssl-keyfile";
  private static final String AUTHORITIES = "--ssl-ca-certs";
  private static final String SECRET_VARIABLE = "KVASIR_GROUP_SECRET";
  private static final int MAX_SECRET_BYTES = 1_024;
  private static final Set<PosixFilePermission> OF_OWNER =
      EnumSet.of(
          PosixFilePermission.OWNER_READ,
          PosixFilePermission.OWNER_WRITE,
          PosixFilePermission.OWNER_EXECUTE);

  private final Declared<Path> secretFile =
      path(SECRET_FILE)
          .help(
              80,
              "File with the secret that the processes share, for tcp: 64 hexadecimal digits, as openssl"
                  + " rand -hex 32 prints them, readable by its owner only (default: the variable "
                  + SECRET_VARIABLE
                  + ").");

  private final Declared<Path> certificate =
      path(CERTIFICATE)
          .help(
              82,
              "Certificate of this process, in PEM. The processes encrypt what they"
                  + " send with TLS 1.3, for tcp.");

  private final Declared<Path> key =
      path(KEY)
          .help(
              83,
              "Private key of the certificate, in PEM, unencrypted PKCS #8, readable"
                  + " by its owner only.");

  private final Declared<Path> authorities =
      path(AUTHORITIES)
          .help(
              84,
              "Certificates of the authorities that sign those of processes, in PEM"
                  + " (default: the process's own certificate, for one that all share).");

  TrustOptions() {}

  /**
   * Checks that options are complete.
   *
   * @throws UsageException naming the one that lacks another
   */
  void check() {
    if (certificate.isGiven() != key.isGiven()) {
      throw new UsageException(
          certificate.isGiven() ? CERTIFICATE : KEY,
          "needs " + (certificate.isGiven() ? KEY : CERTIFICATE) + " too");
    }
    if (authorities.isGiven() && !certificate.isGiven()) {
      throw new UsageException(AUTHORITIES, "needs " + CERTIFICATE);
    }
  }

  /** What all processes share: the secret, and the certificates if they encrypt. */
  GroupSecret secret(Map<String, String> environment) throws IOException {
    String variable = environment.getOrDefault(SECRET_VARIABLE, "");
    if (!secretFile.isGiven() && variable.isEmpty()) {
      throw new UsageException(
          SECRET_FILE, "or the variable " + SECRET_VARIABLE + " is needed with --collective tcp");
    }
    GroupSecret secret = parseSecret(variable);
    if (!certificate.isGiven() || !key.isGiven()) {
      return secret;
    }
    Path keyFile = key.value();
    requireOwnersOnly(KEY, keyFile);
    return secret.encrypting(
        GroupCertificates.read(
            certificate.value(), keyFile, authorities.orElse(certificate.value())));
  }

  private GroupSecret parseSecret(String variable) throws IOException {
    String source = !secretFile.isGiven() ? SECRET_VARIABLE : SECRET_FILE + " " + secretFile.text();
    try {
      return GroupSecret.parse(!secretFile.isGiven() ? variable.strip() : read(secretFile.value()));
    } catch (IllegalArgumentException e) {
      throw new UsageException(SECRET_FILE, source + ": " + e.getMessage());
    }
  }

  private static void requireOwnersOnly(String option, Path file) throws IOException {
    if (!OF_OWNER.containsAll(Files.getPosixFilePermissions(file))) {
      throw new UsageException(
          option, file + " must be readable by its owner only (chmod 600 " + file + ")");
    }
  }

  private static String read(Path file) throws IOException {
    requireOwnersOnly(SECRET_FILE, file);
    try (var in = Files.newInputStream(file)) {
      return new String(in.readNBytes(MAX_SECRET_BYTES), US_ASCII).strip();
    }
  }
}
