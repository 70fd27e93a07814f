package io.kvasir.testing.harness;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.util.Arrays;
import java.util.Base64;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/** Keys and certificates of tests, by the JDK's own tool, in a folder. Thread-safe. */
public final class TestCertificates {

  private static final char[] PASSWORD = "changeit".toCharArray();
  private static final String ALIAS = "own";
  private static final int LINE = 64;

  private final Path folder;

  /**
   * Makes files in a folder.
   *
   * @param folder the folder
   */
  public TestCertificates(Path folder) {
    this.folder = folder;
  }

  /**
   * Makes a key, and a certificate of the local host that it signs itself.
   *
   * @param name whom the certificate names
   * @param algorithm RSA or EC
   * @param more further words for keytool
   * @return both
   */
  public KeyStore keys(String name, String algorithm, String... more) {
    Path store = folder.resolve(name + ".p12");
    String[] words = {
      Path.of(System.getProperty("java.home"), "bin", "keytool").toString(),
      "-genkeypair",
      "-alias",
      ALIAS,
      "-keyalg",
      algorithm,
      "-dname",
      "CN=" + name,
      "-ext",
      "san=dns:localhost,ip:127.0.0.1",
      "-storetype",
      "PKCS12",
      "-keystore",
      store.toString(),
      "-storepass",
      new String(PASSWORD)
    };
    ProcessBuilder tool = new ProcessBuilder(words).redirectErrorStream(true);
    tool.command().addAll(Arrays.asList(more));
    try {
      ChildProcess made = ChildProcess.run("keytool", tool);
      if (made.exitCode() != 0) {
        throw new AssertionError(made.output());
      }
    } catch (IOException e) {
      throw new AssertionError(e);
    }
    try (InputStream in = Files.newInputStream(store)) {
      KeyStore keys = KeyStore.getInstance("PKCS12");
      keys.load(in, PASSWORD);
      return keys;
    } catch (IOException | GeneralSecurityException e) {
      throw new AssertionError(e);
    }
  }

  /**
   * Writes a certificate, or replaces one, whole.
   *
   * @param name the file's name without its ending
   * @param keys has the certificate
   * @return the file, in PEM
   */
  public Path certificate(String name, KeyStore keys) {
    try {
      return write(name + ".crt", "CERTIFICATE", keys.getCertificate(ALIAS).getEncoded());
    } catch (GeneralSecurityException e) {
      throw new AssertionError(e);
    }
  }

  /**
   * Writes a key, or replaces one, whole.
   *
   * @param name the file's name without its ending
   * @param keys has the key
   * @return the file, in PEM
   */
  public Path key(String name, KeyStore keys) {
    try {
      return write(name + ".key", "PRIVATE KEY", keys.getKey(ALIAS, PASSWORD).getEncoded());
    } catch (GeneralSecurityException e) {
      throw new AssertionError(e);
    }
  }

  private Path write(String name, String kind, byte[] bytes) {
    String text = Base64.getMimeEncoder(LINE, new byte[] {'\n'}).encodeToString(bytes);
    Path file = folder.resolve(name);
    Path next = folder.resolve(name + ".next");
    try {
      Files.writeString(
          next, "-----BEGIN " + kind + "-----\n" + text + "\n-----END " + kind + "-----\n");
      return Files.move(next, file, StandardCopyOption.REPLACE_EXISTING);
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  /**
   * What a client needs for TLS.
   *
   * @param own its key and certificate; null for none
   * @param trusted the certificates of servers that it trusts
   * @return the context
   */
  public static SSLContext context(KeyStore own, KeyStore... trusted) {
    try {
      KeyStore all = KeyStore.getInstance("PKCS12");
      all.load(null, null);
      for (int i = 0; i < trusted.length; i++) {
        all.setCertificateEntry("trusted" + i, trusted[i].getCertificate(ALIAS));
      }
      TrustManagerFactory trust =
          TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
      trust.init(all);
      KeyManagerFactory keys =
          KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
      keys.init(own, PASSWORD);
      SSLContext context = SSLContext.getInstance("TLS");
      context.init(own == null ? null : keys.getKeyManagers(), trust.getTrustManagers(), null);
      return context;
    } catch (IOException | GeneralSecurityException e) {
      throw new AssertionError(e);
    }
  }
}
