package io.kvasir.gateway;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.gateway.RawClient.Reply;
import io.kvasir.gateway.ScriptedEngine.Script;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Requests that name their model elsewhere than in a JSON body. */
class NamedModelsTest {

  private static final Script ECHO =
      (request, link) -> link.json(200, "{\"bytes\":" + request.body().length + "}");

  private static String field(String name, String value) {
    return "--Bo\r\nContent-Disposition: form-data; name=\"" + name + "\"\r\n\r\n" + value + "\r\n";
  }

  private static String file(int bytes) {
    StringBuilder content = new StringBuilder();
    while (content.length() < bytes) {
      content.append("\r\n--B\r\n--Bx \0\u00ff name=\"model\"\r\n\r\nchat");
    }
    return "--Bo\r\nContent-Disposition: form-data; name=\"image[]\"; filename=\"model\"\r\n"
        + "Content-Type: image/png\r\n\r\n"
        + content
        + "\r\n";
  }

  /** Sends a request to two engines; the second one serves the model {@code speech}. */
  private static void reachesSpeech(String head, String body) {
    try (ScriptedEngine chat = ScriptedEngine.start(List.of("chat"), ECHO);
        ScriptedEngine speech = ScriptedEngine.start(List.of("speech", "org/sp eech"), ECHO);
        TestGateway gateway = TestGateway.of(chat, speech).start()) {
      for (int i = 0; i < 2; i++) {
        Reply reply = send(gateway, head, body);
        assertThat(reply.status()).as(reply.text()).isEqualTo(200);
        assertThat(reply.json().path("bytes").asInt()).isEqualTo(body.length());
        assertThat(gateway.logLine().path("model").asText()).isIn("speech", "org/sp eech");
      }
      assertThat(chat.received()).isZero();
      assertThat(speech.received()).isEqualTo(2);
    }
  }

  private static Reply send(TestGateway gateway, String head, String body) {
    String length = body.isEmpty() ? "" : "Content-Length: " + body.length() + "\r\n";
    try (RawClient client = gateway.client()) {
      return client
          .send(head + "Host: x\r\n" + length + "\r\n")
          .trySend(body.getBytes(ISO_8859_1))
          .reply();
    }
  }

