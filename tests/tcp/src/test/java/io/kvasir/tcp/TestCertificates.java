package io.kvasir.tcp;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.testing.harness.ChildProcess;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.util.Base64;

/** A certificate that signs itself, and its key, in PEM files. */
record TestCertificates(Path certificate, Path key) {

  private static final String PASSWORD = "password";

  static TestCertificates make(Path folder, String name, String algorithm) throws Exception {
    Path store = folder.resolve(name + ".p12");
    ProcessBuilder keytool =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "keytool").toString(),
                "-genkeypair",
                "-alias",
                "member",
                "-keyalg",
                algorithm,
                "-dname",
                "CN=" + name,
                "-keystore",
                store.toString(),
                "-storepass",
                PASSWORD)
            .redirectErrorStream(true);
    try (ChildProcess running = ChildProcess.start("keytool", keytool)) {
      assertThat(running.exitCode()).as(running.output()).isZero();
    }
    KeyStore keys = KeyStore.getInstance("PKCS12");
    try (InputStream in = Files.newInputStream(store)) {
      keys.load(in, PASSWORD.toCharArray());
    }
    return new TestCertificates(
        pem(
            folder.resolve(name + ".crt"),
            "CERTIFICATE",
            keys.getCertificate("member").getEncoded()),
        pem(
            folder.resolve(name + ".key"),
            "PRIVATE KEY",
            keys.getKey("member", PASSWORD.toCharArray()).getEncoded()));
  }

  private static Path pem(Path file, String label, byte[] bytes) throws IOException {
    String lines = Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(bytes);
    return Files.writeString(
        file, "-----BEGIN " + label + "-----\n" + lines + "\n-----END " + label + "-----\n");
  }

  GroupCertificates read() throws IOException {
    return GroupCertificates.read(certificate, key, certificate);
  }
}
