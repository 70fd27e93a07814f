package io.kvasir.gateway;

import static io.kvasir.gateway.TestGateway.ASK;
import static io.kvasir.gateway.TestGateway.CHAT;
import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.gateway.RawClient.Reply;
import io.kvasir.gateway.route.ModelFleets;
import io.kvasir.testing.harness.Await;
import org.junit.jupiter.api.Test;

/** LoRA adapters share the fleet of their base model. */
class AdaptersTest {

  private static final String BASE = "{\"id\":\"m\",\"parent\":null}";
  private static final String ASK_SQL = ASK.replace("\"m\"", "\"sql\"");

  private static ScriptedEngine engine(String... more) {
    ScriptedEngine engine = ScriptedEngine.good();
    engine.models(models(more));
    return engine;
  }

  private static String models(String... adapters) {
    StringBuilder models = new StringBuilder("{\"data\":[" + BASE);
    for (String adapter : adapters) {
      models.append(",{\"id\":\"").append(adapter).append("\",\"parent\":\"m\"}");
    }
    return models.append("]}").toString();
  }

  @Test
  void anAdapterIsServedByTheWorkersThatHaveIt() {
    try (ScriptedEngine a = engine("sql");
        ScriptedEngine b = engine();
        ScriptedEngine c = engine("sql", "chat");
        TestGateway gateway = TestGateway.of(a, b, c).router("round_robin").start()) {
      ModelFleets fleets = gateway.gateway().fleets();
      assertThat(fleets.fleets()).containsOnlyKeys("m");
      assertThat(fleets.fleet("sql")).isSameAs(fleets.fleet("m")).isNotNull();
      assertThat(fleets.fleet("m").workers()).hasSize(3);
      assertThat(fleets.isAdapter("sql")).isTrue();
      assertThat(fleets.isAdapter("m")).isFalse();
      assertThat(fleets.onlyModel()).isEqualTo("m");
      assertThat(fleets.models()).containsExactly("chat", "m", "sql");
      assertThat(fleets.models()).as("made once").isSameAs(fleets.models());
      for (int i = 0; i < 6; i++) {
        Reply reply = gateway.post(CHAT, ASK_SQL);
        assertThat(reply.status()).as(reply.text()).isEqualTo(200);
        assertThat(reply.field("x-kvasir-worker")).isIn(a.name(), c.name());
      }
      assertThat(b.received()).isZero();
      assertThat(a.next().text()).isEqualTo(ASK_SQL);
      for (int i = 0; i < 3; i++) {
        gateway.works();
      }
      assertThat(b.received()).isPositive();
      assertThat(gateway.get("/v1/models").text()).contains("\"sql\"", "\"chat\"", "\"m\"");
      assertThat(gateway.post(CHAT, ASK.replace("\"m\"", "\"none\"")).status()).isEqualTo(404);
    }
  }

  @Test
  void pathsWithoutAPromptAndRetriesKeepToThoseWorkersToo() {
    try (ScriptedEngine a = engine("sql");
        ScriptedEngine b = engine();
        TestGateway gateway = TestGateway.of(a, b).start()) {
      for (int i = 0; i < 4; i++) {
        Reply reply = gateway.post("/v1/embeddings", "{\"model\":\"sql\",\"input\":\"x\"}");
        assertThat(reply.field("x-kvasir-worker")).isEqualTo(a.name());
      }
      a.script((request, link) -> link.json(500, "{}"));
      assertThat(gateway.post(CHAT, ASK_SQL).status()).isEqualTo(500);
      assertThat(b.received()).isZero();
    }
  }

  @Test
  void sglangsBodiesNameTheirAdapterInAFieldOfItsOwn() {
    String plain = "{\"text\":\"Hi\"%s}";
    String sql = plain.formatted(",\"lora_path\":\"sql\"");
    try (ScriptedEngine a = engine("sql");
        ScriptedEngine b = engine();
        TestGateway gateway = TestGateway.of(a, b).router("round_robin").start()) {
      for (int i = 0; i < 4; i++) {
        Reply reply = gateway.post("/generate", sql);
        assertThat(reply.field("x-kvasir-worker")).isEqualTo(a.name());
        assertThat(a.next().text()).isEqualTo(sql);
        assertThat(gateway.logLine().path("model").asText()).isEqualTo("sql");
      }
      String unknown = plain.formatted(",\"lora_path\":\"none\"");
      assertThat(gateway.post("/generate", unknown).status()).isEqualTo(200);
      assertThat(gateway.logLine().path("model").asText()).isEqualTo("m");
      for (int i = 0; i < 2; i++) {
        Reply chat = gateway.post(CHAT, ASK.replaceFirst("\\{", "{\"lora_path\":\"sql\","));
        assertThat(chat.field("x-kvasir-worker")).isEqualTo(a.name());
      }
    }
  }

  @Test
  void adaptersComeAndGoWhileTheWorkerIsHealthy() {
    try (ScriptedEngine a = engine();
        TestGateway gateway = TestGateway.of(a).healthEveryMs(10).start()) {
      assertThat(gateway.post(CHAT, ASK_SQL).status()).isEqualTo(404);
      a.models(models("sql"));
      Await.until(() -> gateway.gateway().fleets().models().contains("sql"));
      assertThat(gateway.post(CHAT, ASK_SQL).status()).isEqualTo(200);
      a.models(models());
      Await.until(() -> !gateway.gateway().fleets().models().contains("sql"));
      Reply gone = gateway.post(CHAT, ASK_SQL);
      assertThat(gone.status()).isEqualTo(503);
      assertThat(gone.code()).isEqualTo("no_endpoint");
      gateway.works();
    }
  }
}
