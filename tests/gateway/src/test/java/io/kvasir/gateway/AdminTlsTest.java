package io.kvasir.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kvasir.exchange.http.TlsFiles;
import io.kvasir.testing.harness.Await;
import io.kvasir.testing.harness.TestCertificates;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.util.List;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The admin port with TLS, and with certificates of its clients. */
@Tag("process")
class AdminTlsTest {

  @TempDir private static Path folder;
  private static KeyStore server;
  private static KeyStore operator;
  private static KeyStore stranger;

  @BeforeAll
  static void makeCertificates() {
    TestCertificates certificates = new TestCertificates(folder);
    server = certificates.keys("server", "EC");
    operator = certificates.keys("operator", "EC");
    stranger = certificates.keys("stranger", "EC");
  }

  private static TlsFiles files(Path clients) {
    TestCertificates certificates = new TestCertificates(folder);
    return new TlsFiles(
        certificates.certificate("server", server), certificates.key("server", server), clients);
  }

  private static int status(KeyStore own, TestGateway gateway) throws Exception {
    HttpResponse<String> reply =
        HttpClient.newBuilder()
            .sslContext(TestCertificates.context(own, server))
            .build()
            .send(
                HttpRequest.newBuilder(
                        URI.create(
                            "https://localhost:" + gateway.gateway().adminPort() + "/workers"))
                    .timeout(Await.limit()) // the JDK's client may miss that it was refused
                    .build(),
                HttpResponse.BodyHandlers.ofString());
    assertThat(reply.version()).isEqualTo(HttpClient.Version.HTTP_2);
    return reply.statusCode();
  }

  @Test
  void everyClientIsServedWithoutAuthorities() throws Exception {
    try (ScriptedEngine engine = ScriptedEngine.good();
        TestGateway gateway = TestGateway.of(engine).adminTls(files(null)).start()) {
      assertThat(status(null, gateway)).isEqualTo(200);
      gateway.works(); // the public port has no TLS
    }
  }

  @Test
  void onlyCertificatesOfTheAuthoritiesAreServed() throws Exception {
    TestCertificates certificates = new TestCertificates(folder);
    Path authorities = certificates.certificate("operators", operator);
    try (ScriptedEngine engine = ScriptedEngine.good();
        TestGateway gateway = TestGateway.of(engine).adminTls(files(authorities)).start()) {
      assertThat(status(operator, gateway)).isEqualTo(200);
      assertThatThrownBy(() -> status(null, gateway)).isInstanceOf(IOException.class);
      assertThatThrownBy(() -> status(stranger, gateway)).isInstanceOf(IOException.class);

      certificates.certificate("operators", stranger);
      gateway.gateway().reloadTls();
      assertThat(status(stranger, gateway)).isEqualTo(200);
      assertThatThrownBy(() -> status(operator, gateway)).isInstanceOf(IOException.class);

      Files.writeString(authorities, "none");
      assertThatThrownBy(() -> gateway.gateway().reloadTls())
          .isInstanceOf(IOException.class)
          .hasMessageContaining("operators.crt has no certificates");
      assertThat(status(stranger, gateway)).isEqualTo(200);
    }
  }

  @Test
  void aNameOfAPageIsRefusedOverStreamsToo() {
    try (ScriptedEngine engine = ScriptedEngine.good();
        TestGateway gateway = TestGateway.of(engine).adminTls(files(null)).start();
        StreamClient client = StreamClient.to(gateway.gateway().adminPort())) {
      assertThat(client.get("evil.example", "/workers").status()).isEqualTo(421);
      assertThat(client.get("localhost", "/workers").status()).isEqualTo(200);
    }
  }

  @Test
  void oldProtocolsAreRefused() throws Exception {
    try (ScriptedEngine engine = ScriptedEngine.good();
        TestGateway gateway =
            TestGateway.of(engine).tls(files(null)).adminTls(files(null)).start()) {
      SSLContext context = TestCertificates.context(null, server);
      List<Integer> ports = List.of(gateway.gateway().port(), gateway.gateway().adminPort());
      for (int port : ports) {
        for (String protocol : List.of("TLSv1.3", "TLSv1.2")) {
          try (SSLSocket socket =
              (SSLSocket) context.getSocketFactory().createSocket("localhost", port)) {
            socket.setEnabledProtocols(new String[] {protocol});
            socket.startHandshake();
            assertThat(socket.getSession().getProtocol()).isEqualTo(protocol);
          }
        }
        for (String protocol : List.of("-tls1", "-tls1_1")) {
          Process openssl =
              new ProcessBuilder(
                      "openssl",
                      "s_client",
                      "-connect",
                      "localhost:" + port,
                      protocol,
                      "-cipher",
                      "ALL:@SECLEVEL=0")
                  .redirectErrorStream(true)
                  .redirectInput(ProcessBuilder.Redirect.from(Path.of("/dev/null").toFile()))
                  .start();
          String said = new String(openssl.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
          assertThat(openssl.waitFor()).as(said).isNotZero();
          assertThat(said).contains("alert protocol version");
        }
      }
    }
  }
}
