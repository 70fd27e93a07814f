package io.kvasir.gateway;

import static io.kvasir.gateway.TestGateway.ASK;
import static io.kvasir.gateway.TestGateway.ASK_STREAM;
import static io.kvasir.gateway.TestGateway.CHAT;
import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.gateway.RawClient.Reply;
import io.kvasir.gateway.proxy.CrossOrigin;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Pages in browsers: preflights, and the fields without which a browser hides a reply. */
class BrowsersTest {

  private static final String PAGE = "http://page.example:3000";
  private static final String ORIGIN = "Origin: " + PAGE;
  private static final String ALLOW = "access-control-allow-origin";
  private static final CrossOrigin ONE =
      new CrossOrigin(List.of(PAGE), List.of("POST"), List.of("Authorization"), true);

  private static Reply preflight(
      TestGateway gateway, String path, String origin, String method, String fields) {
    try (RawClient client = gateway.client()) {
      return client
          .send(
              "OPTIONS "
                  + path
                  + " HTTP/1.1\r\nHost: x\r\nOrigin: "
                  + origin
                  + "\r\nAccess-Control-Request-Method: "
                  + method
                  + "\r\nAccess-Control-Request-Headers: "
                  + fields
                  + "\r\n\r\n")
          .reply();
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {CHAT, "/v1/models", "/v1/files/a", "/ready", "/unknown"})
  void allPagesAreAllowedByDefault(String path) {
    try (ScriptedEngine engine = ScriptedEngine.good();
        TestGateway gateway = TestGateway.of(engine).start()) {
      Reply reply = preflight(gateway, path, PAGE, "DELETE", "authorization, x-stainless-lang");
      assertThat(reply.status()).isEqualTo(200);
      assertThat(reply.field(ALLOW)).isEqualTo("*");
      assertThat(reply.field("access-control-allow-methods")).contains("DELETE", "POST");
      assertThat(reply.field("access-control-allow-headers"))
          .isEqualTo("authorization, x-stainless-lang");
      assertThat(reply.field("access-control-allow-credentials")).isNull();
      assertThat(reply.field("access-control-max-age")).isEqualTo("600");
      assertThat(engine.received()).isZero();
      assertThat(gateway.logLines()).isZero();
    }
  }

  @Test
  void repliesOfEveryKindAreShown() {
    try (ScriptedEngine engine = ScriptedEngine.good();
        TestGateway gateway = TestGateway.of(engine).maxBodyBytes(100_000).start()) {
      for (Reply reply :
          List.of(
              gateway.post(CHAT, ASK, ORIGIN),
              gateway.post(CHAT, ASK_STREAM, ORIGIN),
              gateway.get("/v1/models", ORIGIN),
              gateway.get("/health", ORIGIN),
              gateway.get("/nothing", ORIGIN),
              gateway.get(CHAT, ORIGIN),
              gateway.post(CHAT, "{", ORIGIN),
              gateway.post(CHAT, "x".repeat(200_000), ORIGIN),
              gateway.post("/v1/messages", "{\"model\":\"other\"}", ORIGIN))) {
        assertThat(reply.field(ALLOW)).as(reply.text()).isEqualTo("*");
      }
      assertThat(gateway.post(CHAT, ASK).field(ALLOW)).isNull();
      engine.kill();
      assertThat(gateway.post(CHAT, ASK, ORIGIN).field(ALLOW)).isEqualTo("*");
    }
  }

  @Test
  void aPageThatIsNotAllowedIsRefused() {
    try (ScriptedEngine engine = ScriptedEngine.good();
        TestGateway gateway = TestGateway.of(engine).origins(ONE).start()) {
      Reply reply = preflight(gateway, CHAT, "http://evil.example", "PUT", "x-other");
      assertThat(reply.status()).isEqualTo(400);
      assertThat(reply.text()).contains("origin", "method", "headers");
      assertThat(reply.field(ALLOW)).isNull();
      Reply answer = gateway.post(CHAT, ASK, "Origin: http://evil.example");
      assertThat(answer.field(ALLOW)).isNull();
      assertThat(answer.field("vary")).isEqualTo("Origin");
    }
  }

  @Test
  void aPageThatIsAllowedIsNamed() {
    try (ScriptedEngine engine = ScriptedEngine.good();
        TestGateway gateway = TestGateway.of(engine).origins(ONE).start()) {
      Reply reply = preflight(gateway, CHAT, PAGE, "POST", "authorization,content-type");
      assertThat(reply.status()).isEqualTo(200);
      assertThat(reply.field(ALLOW)).isEqualTo(PAGE);
      assertThat(reply.field("vary")).isEqualTo("Origin");
      assertThat(reply.field("access-control-allow-credentials")).isEqualTo("true");
      assertThat(reply.field("access-control-allow-methods")).isEqualTo("POST");
      assertThat(reply.field("access-control-allow-headers")).contains("authorization", "accept");
      assertThat(gateway.post(CHAT, ASK_STREAM, ORIGIN).field(ALLOW)).isEqualTo(PAGE);
      assertThat(gateway.get("/v1/models").field("vary")).isEqualTo("Origin");
    }
  }

  @Test
  void withCredentialsThePageIsNamedThoughAllAreAllowed() {
    CrossOrigin all = new CrossOrigin(List.of("*"), List.of("*"), List.of("*"), true);
    try (ScriptedEngine engine = ScriptedEngine.good();
        TestGateway gateway = TestGateway.of(engine).origins(all).start()) {
      Reply reply = gateway.post(CHAT, ASK, ORIGIN);
      assertThat(reply.field(ALLOW)).isEqualTo(PAGE);
      assertThat(reply.field("vary")).isEqualTo("Origin");
      assertThat(gateway.post(CHAT, ASK).field("vary")).as("without a page").isEqualTo("Origin");
    }
  }

  @Test
  void whatTheEngineSaysOfPagesIsReplaced() {
    try (ScriptedEngine engine =
            ScriptedEngine.start(
                (request, link) -> {
                  link.head(
                      200,
                      "Content-Type: application/json",
                      "Access-Control-Allow-Origin: http://engine",
                      "Access-Control-Expose-Headers: x",
                      "Access-Control-Allow-Credentials: true",
                      "Content-Length: 2");
                  link.raw("{}");
                });
        TestGateway gateway = TestGateway.of(engine).start()) {
      Reply reply = gateway.post(CHAT, ASK, ORIGIN);
      assertThat(reply.field(ALLOW)).isEqualTo("*");
      assertThat(reply.field("access-control-expose-headers")).isNull();
      assertThat(reply.field("access-control-allow-credentials")).isNull();
      assertThat(gateway.post(CHAT, ASK).field(ALLOW)).isNull();
    }
  }

  @Test
  void theAdminPortIsForNoPage() {
    try (ScriptedEngine engine = ScriptedEngine.good();
        TestGateway gateway = TestGateway.of(engine).start();
        RawClient client = RawClient.to(gateway.gateway().adminPort())) {
      client.send("GET /workers HTTP/1.1\r\nHost: x\r\n" + ORIGIN + "\r\n\r\n");
      assertThat(client.reply().field(ALLOW)).isNull();
    }
  }
}
