package io.kvasir.gateway;

import static io.kvasir.gateway.TestGateway.ASK;
import static io.kvasir.gateway.TestGateway.CHAT;
import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.gateway.RawClient.Reply;
import io.kvasir.gateway.proxy.ClientLimits;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Methods, hosts, forms of the target and versions of HTTP, on the public and the admin port. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class HttpRulesTest {

  private ScriptedEngine engine;
  private TestGateway gateway;

  @BeforeAll
  void start() {
    engine = ScriptedEngine.good();
    gateway =
        TestGateway.of(engine)
            .clients(new ClientLimits(1, 1_000, 60_000, 1))
            .adminAllowedHosts("kvasir-admin")
            .start();
  }

  @AfterAll
  void stop() {
    gateway.close();
    engine.close();
  }

  private Reply send(String request) {
    try (RawClient client = gateway.client()) {
      return client.send(request).reply();
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"CONNECT", "TRACE"})
  void tunnelsAndEchoesAreNotServed(String method) {
    int before = engine.received();
    for (String target : new String[] {"/v1/files", CHAT, "example.org:80"}) {
      try (RawClient client = gateway.client()) {
        Reply reply = client.send(method + " " + target + " HTTP/1.1\r\nHost: x\r\n\r\n").reply();
        assertThat(reply.status()).isEqualTo(405);
        assertThat(reply.code()).isEqualTo("invalid_http");
        assertThat(client.isClosed()).isTrue();
      }
    }
    assertThat(engine.received()).isEqualTo(before);
    gateway.works();
  }

  @Test
  void aRequestNamesOneHost() {
    assertThat(send("GET /v1/models HTTP/1.1\r\n\r\n").status()).isEqualTo(400);
    assertThat(send("GET /v1/models HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n").status())
        .isEqualTo(400);
    assertThat(send("GET /v1/models HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n").status())
        .isEqualTo(400);
    assertThat(send("GET /v1/models HTTP/1.1\r\nHost:\r\n\r\n").status()).isEqualTo(200);
  }

  @Test
  void theAbsoluteFormIsAccepted() {
    assertThat(send("GET http://other:1/v1/models HTTP/1.1\r\nHost: x\r\n\r\n").status())
        .isEqualTo(200);
    assertThat(gateway.post("http://other/v1/chat/completions?a=1", ASK).status()).isEqualTo(200);
  }

  @Test
  void anOlderVersionIsServedOnceForEachConnection() {
    try (RawClient client = gateway.client()) {
      Reply reply = client.send("GET /v1/models HTTP/1.0\r\n\r\n").reply();
      assertThat(reply.status()).isEqualTo(200);
      assertThat(reply.field("connection")).isEqualTo("close");
      assertThat(client.isClosed()).isTrue();
    }
    assertThat(send("GET /v1/models HTTP/1.0\r\nHost: a\r\nHost: b\r\n\r\n").status())
        .isEqualTo(400);
  }

  @ParameterizedTest
  @CsvSource({
    "127.0.0.1:8081,200",
    "[::1]:8081,200",
    "10.1.2.3,200",
    "localhost:1,200",
    "LOCALHOST,200",
    "a.localhost,200",
    "kvasir-admin:80,200",
    "evil.example:8081,421",
    "127.0.0.1.evil.example,421",
    "localhost.evil.example,421",
    "evil.example#127.0.0.1,421",
    "'',421"
  })
  void theAdminPortAnswersUnderItsOwnNames(String host, int status) {
    try (RawClient client = RawClient.to(gateway.gateway().adminPort())) {
      Reply reply = client.send("GET /kvasir/ranks HTTP/1.1\r\nHost: " + host + "\r\n\r\n").reply();
      assertThat(reply.status()).isEqualTo(status);
      if (status == 421) {
        assertThat(reply.text()).contains("--admin-allowed-hosts");
      }
    }
  }

  @Test
  void aRankThatTheWorkerCannotHaveIsIgnored() {
    engine.script(
        (request, link) ->
            link.raw(
                "HTTP/1.1 200 OK\r\nx-kvasir-dp-rank: 77\r\ncontent-type: application/json\r\n"
                    + "content-length: 2\r\n\r\n{}"));
    try {
      assertThat(gateway.post(CHAT, ASK).field("x-kvasir-dp-rank")).isEqualTo("any");
      assertThat(gateway.metrics()).doesNotContain("dp_rank=\"77\"");
    } finally {
      engine.script(EngineLink::answer);
    }
  }

  @Test
  void aModelWhoseNameWouldBreakALineOfALogIsNotServed() {
    try (ScriptedEngine odd =
            ScriptedEngine.start(List.of("good", "a\\nb", "a\\u2028b"), EngineLink::answer);
        TestGateway other = TestGateway.of(odd).start()) {
      assertThat(other.gateway().fleets().models()).containsExactly("good");
    }
  }
}
