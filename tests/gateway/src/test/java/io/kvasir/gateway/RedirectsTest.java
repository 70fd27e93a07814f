package io.kvasir.gateway;

import static io.kvasir.gateway.TestGateway.ASK;
import static io.kvasir.gateway.TestGateway.CHAT;
import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.gateway.RawClient.Reply;
import io.kvasir.gateway.ScriptedEngine.Script;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Slashes at the end of a path, and redirections by workers. */
class RedirectsTest {

  private static Script redirect(int status, String location) {
    return (request, link) ->
        link.head(
            status,
            "Location: " + location.replace("HOST", request.field("host")),
            "Content-Length: 0");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"/v1/chat/completions/", "/v1/chat/completions//", "//v1/chat/completions/"})
  void aSlashAtTheEndChangesNothing(String path) {
    try (ScriptedEngine engine = ScriptedEngine.good();
        TestGateway gateway = TestGateway.of(engine).start()) {
      assertThat(gateway.post(path, ASK).status()).isEqualTo(200);
      assertThat(engine.next().target()).isEqualTo(CHAT);
    }
  }

  @ParameterizedTest
  @CsvSource({
    "http://HOST/v1/b?x=1#y, /v1/b?x=1#y",
    "https://HOST/v1/b, /v1/b",
    "//HOST/v1/b, /v1/b",
    "http://127.0.0.1:1/v1/b, /v1/b",
    "http://localhost/v1/b, /v1/b",
    "http://10.1.2.3:8000/v1/b, /v1/b",
    "/v1/b, /v1/b",
    "b, /v1/b",
    "http://HOST//evil.example/b, /evil.example/b",
    "http://HOST, /",
    "http://vllm-0:8000/v1/b, /v1/b",
    "http://vllm.serving.svc.cluster.local/v1/b, /v1/b",
    "http://node7.internal./v1/b, /v1/b",
    "http://100.64.1.2/v1/b, /v1/b",
    "http://[::ffff:10.1.2.3]/v1/b, /v1/b",
    "http://[fd00::2]/v1/b, /v1/b",
    "http://10.example/v1/b, http://10.example/v1/b",
    "http://127.example.com/v1/b, http://127.example.com/v1/b",
    "https://files.example/b?signature=1, https://files.example/b?signature=1"
  })
  void aLocationNamesNoWorker(String location, String seen) {
    try (ScriptedEngine engine = ScriptedEngine.start(redirect(302, location));
        TestGateway gateway = TestGateway.of(engine).start()) {
      Reply reply = gateway.get("/v1/a");
      assertThat(reply.status()).isEqualTo(302);
      assertThat(reply.field("location")).isEqualTo(seen);
    }
  }

  @Test
  void aLocationIsThatOfAnyWorker() {
    try (ScriptedEngine other = ScriptedEngine.good();
        ScriptedEngine engine =
            ScriptedEngine.start(redirect(201, "http://" + other.name() + "/v1/b"));
        TestGateway gateway =
            TestGateway.of(List.of("http://localhost:" + engine.port())).start()) {
      assertThat(gateway.get("/v1/a").field("location")).isEqualTo("/v1/b");
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {301, 302, 307, 308})
  void anEngineThatWantsASlashGetsIt(int status) {
    try (ScriptedEngine engine =
            ScriptedEngine.start(
                (request, link) -> {
                  if (request.target().equals("/v1/other?a=b")) {
                    redirect(status, "http://HOST/v1/other/?a=b").answer(request, link);
                  } else {
                    link.json(200, "{\"target\":\"" + request.target() + "\"}");
                  }
                });
        TestGateway gateway = TestGateway.of(engine).start()) {
      Reply reply = gateway.post("/v1/other/?a=b", "{\"x\":1}");
      assertThat(reply.status()).as(reply.text()).isEqualTo(200);
      assertThat(reply.json().path("target").asText()).isEqualTo("/v1/other/?a=b");
      assertThat(engine.next().text()).isEqualTo("{\"x\":1}");
      assertThat(engine.next().text()).isEqualTo("{\"x\":1}");
      assertThat(gateway.get("/v1/other?a=b").status()).isEqualTo(200);
    }
  }

  /** Its body is gone, so that it cannot follow; the worker is as good as before. */
  @Test
  void anUploadThatIsRedirectedIsRefused() {
    try (ScriptedEngine engine = ScriptedEngine.start(redirect(307, "/v1/files/"));
        TestGateway gateway = TestGateway.of(engine).start()) {
      for (int i = 0; i < 20; i++) {
        try (RawClient client = gateway.client()) {
          Reply reply =
              client
                  .send(
                      "POST /v1/files HTTP/1.1\r\nHost: x\r\nContent-Type: audio/wav\r\n"
                          + "Content-Length: 4\r\n\r\nRIFF")
                  .reply();
          assertThat(reply.status()).isEqualTo(502);
          assertThat(reply.text()).contains("upload_redirected", "redirects to /v1/files/");
        }
      }
      engine.script(EngineLink::answer);
      assertThat(gateway.post(CHAT, ASK).status()).isEqualTo(200);
      assertThat(gateway.metrics()).containsPattern("kvasir_worker_healthy\\{[^}]*} 1");
    }
  }

  @Test
  void aRedirectionToItselfIsAFailure() {
    try (ScriptedEngine engine = ScriptedEngine.start(redirect(307, "https://HOST/v1/a"));
        TestGateway gateway = TestGateway.of(engine).start()) {
      Reply reply = gateway.get("/v1/a");
      assertThat(reply.status()).isEqualTo(502);
      assertThat(reply.field("location")).isNull();
      engine.script(
          (request, link) ->
              redirect(307, request.target().endsWith("/") ? "/v1/a" : "/v1/a/")
                  .answer(request, link));
      assertThat(gateway.get("/v1/a").status()).isEqualTo(502);
    }
  }
}
