package io.kvasir.gateway;

import static io.kvasir.gateway.TestGateway.ASK;
import static io.kvasir.gateway.TestGateway.ASK_STREAM;
import static io.kvasir.gateway.TestGateway.CHAT;
import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsServer;
import io.kvasir.testing.harness.Await;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** An engine behind TLS is used if its certificate is trusted and names it, and not otherwise. */
@Tag("process")
@Tag("jdk")
class HttpsEngineTest {

  private static final String PASSWORD = "changeit";
  private static final String TRUST_STORE = "javax.net.ssl.trustStore";
  private static final String TRUST_PASSWORD = "javax.net.ssl.trustStorePassword";

  private final ExecutorService threads = Executors.newCachedThreadPool();
  private final AtomicInteger rendered = new AtomicInteger();
  @TempDir private Path folder;

  @AfterEach
  void forget() {
    System.clearProperty(TRUST_STORE);
    System.clearProperty(TRUST_PASSWORD);
    threads.shutdownNow();
  }

  @Test
  void aTrustedEngineAnswers() throws Exception {
    Path keys = keys("localhost");
    trust(keys);
    HttpsServer engine = engine(keys);
    try (TestGateway gateway = gateway(engine)) {
      // The first handshake may take longer than an answer may.
      Await.until("a healthy worker", () -> gateway.metric("kvasir_worker_healthy") == 1);
      for (int i = 0; i < 3; i++) {
        assertThat(gateway.post(CHAT, ASK).text()).contains("Hello");
        assertThat(gateway.post(CHAT, ASK_STREAM).text()).contains("Hello", "[DONE]");
      }
    } finally {
      engine.stop(0);
    }
  }

  @Test
  void anUntrustedEngineIsNotUsed() throws Exception {
    HttpsServer engine = engine(keys("localhost"));
    try (TestGateway gateway = gateway(engine)) {
      assertThat(gateway.metric("kvasir_worker_healthy")).isZero();
      assertThat(gateway.post(CHAT, ASK).status()).isEqualTo(503);
    } finally {
      engine.stop(0);
    }
  }

  @Test
  void anEngineOfAnotherNameIsNotUsed() throws Exception {
    Path keys = keys("other.example");
    trust(keys);
    HttpsServer engine = engine(keys);
    try (TestGateway gateway = gateway(engine)) {
      assertThat(gateway.metric("kvasir_worker_healthy")).isZero();
    } finally {
      engine.stop(0);
    }
  }

  @Test
  void anEngineWhoseAuthorityIsNamedIsUsed() throws Exception {
    Path keys = keys("localhost");
    Path other = keys("other.example");
    HttpsServer engine = engine(keys);
    try (TestGateway gateway = gateway(engine, ",ca=" + certificate(keys))) {
      assertThat(gateway.post(CHAT, ASK).text()).contains("Hello");
    }
    try (TestGateway gateway = gateway(engine, ",ca=" + certificate(other))) {
      assertThat(gateway.post(CHAT, ASK).status()).isEqualTo(503);
    } finally {
      engine.stop(0);
    }
  }

  @Test
  void anEngineOfAnotherNameIsNotUsedWhateverItsAuthority() throws Exception {
    Path keys = keys("other.example");
    HttpsServer engine = engine(keys);
    try (TestGateway gateway = gateway(engine, ",ca=" + certificate(keys))) {
      assertThat(gateway.post(CHAT, ASK).status()).isEqualTo(503);
    }
    try (TestGateway gateway = gateway(engine, ",insecure=true")) {
      assertThat(gateway.post(CHAT, ASK).text()).contains("Hello");
    } finally {
      engine.stop(0);
    }
  }

