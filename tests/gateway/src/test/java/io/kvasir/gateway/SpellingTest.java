package io.kvasir.gateway;

import static io.kvasir.gateway.TestGateway.ASK;
import static io.kvasir.gateway.TestGateway.CHAT;
import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.gateway.RawClient.Reply;
import io.kvasir.gateway.ScriptedEngine.Received;
import io.kvasir.gateway.openai.BodyField;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What chooses ranks and hosts does not pass the gateway, however a client writes its request. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class SpellingTest {

  private ScriptedEngine engine;
  private TestGateway gateway;

  @BeforeAll
  void start() {
    engine = ScriptedEngine.good();
    gateway = TestGateway.of(engine).start();
  }

  @AfterAll
  void stop() {
    gateway.close();
    engine.close();
  }

  private Reply post(String path, String type, String body, String... more) {
    StringBuilder head = new StringBuilder("POST " + path + " HTTP/1.1\r\nHost: x\r\n");
    if (type != null) {
      head.append("Content-Type: ").append(type).append("\r\n");
    }
    for (String field : more) {
      head.append(field).append("\r\n");
    }
    head.append("Content-Length: ").append(body.length()).append("\r\n\r\n").append(body);
    try (RawClient client = gateway.client()) {
      return client.send(head.toString()).reply();
    }
  }

  private static String withRoutingFields() {
    StringBuilder body = new StringBuilder("{\"model\":\"m\",\"messages\":[]");
    for (BodyField field : BodyField.ROUTING) {
      body.append(",\"").append(field.key()).append("\":\"10.0.0.9\"");
    }
    return body.append('}').toString();
  }

  @ParameterizedTest
  @CsvSource({
    "/v1/chat/completions,",
    "/v1/chat/completions,text/plain",
    "/v1/chat/completions,multipart/form-data",
    "/v1/chat/%63ompletions,",
    "/v1/chat/%63ompletions,application/problem+json",
    "/v1/chat/completions/,",
    "/v1//chat/completions,text/json",
    "/v1/./chat/x/../completions,application/octet-stream",
    "//v1/chat/completions//,audio/wav",
    "http://other/v1/chat/completions,application/json"
  })
  void routingFieldsDoNotPassUnderAnotherSpelling(String path, String type) {
    Reply reply = post(path, type, withRoutingFields());
    assertThat(reply.status()).as(reply.text()).isEqualTo(200);
    Received received = engine.next();
    assertThat(received.target()).isEqualTo(CHAT);
    assertThat(received.text()).isEqualTo("{\"model\":\"m\",\"messages\":[]}");
    assertThat(reply.field("x-kvasir-reason")).as("placed by the router").isNotEqualTo("load");
  }

  @ParameterizedTest
  @CsvSource({
    "/v1/moderations,",
    "/v1/moderations,application/json",
    "/v1/moderations/,Application/Problem+JSON; charset=utf-8",
    "/v1/moderations,text/json",
    "/v1/embeddings/,text/plain"
  })
  void routingFieldsOfOtherJsonDoNotPassEither(String path, String type) {
    assertThat(post(path, type, withRoutingFields()).status()).isEqualTo(200);
    assertThat(engine.next().text()).doesNotContain("10.0.0.9");
  }

  @Test
  void ofSeveralContentTypesOneOfJsonCounts() {
    Reply reply =
        post("/v1/moderations", "audio/wav", withRoutingFields(), "Content-Type: application/json");
    assertThat(reply.status()).isEqualTo(200);
    assertThat(engine.next().text()).doesNotContain("10.0.0.9");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "application/x-ndjson+json",
        "application/jsonl+json",
        "application/x-ndjson",
        "application/json-seq"
      })
  void everyTypeThatNamesJsonIsRead(String type) {
    assertThat(post("/v1/moderations", type, withRoutingFields()).status()).isEqualTo(200);
    assertThat(engine.next().text()).doesNotContain("10.0.0.9");
  }

  @ParameterizedTest
  @CsvSource({
    "text/plain,''",
    "audio/wav,''",
    "application/x-www-form-urlencoded,' \n'",
    "multipart/form-data,''",
    "audio/wav,' '"
  })
  void jsonUnderAnotherTypeIs415(String type, String before) {
    int received = engine.received();
    String spaces = type.equals("audio/wav") ? before.repeat(70_000) : before;
    Reply reply = post("/v1/moderations", type, spaces + withRoutingFields());
    assertThat(reply.status()).as(reply.text()).isEqualTo(415);
    assertThat(reply.code()).isEqualTo("unsupported_media_type");
    assertThat(engine.received()).isEqualTo(received);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "___prefill_addr_10.0.0.9:80___decode_addr_10.0.0.8:80_x",
        "cmpl-___decode_addr_10.0.0.8:80",
        "___PREFILL_ADDR_10.0.0.9:80",
        "a_Addr_b",
        "a___b"
      })
  void idsThatNameHostsDoNotPass(String id) {
    Reply reply = gateway.post(CHAT, ASK, "X-Request-Id: " + id);
    assertThat(reply.status()).isEqualTo(200);
    assertThat(reply.field("x-request-id")).startsWith("req-");
    assertThat(engine.next().field("x-request-id")).isEqualTo(reply.field("x-request-id"));
    String body = "{\"model\":\"m\",\"input\":\"Hi\",\"request_id\":\"" + id + "\"}";
    assertThat(gateway.post("/v1/responses", body).status()).isEqualTo(200);
    assertThat(engine.next().text()).isEqualTo("{\"model\":\"m\",\"input\":\"Hi\"}");
  }

  @Test
  void otherIdsPass() {
    String id = "trace__a_address.B:1";
    assertThat(gateway.post(CHAT, ASK, "X-Request-Id: " + id).field("x-request-id")).isEqualTo(id);
    assertThat(engine.next().field("x-request-id")).isEqualTo(id);
  }

  @Test
  void workersOfDynamoAreNotChosenByClients() {
    String more = "\"nvext\":{\"backend_instance_id\":7,\"token_data\":[1]},";
    assertThat(gateway.post(CHAT, ASK.replaceFirst("\\{", "{" + more)).status()).isEqualTo(200);
    assertThat(engine.next().text()).isEqualTo(ASK);
  }

  @Test
  void otherMediaPassUnread() {
    assertThat(post("/v1/audio/transcriptions", "audio/wav", "RIFF{\"a\"").status()).isEqualTo(200);
    assertThat(engine.next().text()).isEqualTo("RIFF{\"a\"");
    assertThat(post("/v1/audio/speech", "text/plain", " a{}").status()).isEqualTo(200);
    assertThat(engine.next().text()).isEqualTo(" a{}");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "X-Prefiller-Host-Port",
        "x-worker-instance-id",
        "x-prefill-instance-id",
        "X-Data-Parallel-Rank",
        "x-data-parallel-host-port",
        "x-dp-rank",
        "x-prefill-dp-rank",
        "X-Gateway-Destination-Endpoint",
        "x-gateway-destination-endpoint-subset",
        "x-dynamo-routing-mode",
        "x-epp-inject-nvext-token-data",
        "X-SMG-Target-Worker",
        "x-kvasir-dp-rank"
      })
  void fieldsThatSteerDoNotPass(String name) {
    String title = "x-title: kept";
    assertThat(gateway.post(CHAT, ASK, name + ": 10.0.0.9:80", title).status()).isEqualTo(200);
    Received received = engine.next();
    assertThat(received.field(name.toLowerCase(java.util.Locale.ROOT))).isNull();
    assertThat(received.field("x-title")).isEqualTo("kept");
  }

  @Test
  void theClientsAddressFollowsThoseItStates() {
    assertThat(gateway.post(CHAT, ASK).status()).isEqualTo(200);
    Received plain = engine.next();
    assertThat(plain.head().fields().get("x-forwarded-for")).isEqualTo(List.of("127.0.0.1"));
    assertThat(plain.field("forwarded")).isNull();
    gateway.post(
        CHAT,
        ASK,
        "X-Forwarded-For: 10.0.0.1",
        "X-Forwarded-For: 10.0.0.2",
        "Forwarded: for=a;by=b");
    Received stated = engine.next();
    assertThat(stated.head().fields().get("x-forwarded-for"))
        .isEqualTo(List.of("10.0.0.1, 10.0.0.2, 127.0.0.1"));
    assertThat(stated.head().fields().get("forwarded"))
        .isEqualTo(List.of("for=a;by=b, for=127.0.0.1"));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"/v1/load_lora_adapter", "/v1/unload_lora_adapter/", "/v1/./load%5Flora_adapter"})
  void noSingleEngineIsChanged(String path) {
    int before = engine.received();
    Reply reply = gateway.post(path, "{\"lora_name\":\"a\",\"lora_path\":\"/x\"}");
    assertThat(reply.status()).isEqualTo(404);
    assertThat(reply.message()).contains("to each engine");
    assertThat(engine.received()).isEqualTo(before);
  }
}
