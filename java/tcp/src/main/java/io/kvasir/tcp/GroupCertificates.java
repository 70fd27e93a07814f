package io.kvasir.tcp;

import io.kvasir.internal.tls.PemFiles;
import java.io.IOException;
import java.nio.file.Path;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;

/**
 * The certificates by which the members of a TCP group encrypt their connections with TLS 1.3. Both
 * sides of a connection show a certificate, which the other's authorities must have signed. Names
 * in certificates are not compared with addresses: authorities are the group's own.
 *
 * <p>Immutable.
 */
public final class GroupCertificates {

  private static final String PROTOCOL = "TLSv1.3";

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
    return new GroupCertificates(PemFiles.context(PROTOCOL, certificates, key, authorities));
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