  @ParameterizedTest
  @CsvSource({"'', 0", "',renderer_ca=', 1", "',renderer_insecure=true', 1"})
  void aRendererIsAskedIfItsAuthorityIsNamed(String trust, int questions) throws Exception {
    Path keys = keys("localhost");
    HttpsServer renderer = engine(keys);
    String url = "https://localhost:" + renderer.getAddress().getPort();
    String file = trust.endsWith("=") ? certificate(keys).toString() : "";
    try (ScriptedEngine engine = ScriptedEngine.good();
        TestGateway gateway =
            TestGateway.of(List.of("http://" + engine.name() + ",renderer=" + url + trust + file))
                .router("approximate")
                .start()) {
      assertThat(gateway.post(CHAT, ASK).status()).isEqualTo(200);
      assertThat(rendered).hasValue(questions);
    } finally {
      renderer.stop(0);
    }
  }

  private static TestGateway gateway(HttpsServer engine) {
    return gateway(engine, "");
  }

  private static TestGateway gateway(HttpsServer engine, String trust) {
    return TestGateway.of(List.of("https://localhost:" + engine.getAddress().getPort() + trust))
        .start();
  }

  /** The certificate of a store as a file. */
  private static Path certificate(Path keys) throws Exception {
    byte[] bytes = store(keys).getCertificate("mykey").getEncoded();
    return Files.writeString(
        keys.resolveSibling(keys.getFileName() + ".crt"),
        "-----BEGIN CERTIFICATE-----\n"
            + Base64.getMimeEncoder().encodeToString(bytes)
            + "\n-----END CERTIFICATE-----\n");
  }

  private static KeyStore store(Path keys) throws Exception {
    KeyStore store = KeyStore.getInstance("PKCS12");
    try (InputStream in = Files.newInputStream(keys)) {
      store.load(in, PASSWORD.toCharArray());
    }
    return store;
  }

  private static void trust(Path keys) {
    System.setProperty(TRUST_STORE, keys.toString());
    System.setProperty(TRUST_PASSWORD, PASSWORD);
  }

  /** Makes a key and a certificate that it signs itself. */
  private Path keys(String host) throws Exception {
    Path file = folder.resolve(host + ".p12");
    Process keytool =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "keytool").toString(),
                "-genkeypair",
                "-keyalg",
                "EC",
                "-dname",
                "CN=" + host,
                "-ext",
                "SAN=dns:" + host,
                "-keystore",
                file.toString(),
                "-storepass",
                PASSWORD)
            .inheritIO()
            .start();
    assertThat(Await.end("keytool", keytool)).isZero();
    return file;
  }

  private HttpsServer engine(Path keys) throws Exception {
    KeyManagerFactory managers =
        KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
    managers.init(store(keys), PASSWORD.toCharArray());
    SSLContext context = SSLContext.getInstance("TLS");
    context.init(managers.getKeyManagers(), null, null);
    HttpsServer server =
        HttpsServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.setHttpsConfigurator(new HttpsConfigurator(context));
    server.setExecutor(threads);
    server.createContext("/", this::answer);
    server.start();
    return server;
  }

  private void answer(HttpExchange exchange) throws IOException {
    String body = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
    boolean models = exchange.getRequestURI().getPath().equals("/v1/models");
    boolean renders = exchange.getRequestURI().getPath().endsWith("/render");
    boolean streams = body.contains("\"stream\":true");
    String chunk = "{\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Hello\"}}]}";
    String answer =
        models
            ? "{\"object\":\"list\",\"data\":[{\"id\":\"m\"}]}"
            : renders
                ? "{\"token_ids\":[1,2,3]}"
                : streams
                    ? "data: " + chunk + "\n\ndata: [DONE]\n\n"
                    : "{\"choices\":[{\"index\":0,\"message\":{\"content\":\"Hello\"}}]}";
    rendered.addAndGet(renders ? 1 : 0);
    exchange
        .getResponseHeaders()
        .set("Content-Type", streams ? "text/event-stream" : "application/json");
    exchange.sendResponseHeaders(200, streams ? 0 : answer.length());
    exchange.getResponseBody().write(answer.getBytes(StandardCharsets.UTF_8));
    exchange.close();
  }
}
