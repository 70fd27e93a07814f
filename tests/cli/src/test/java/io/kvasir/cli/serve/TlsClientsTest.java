package io.kvasir.cli.serve;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.kvasir.testing.harness.ChildProcess;
import io.kvasir.testing.harness.LongRuns;
import io.kvasir.testing.harness.TestCertificates;
import java.io.IOException;
import java.nio.file.Path;
import java.security.KeyStore;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Programs of others at a public port with TLS: curl, and the official clients of OpenAI's API. */
@Tag("process")
class TlsClientsTest {

  private static final int REQUESTS = LongRuns.cases(300, 5_000);
  private static final int RELOADS = LongRuns.cases(10, 100);

  /** The exit status of curl for a server that it does not trust. */
  private static final int UNTRUSTED = 60;

  /** That for a handshake that fails. */
  private static final int NO_CONNECTION = 35;

  @TempDir private static Path folder;
  private static TestCertificates certificates;
  private static KeyStore keys;
  private static Path certificate;
  private static ServingProcess gateway;

  @BeforeAll
  static void start() throws IOException {
    certificates = new TestCertificates(folder);
    keys = certificates.keys("server", "EC");
    certificate = certificates.certificate("server", keys);
    Path key = certificates.key("server", keys);
    gateway =
        ServingProcess.embedded(
            "--speed", "10", "--ssl-certfile", certificate + "", "--ssl-keyfile", key + "");
  }

  @AfterAll
  static void stop() {
    if (gateway != null) {
      gateway.close();
    }
  }

  private static Tools.Result curl(String... words) throws IOException {
    List<String> command = new ArrayList<>(List.of("curl", "--silent", "--show-error"));
    command.addAll(Arrays.asList(words));
    try {
      return Tools.run(folder, Map.of(), command.toArray(String[]::new));
    } catch (IOException e) {
      assumeTrue(false, "curl is missing: apt-get install curl");
      throw e;
    }
  }

  private static String[] ask(String more, String... words) {
    List<String> all = new ArrayList<>(List.of(words));
    String body =
        "{\"model\":\"kvasir\",\"messages\":[{\"role\":\"user\",\"content\":\"Hello\"}]"
            + more
            + "}";
    all.addAll(List.of("--cacert", certificate.toString(), "--data", body));
    all.addAll(List.of("--header", "content-type: application/json"));
    all.addAll(List.of("--write-out", "\n%{http_version} %{http_code}\n"));
    all.add(gateway.url() + "/v1/chat/completions");
    return all.toArray(String[]::new);
  }

  @ParameterizedTest
  @ValueSource(strings = {"--http2", "--http1.1"})
  void curlIsServedByTheVersionThatItOffers(String version) throws IOException {
    String status = (version.equals("--http2") ? "2" : "1.1") + " 200\n";
    Tools.Result whole = curl(ask("", version));
    assertThat(whole.output()).contains("chat.completion").endsWith(status);
    Tools.Result stream = curl(ask(",\"stream\":true", version));
    assertThat(stream.output()).contains("data: [DONE]").endsWith(status);
  }

  @Test
  void curlThatDoesNotTrustTheCertificateIsNotServed() throws IOException {
    assertThat(curl(gateway.url() + "/v1/models").exitCode()).isEqualTo(UNTRUSTED);
    Tools.Result old = curl(ask("", "--tls-max", "1.1"));
    assertThat(old.exitCode()).as(old.output()).isEqualTo(NO_CONNECTION);
  }

  @Test
  void reloadsUnderLoadFailNoRequest() throws Exception {
    ServingProcess.requireHangUps();
    String[] one = ask(",\"stream\":true", "--http2", "--parallel", "--parallel-max", "20");
    List<String> all = new ArrayList<>(Arrays.asList(one));
    all.addAll(Collections.nCopies(REQUESTS - 1, one[one.length - 1]));
    CompletableFuture<Tools.Result> load =
        CompletableFuture.supplyAsync(
            () -> {
              try {
                return curl(all.toArray(String[]::new));
              } catch (IOException e) {
                throw new AssertionError(e);
              }
            });
    for (int i = 0; i < RELOADS; i++) {
      certificates.certificate("server", keys);
      certificates.key("server", keys);
      gateway.hangUp();
      Tools.Result fresh = curl(ask("", "--http2"));
      assertThat(fresh.output()).endsWith("2 200\n");
    }
    Tools.Result served = load.get();
    assertThat(served.exitCode()).as(served.output()).isZero();
    assertThat(served.output().lines().filter("2 200"::equals)).hasSize(REQUESTS);
    assertThat(served.output().lines().filter("data: [DONE]"::equals)).hasSize(REQUESTS);
  }

  @Test
  void aCertificateThatIsNotValidTodayIsRefusedAtTheStart() throws IOException {
    KeyStore old = certificates.keys("old", "EC", "-startdate", "-3d", "-validity", "1");
    Path expired = certificates.certificate("old", old);
    Path key = certificates.key("old", old);
    ChildProcess refused =
        ServingProcess.refused("--ssl-certfile", expired + "", "--ssl-keyfile", key + "");
    assertThat(refused.exitCode()).as(refused.output()).isNotZero();
    assertThat(refused.output()).contains(expired + " is not valid today");
  }

  @Test
  void theClientOfPython() throws IOException {
    Tools.requirePython("openai");
    pass(
        Tools.run(
            Tools.CLIENTS,
            environment("SSL_CERT_FILE"),
            Tools.python(),
            "-B",
            "openai_client_test.py"),
        "(?s).*Ran [1-9].*");
  }

  @Test
  void theClientOfNpm() throws IOException {
    Path clients = Tools.nodeFolder(TlsClientsTest.class);
    pass(
        Tools.run(clients, environment("NODE_EXTRA_CA_CERTS"), "node", "openai_client_test.mjs"),
        "(?s).*# pass [1-9].*");
  }

  private static Map<String, String> environment(String trusted) {
    return Map.of(
        "KVASIR_URL",
        gateway.url(),
        "KVASIR_METRICS",
        gateway.metricsUrl(),
        trusted,
        certificate.toAbsolutePath().toString());
  }

  private static void pass(Tools.Result result, String pattern) {
    assertThat(result.exitCode()).as(() -> result.output() + "\n" + gateway).isZero();
    assertThat(result.output()).as("some tests ran").matches(pattern);
  }
}