  private static String post(String path, String type) {
    return "POST " + path + " HTTP/1.1\r\nContent-Type: " + type + "\r\n";
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "/v1/audio/transcriptions",
        "/v1/audio/translations",
        "/v1/images/edits",
        "/v1/images/variations",
        "/v1/files"
      })
  void aFormNamesItBeforeOrAfterItsFiles(String path) {
    String model = field("model", "speech");
    String head = post(path, "multipart/form-data; boundary=Bo");
    reachesSpeech(head, model + file(100_000) + "--Bo--\r\n");
    reachesSpeech(head, field("prompt", "model") + file(300_000) + model + "--Bo--\r\n");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "multipart/form-data; charset=utf-8; boundary=\"Bo\"",
        "Multipart/Form-Data;BOUNDARY=Bo",
        "multipart/form-data; boundary=Bo ; x=y"
      })
  void theBoundaryIsReadAsItIsWritten(String type) {
    reachesSpeech(post("/v1/files", type), field("model", "speech") + "--Bo--\r\n");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "Content-Disposition: form-data; filename=\"a;name=b\"; name=\"model\"\r\n",
        "content-type: text/plain; charset=utf-8\r\nCONTENT-DISPOSITION: form-data; NAME=model\r\n",
      })
  void theHeadOfAPartIsReadAsItIsWritten(String head) {
    String body = "preamble\r\n--Bo \r\n" + head + "\r\nspeech\r\n--Bo--\r\n";
    reachesSpeech(post("/v1/files", "multipart/form-data; boundary=Bo"), body);
  }

  /** Forms that need no model, or whose model is known otherwise, are not held. */
  @ParameterizedTest
  @CsvSource({
    "/v1/files, ''",
    "/v1/uploads/u1/parts, ''",
    "/v1/audio/translations, x-gateway-model-name: speech"
  })
  void aFormWithoutOneStartsBeforeItsEnd(String path, String field) {
    String head =
        post(path, "multipart/form-data; boundary=Bo") + (field.isEmpty() ? "" : field + "\r\n");
    String body = file(3 << 20) + "--Bo--\r\n";
    try (ScriptedEngine chat = ScriptedEngine.start(List.of("chat"), ECHO);
        ScriptedEngine speech = ScriptedEngine.start(List.of("speech"), ECHO);
        TestGateway gateway = TestGateway.of(chat, speech).maxBodyBytes(2 << 20).start()) {
      Reply reply = send(gateway, head, body);
      assertThat(reply.status()).as(reply.text()).isEqualTo(200);
      assertThat(reply.json().path("bytes").asInt()).isEqualTo(body.length());
      if (!field.isEmpty()) {
        assertThat(speech.received()).isOne();
      }
    }
  }

  @Test
  void aFormOfTheOnlyModelStartsBeforeItsEnd() {
    String head = post("/v1/audio/translations", "multipart/form-data; boundary=Bo");
    String body = file(3 << 20) + "--Bo--\r\n";
    try (ScriptedEngine speech = ScriptedEngine.start(List.of("speech"), ECHO);
        TestGateway gateway = TestGateway.of(speech).maxBodyBytes(2 << 20).start()) {
      assertThat(send(gateway, head, body).status()).isEqualTo(200);
    }
  }

  @Test
  void itArrivesInAnyParts() {
    String body = file(10) + field("model", "speech") + "--Bo--\r\n";
    try (ScriptedEngine chat = ScriptedEngine.start(List.of("chat"), ECHO);
        ScriptedEngine speech = ScriptedEngine.start(List.of("speech"), ECHO);
        TestGateway gateway = TestGateway.of(chat, speech).start();
        RawClient client = gateway.client()) {
      client.send(
          post("/v1/files", "multipart/form-data; boundary=Bo")
              + "Host: x\r\nTransfer-Encoding: chunked\r\n\r\n");
      for (int i = 0; i < body.length(); i++) {
        client.send("1\r\n" + body.charAt(i) + "\r\n");
      }
      assertThat(client.send("0\r\n\r\n").reply().status()).isEqualTo(200);
      assertThat(speech.next().body()).isEqualTo(body.getBytes(ISO_8859_1));
    }
  }

  @ParameterizedTest
  @CsvSource({
    "model=speech",
    "a=b&model=speech&file=1",
    "mod%65l=s%70eech",
    "xmodel=chat&model=speech",
    "model=org%2Fsp+eech"
  })
  void anUrlEncodedFormNamesIt(String body) {
    reachesSpeech(post("/v1/other", "application/x-www-form-urlencoded"), body);
  }

  @Test
  void aQueryNamesIt() {
    reachesSpeech("GET /v1/voices?a=1&model=speech HTTP/1.1\r\n", "");
    reachesSpeech(post("/v1/listen?model=speech", "audio/wav"), "RIFF" + "\0".repeat(100_000));
    reachesSpeech(post("/v1/rerank?model=speech", "application/json"), "{\"query\":\"a\"}");
  }

  @Test
  void aPathOrAFieldNamesIt() {
    reachesSpeech(post("/v1/engines/speech/edits", "application/json"), "{\"input\":\"a\"}");
    reachesSpeech(
        "GET /v1/deployments/org%20x/y HTTP/1.1\r\nx-ai-eg-model: a\r\n"
            .replace("org%20x", "speech"),
        "");
    reachesSpeech("GET /v1/voices HTTP/1.1\r\nX-Gateway-Model-Name: speech\r\n", "");
  }

  @Test
  void theBodyGoesFirst() {
    reachesSpeech(
        post("/v1/files?model=chat", "multipart/form-data; boundary=Bo"),
        field("model", "speech") + "--Bo--\r\n");
  }

  @Test
  void anUnknownModelIsNotFound() {
    try (ScriptedEngine engine = ScriptedEngine.good();
        TestGateway gateway = TestGateway.of(engine).start()) {
      Reply form =
          send(
              gateway,
              post("/v1/audio/transcriptions", "multipart/form-data; boundary=Bo"),
              field("model", "whisper") + "--Bo--\r\n");
      assertThat(form.status()).isEqualTo(404);
      assertThat(form.code()).isEqualTo("model_not_found");
      assertThat(form.message()).contains("whisper");
      assertThat(gateway.get("/v1/voices?model=whisper").status()).isEqualTo(404);
      assertThat(engine.received()).isZero();
      assertThat(gateway.metric("kvasir_body_bytes")).isZero();
    }
  }

  @Test
  void aFormWithoutAModelGoesToAnyWorker() {
    try (ScriptedEngine engine = ScriptedEngine.start(ECHO);
        TestGateway gateway = TestGateway.of(engine).start()) {
      for (String body :
          List.of(field("purpose", "batch") + "--Bo--\r\n", "--Bo--\r\n", "no form at all")) {
        Reply reply = send(gateway, post("/v1/files", "multipart/form-data; boundary=Bo"), body);
        assertThat(reply.status()).isEqualTo(200);
      }
    }
  }

  @Test
  void aFormThatIsTooLargeBeforeItsModelIsRefused() {
    try (ScriptedEngine engine = ScriptedEngine.start(List.of("m"), ECHO);
        ScriptedEngine other = ScriptedEngine.start(List.of("n"), ECHO);
        TestGateway gateway = TestGateway.of(engine, other).maxBodyBytes(100_000).start()) {
      String head = post("/v1/audio/translations", "multipart/form-data; boundary=Bo");
      String model = field("model", "m");
      Reply last = send(gateway, head, file(200_000) + model + "--Bo--\r\n");
      assertThat(last.status()).isEqualTo(413);
      assertThat(last.message()).contains("model");
      assertThat(send(gateway, head, model + file(200_000) + "--Bo--\r\n").status()).isEqualTo(200);
      assertThat(gateway.metric("kvasir_body_bytes")).isZero();
    }
  }
}
