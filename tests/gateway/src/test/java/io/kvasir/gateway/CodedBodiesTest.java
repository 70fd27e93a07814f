package io.kvasir.gateway;

import static io.kvasir.gateway.TestGateway.ASK;
import static io.kvasir.gateway.TestGateway.ASK_STREAM;
import static io.kvasir.gateway.TestGateway.CHAT;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.github.luben.zstd.ZstdOutputStreamNoFinalizer;
import io.kvasir.gateway.RawClient.Reply;
import io.kvasir.gateway.ScriptedEngine.Received;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.util.Arrays;
import java.util.Locale;
import java.util.zip.Deflater;
import java.util.zip.DeflaterOutputStream;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Bodies of requests with a {@code Content-Encoding}. */
class CodedBodiesTest {

  private static final String TEXT = "x".repeat(300_000);
  private static final String LARGE =
      "{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"" + TEXT + "\"}]}";

  @FunctionalInterface
  private interface Coder {
    OutputStream over(OutputStream out) throws IOException;
  }

  private static byte[] coded(byte[] body, String codings) {
    byte[] coded = body;
    for (String coding : codings.split(",", -1)) {
      coded =
          switch (coding.strip().toLowerCase(Locale.ROOT)) {
            case "gzip", "x-gzip" -> coded(coded, GZIPOutputStream::new);
            case "deflate" -> coded(coded, DeflaterOutputStream::new);
            case "zstd" -> coded(coded, ZstdOutputStreamNoFinalizer::new);
            default -> coded;
          };
    }
    return coded;
  }

