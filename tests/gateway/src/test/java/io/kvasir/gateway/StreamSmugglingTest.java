package io.kvasir.gateway;

import static io.kvasir.gateway.TestGateway.ASK;
import static io.kvasir.gateway.TestGateway.CHAT;
import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.exchange.http.TlsFiles;
import io.kvasir.gateway.RawStreams.Outcome;
import io.kvasir.testing.harness.TestCertificates;
import java.nio.file.Path;
import java.security.KeyStore;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Requests of HTTP/2 that would be others, or more than one, as the HTTP/1.1 in which the gateway
 * asks engines.
 */
@Tag("process")
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class StreamSmugglingTest {

  private static final String SECOND = "x\r\n\r\nGET /v1/smuggled HTTP/1.1\r\nx: y";

  @TempDir private static Path folder;
  private KeyStore keys;
  private ScriptedEngine engine;
  private TestGateway gateway;

  @BeforeAll
  void start() {
    TestCertificates certificates = new TestCertificates(folder);
    keys = certificates.keys("server", "EC");
    TlsFiles files =
        new TlsFiles(
            certificates.certificate("server", keys), certificates.key("server", keys), null);
    engine = ScriptedEngine.good();
    gateway = TestGateway.of(engine).tls(files).start();
  }

  @AfterAll
  void stop() {
    gateway.close();
    engine.close();
  }

  private RawStreams client() {
    return new RawStreams(TestCertificates.context(null, keys), gateway.gateway().port());
  }

  private static String[] request(String... more) {
    List<String> all =
        new ArrayList<>(
            List.of(":method", "POST", ":scheme", "https", ":path", CHAT, ":authority", "x"));
    for (int i = 0; i < more.length; i += 2) {
      int place = all.indexOf(more[i]);
      if (more[i].startsWith(":") && place >= 0) {
        all.set(place + 1, more[i + 1]);
      } else {
        all.add(more[i]);
        all.add(more[i + 1]);
      }
    }
    return all.toArray(String[]::new);
  }

  static Stream<Arguments> refused() {
    return Stream.of(
        Arguments.of("a second request in a value", request("x", SECOND)),
        Arguments.of("a line feed in a value", request("x", "a\nb: c")),
        Arguments.of("a return in a value", request("x", "a\rb")),
        Arguments.of("a zero in a value", request("x", "a\0b")),
        Arguments.of("a second request in a name", request(SECOND, "x")),
        Arguments.of("a colon in a name", request("x:y", "z")),
        Arguments.of("a space in a name", request("x y", "z")),
        Arguments.of("a name in capitals", request("X-Name", "z")),
        Arguments.of("an empty name", request("", "z")),
        Arguments.of("a second request in the method", request(":method", "GET / HTTP/1.1\r\n")),
        Arguments.of("a space in the method", request(":method", "POST /v1/smuggled")),
        Arguments.of("an empty method", request(":method", "")),
        Arguments.of("a second request in the path", request(":path", CHAT + " HTTP/1.1\r\n")),
        Arguments.of("a space in the path", request(":path", CHAT + " x")),
        Arguments.of("an empty path", request(":path", "")),
        Arguments.of("a path without its slash", request(":path", CHAT.substring(1))),
        Arguments.of("a path of another host", request(":path", "http://127.0.0.1:22/x")),
        Arguments.of("a line feed in the authority", request(":authority", "x\nb: c")),
        Arguments.of("another host in a field", request("host", "y")),
        Arguments.of("two hosts", request("host", "x", "host", "y")),
        Arguments.of("a field of connections", request("connection", "keep-alive")),
        Arguments.of("chunks", request("transfer-encoding", "chunked")),
        Arguments.of("an upgrade", request("upgrade", "h2c")),
        Arguments.of("a length that is too short", request("content-length", "5")),
        Arguments.of("a length that is too long", request("content-length", "5000")),
        Arguments.of("two lengths", request("content-length", "5", "content-length", "6")),
        Arguments.of("a length in hex", request("content-length", "0x10")),
        Arguments.of("a negative length", request("content-length", "-1")),
        Arguments.of("an unknown field of the line", request(":line", "x")),
        Arguments.of("a field of answers", request(":status", "200")),
        Arguments.of("a field of the line behind others", request("x", "y", ":scheme2", "z")));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource
  void refused(String what, String[] fields) {
    int before = engine.received();
    try (RawStreams client = client()) {
      Outcome outcome = client.ask(1, ASK, fields);
      assertThat(outcome.isRefused()).as(outcome.toString()).isTrue();
    }
    serves(before);
  }

  /** Nothing has reached the engine since, and the gateway goes on. */
  private void serves(int before) {
    assertThat(engine.received()).isEqualTo(before);
    try (RawStreams client = client()) {
      Outcome outcome =
          client.ask(1, ASK, request("host", "x", "content-length", "" + ASK.length()));
      assertThat(outcome).isEqualTo(new Outcome(200, false, false));
      assertThat(engine.received()).isEqualTo(before + 1);
    }
  }

  @Test
  void methodsOfTunnelsAreNotServed() {
    int before = engine.received();
    try (RawStreams client = client()) {
      assertThat(client.ask(1, "", request(":method", "TRACE")).isRefused()).isTrue();
      assertThat(client.ask(3, "", ":method", "CONNECT", ":authority", "127.0.0.1:22").isRefused())
          .isTrue();
    }
    serves(before);
  }

  @Test
  void limitsAreThoseOfOtherVersions() {
    int before = engine.received();
    try (RawStreams client = client()) {
      assertThat(client.ask(1, ASK, request(":path", "/" + "x".repeat(9_000))).status())
          .isEqualTo(414);
    }
    try (RawStreams client = client()) {
      String[] many = new String[80];
      for (int i = 0; i < many.length; i += 2) {
        many[i] = "x-" + i;
        many[i + 1] = "y".repeat(1_000);
      }
      byte[] block = RawStreams.fields(request(many));
      for (int at = 0; at < block.length; at += 16_000) {
        int end = Math.min(block.length, at + 16_000);
        byte[] part = Arrays.copyOfRange(block, at, end);
        boolean unused =
            client.frame(
                at == 0 ? RawStreams.HEADERS : RawStreams.CONTINUATION,
                end == block.length ? RawStreams.END_HEADERS : 0,
                1,
                part);
      }
      Outcome outcome = client.outcome(1);
      assertThat(outcome.isRefused()).as(outcome.toString()).isTrue();
    }
    serves(before);
  }

  @Test
  void fieldsThatNeverEndEndTheirConnection() {
    int before = engine.received();
    try (RawStreams client = client()) {
      assertThat(client.frame(RawStreams.HEADERS, 0, 1, RawStreams.fields(request()))).isTrue();
      int sent = 0;
      while (client.frame(RawStreams.CONTINUATION, 0, 1, new byte[0])) {
        assertThat(++sent).isLessThan(10_000_000);
      }
      assertThat(client.outcome(1).isClosed()).isTrue();
    }
    serves(before);
  }

  @Test
  void cookiesReachTheEngineInOneField() {
    try (RawStreams client = client()) {
      assertThat(client.ask(1, ASK, request("cookie", "a=1", "cookie", "b=2")).status())
          .isEqualTo(200);
      ScriptedEngine.Received received = engine.next();
      while (received.field("cookie") == null) {
        received = engine.next(); // those of other tests
      }
      assertThat(received.field("cookie")).isEqualTo("a=1; b=2");
    }
  }
}
