package io.kvasir.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kvasir.exchange.http.TlsFiles;
import io.kvasir.testing.harness.TestCertificates;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.KeyStore;
import java.security.cert.X509Certificate;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The public port with TLS: certificates that are used, read again and refused. */
@Tag("process")
@Tag("jdk")
class TlsTest {

  @TempDir private Path folder;

  private KeyStore keys(String name, String algorithm, String... more) {
    return new TestCertificates(folder).keys(name, algorithm, more);
  }

  /** Writes certificate and key, each whole. */
  private TlsFiles files(String name, KeyStore certificate, KeyStore key) {
    TestCertificates to = new TestCertificates(folder);
    return new TlsFiles(to.certificate(name, certificate), to.key(name, key), null);
  }

  private static HttpClient client(KeyStore... trusted) {
    return HttpClient.newBuilder()
        .sslContext(TestCertificates.context(null, trusted))
        .version(HttpClient.Version.HTTP_1_1)
        .build();
  }

  private static HttpResponse<String> ask(HttpClient client, TestGateway gateway, String body)
      throws Exception {
    URI url = URI.create("https://127.0.0.1:" + gateway.gateway().port() + TestGateway.CHAT);
    HttpRequest.BodyPublisher text =
        HttpRequest.BodyPublishers.ofString(body, StandardCharsets.UTF_8);
    HttpResponse<String> reply =
        client.send(
            HttpRequest.newBuilder(url)
                .header("content-type", "application/json")
                .POST(text)
                .build(),
            HttpResponse.BodyHandlers.ofString());
    assertThat(reply.statusCode()).as(reply.body()).isEqualTo(200);
    return reply;
  }

  private static String subject(HttpResponse<?> reply) throws Exception {
    X509Certificate own =
        (X509Certificate) reply.sslSession().orElseThrow().getPeerCertificates()[0];
    return own.getSubjectX500Principal().getName();
  }

  @ParameterizedTest
  @ValueSource(strings = {"RSA", "EC"})
  void clientsThatTrustTheCertificateAreServed(String algorithm) throws Exception {
    KeyStore keys = keys("first", algorithm);
    try (ScriptedEngine engine = ScriptedEngine.good();
        TestGateway gateway = TestGateway.of(engine).tls(files("first", keys, keys)).start()) {
      HttpResponse<String> whole = ask(client(keys), gateway, TestGateway.ASK);
      assertThat(whole.body()).contains("Hello you");
      assertThat(whole.sslSession().orElseThrow().getProtocol()).isEqualTo("TLSv1.3");
      assertThat(ask(client(keys), gateway, TestGateway.ASK_STREAM).body()).contains("[DONE]");
      assertThatThrownBy(() -> ask(client(keys("other", "EC")), gateway, TestGateway.ASK))
          .isInstanceOf(IOException.class);
      try (RawClient plain = gateway.client()) { // HTTP without TLS
        plain.send("GET /v1/models HTTP/1.1\r\nHost: x\r\n\r\n");
        assertThat(plain.isDisconnected() || plain.isClosed()).isTrue();
      } catch (RuntimeException | AssertionError e) {
        // an alert of TLS is no reply
      }
      assertThat(ask(client(keys), gateway, TestGateway.ASK).statusCode()).isEqualTo(200);
    }
  }

  @Test
  void aNewCertificateIsForNewConnections() throws Exception {
    KeyStore first = keys("first", "EC");
    KeyStore second = keys("second", "RSA");
    TlsFiles files = files("server", first, first);
    try (ScriptedEngine engine = ScriptedEngine.good();
        TestGateway gateway = TestGateway.of(engine).tls(files).start()) {
      HttpClient before = client(first, second);
      assertThat(subject(ask(before, gateway, TestGateway.ASK))).isEqualTo("CN=first");
      files("server", second, second);
      gateway.gateway().reloadTls();
      HttpClient after = client(first, second);
      assertThat(subject(ask(after, gateway, TestGateway.ASK))).isEqualTo("CN=second");
      assertThat(subject(ask(before, gateway, TestGateway.ASK))).isEqualTo("CN=first");

      files("server", first, second);
      assertThatThrownBy(() -> gateway.gateway().reloadTls())
          .isInstanceOf(IOException.class)
          .hasMessageContaining("are no certificate and key");
      HttpResponse<String> still = ask(client(first, second), gateway, TestGateway.ASK);
      assertThat(subject(still)).isEqualTo("CN=second");
    }
  }

  @Test
  void bothPortsChangeOrNone() throws Exception {
    KeyStore first = keys("first", "EC");
    KeyStore second = keys("second", "EC");
    TlsFiles open = files("open", first, first);
    TlsFiles admin = files("admin", first, first);
    try (ScriptedEngine engine = ScriptedEngine.good();
        TestGateway gateway = TestGateway.of(engine).tls(open).adminTls(admin).start()) {
      files("open", second, second);
      files("admin", first, second);
      assertThatThrownBy(() -> gateway.gateway().reloadTls())
          .isInstanceOf(IOException.class)
          .hasMessageContaining("admin");
      HttpResponse<String> reply = ask(client(first, second), gateway, TestGateway.ASK);
      assertThat(subject(reply)).isEqualTo("CN=first");
    }
  }

  @Test
  void wrongFilesEndTheStart() throws Exception {
    KeyStore good = keys("good", "EC");
    KeyStore past = keys("past", "EC", "-startdate", "-10d", "-validity", "5");
    TlsFiles files = files("good", good, good);
    refused(files("mixed", good, keys("other", "EC")), "is not the key of");
    refused(files("kinds", good, keys("rsa", "RSA")), "does not match algorithm");
    refused(files("past", past, past), "is not valid today");
    refused(new TlsFiles(folder.resolve("none"), files.key(), null), "cannot be read");
    refused(new TlsFiles(files.key(), files.key(), null), "are no certificate and key");
    refused(
        new TlsFiles(files.certificate(), files.certificate(), null), "are no certificate and key");
  }

  private static void refused(TlsFiles files, String why) {
    try (ScriptedEngine engine = ScriptedEngine.good()) {
      assertThatThrownBy(() -> TestGateway.of(engine).tls(files).start().close())
          .hasMessageContaining(why);
    }
  }
}