  private static byte[] coded(byte[] body, Coder coder) {
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    try (OutputStream out = coder.over(all)) {
      out.write(body);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return all.toByteArray();
  }

  private static Reply post(TestGateway gateway, byte[] body, String codings, String... more) {
    String[] fields = Arrays.copyOf(more, more.length + 1);
    fields[more.length] = "Content-Encoding: " + codings;
    try (RawClient client = gateway.client()) {
      return client.send(RawClient.post(CHAT, body, fields)).reply();
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "gzip",
        "GZIP",
        "x-gzip",
        "deflate",
        "zstd",
        "identity",
        "gzip, zstd",
        "deflate,gzip",
        "zstd, identity",
        "gzip\r\nContent-Encoding: deflate"
      })
  void theEngineReceivesThePlainBody(String codings) {
    try (ScriptedEngine engine = ScriptedEngine.good();
        TestGateway gateway = TestGateway.of(engine).start()) {
      for (String body : new String[] {ASK, ASK_STREAM, LARGE}) {
        String order = codings.replace("\r\nContent-Encoding:", ",");
        Reply reply = post(gateway, coded(body.getBytes(UTF_8), order), codings);
        assertThat(reply.status()).as(reply.text()).isEqualTo(200);
        Received received = engine.next();
        assertThat(received.text()).contains("\"content\":\"" + (body.equals(LARGE) ? "xx" : "Hi"));
        assertThat(received.field("content-encoding")).isNull();
        assertThat(received.field("content-length"))
            .isEqualTo(Integer.toString(received.body().length));
      }
    }
  }

  @Test
  void deflateWithoutTheHeaderOfZlibIsRead() {
    byte[] raw =
        coded(
            ASK.getBytes(UTF_8),
            out -> new DeflaterOutputStream(out, new Deflater(Deflater.BEST_SPEED, true)));
    try (ScriptedEngine engine = ScriptedEngine.good();
        TestGateway gateway = TestGateway.of(engine).start()) {
      assertThat(post(gateway, raw, "deflate").status()).isEqualTo(200);
      assertThat(engine.next().text()).isEqualTo(ASK);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"br", "compress", "gzip, br", "gzip, gzip, gzip, gzip"})
  void anUnknownCodingIsNamed(String codings) {
    try (ScriptedEngine engine = ScriptedEngine.good();
        TestGateway gateway = TestGateway.of(engine).start()) {
      Reply reply = post(gateway, ASK.getBytes(UTF_8), codings);
      assertThat(reply.status()).isEqualTo(415);
      assertThat(reply.code()).isEqualTo("unsupported_content_coding");
      assertThat(reply.field("accept-encoding")).isEqualTo("gzip, deflate, zstd");
      assertThat(reply.message()).contains(codings.contains("br") ? "'br'" : "co");
      assertThat(engine.received()).isZero();
      gateway.works();
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"gzip", "deflate", "zstd", "zstd, gzip", "gzip, zstd, gzip"})
  void aBombIsTooLargeAndLeavesNothing(String codings) {
    byte[] bomb = coded(new byte[32 << 20], codings);
    assertThat(bomb.length).isLessThan(1 << 20);
    try (ScriptedEngine engine = ScriptedEngine.good();
        TestGateway gateway = TestGateway.of(engine).maxBodyBytes(1 << 20).start()) {
      Reply reply = post(gateway, bomb, codings);
      assertThat(reply.status()).isEqualTo(413);
      assertThat(reply.code()).isEqualTo("body_too_large");
      gateway.works();
      assertThat(gateway.metric("kvasir_body_bytes")).isZero();
      assertThat(engine.received()).isOne();
    }
  }

  @Test
  void whatIsDecodedCountsInTheBudget() {
    byte[] coded = coded(LARGE.getBytes(UTF_8), "gzip");
    try (ScriptedEngine engine = ScriptedEngine.good();
        TestGateway gateway = TestGateway.of(engine).bodyBudget(200_000).start()) {
      Reply reply = post(gateway, coded, "gzip");
      assertThat(reply.status()).isEqualTo(413);
      assertThat(gateway.metric("kvasir_body_bytes")).isZero();
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"gzip", "deflate", "zstd"})
  void aDamagedBodyIsRefused(String coding) {
    byte[] coded = coded(ASK.getBytes(UTF_8), coding);
    try (ScriptedEngine engine = ScriptedEngine.good();
        TestGateway gateway = TestGateway.of(engine).start()) {
      for (byte[] bad :
          new byte[][] {Arrays.copyOf(coded, coded.length / 2), ASK.getBytes(UTF_8)}) {
        Reply reply = post(gateway, bad, coding);
        assertThat(reply.status()).isEqualTo(400);
        assertThat(reply.message()).contains(coding);
      }
      assertThat(engine.received()).isZero();
    }
  }

  @Test
  void aZstdWindowAboveTheBoundIsRefused() {
    byte[] wide =
        coded(
            new byte[1 << 10],
            out -> new ZstdOutputStreamNoFinalizer(out).setLong(27).setLevel(19));
    try (ScriptedEngine engine = ScriptedEngine.good();
        TestGateway gateway = TestGateway.of(engine).start()) {
      assertThat(post(gateway, wide, "zstd").status()).isEqualTo(400);
    }
  }

  @Test
  void aCodedUploadReachesItsEngineDecoded() {
    String form =
        "--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a\"\r\n\r\n"
            + TEXT
            + "\r\n--b\r\nContent-Disposition: form-data; name=\"model\"\r\n\r\nm\r\n--b--\r\n";
    byte[] coded = coded(form.getBytes(UTF_8), "gzip");
    String head =
        "POST /v1/audio/transcriptions HTTP/1.1\r\nHost: x\r\nContent-Encoding: gzip\r\n"
            + "Content-Type: multipart/form-data; boundary=b\r\nContent-Length: ";
    try (ScriptedEngine engine = ScriptedEngine.start((request, link) -> link.json(200, "{}"));
        TestGateway gateway = TestGateway.of(engine).start();
        RawClient client = gateway.client()) {
      Reply reply = client.send(head + coded.length + "\r\n\r\n").send(coded).reply();
      assertThat(reply.status()).as(reply.text()).isEqualTo(200);
      Received received = engine.next();
      assertThat(received.text()).isEqualTo(form);
      assertThat(received.field("content-encoding")).isNull();
      assertThat(gateway.logLine().path("model").asText()).isEqualTo("m");
    }
  }

  @Test
  void codedJsonUnderAnotherTypeIsRefused() {
    byte[] coded = coded(ASK.getBytes(UTF_8), "gzip");
    String head =
        "POST /v1/other HTTP/1.1\r\nHost: x\r\nContent-Encoding: gzip\r\n"
            + "Content-Type: text/plain\r\nContent-Length: ";
    try (ScriptedEngine engine = ScriptedEngine.good();
        TestGateway gateway = TestGateway.of(engine).start();
        RawClient client = gateway.client()) {
      Reply reply = client.send(head + coded.length + "\r\n\r\n").send(coded).reply();
      assertThat(reply.status()).isEqualTo(415);
      assertThat(engine.received()).isZero();
    }
  }
}
