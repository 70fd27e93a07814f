package io.kvasir.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.gateway.ScriptedEngine.Received;
import io.kvasir.testing.harness.Await;
import java.io.EOFException;
import java.io.IOException;
import java.io.OutputStream;
import java.net.Socket;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;

/** A scripted engine's side of one connection. */
final class EngineLink implements AutoCloseable {

  private final Socket socket;
  private final OutputStream out;
  private HttpInput in;

  EngineLink(Socket socket) throws IOException {
    this.socket = socket;
    this.out = socket.getOutputStream();
    socket.setTcpNoDelay(true);
  }

  void input(HttpInput input) {
    in = input;
  }

  /** Reads one more byte of a body that the engine left unread; -1 at its end. */
  int bodyByte() throws IOException {
    return in.bodyByte();
  }

  /** Reads the rest of a body that the engine left unread. */
  byte[] body() throws IOException {
    return in.body();
  }

  void raw(String text) throws IOException {
    raw(text.getBytes(StandardCharsets.ISO_8859_1));
  }

  void raw(byte[] bytes) throws IOException {
    out.write(bytes);
    out.flush();
  }

  void head(int status, String... fields) throws IOException {
    raw("HTTP/1.1 " + status + " S\r\n" + String.join("\r\n", fields) + "\r\n\r\n");
  }

  void json(int status, String body) throws IOException {
    raw(
        "HTTP/1.1 "
            + status
            + " S\r\nContent-Type: application/json\r\nContent-Length: "
            + body.length()
            + "\r\n\r\n"
            + body);
  }

  /** Begins a stream of events. */
  void stream() throws IOException {
    head(200, "Content-Type: text/event-stream; charset=utf-8", "Transfer-Encoding: chunked");
  }

  void chunk(String text) throws IOException {
    raw(Integer.toHexString(text.length()) + "\r\n" + text + "\r\n");
  }

  void event(String data) throws IOException {
    chunk("data: " + data + "\n\n");
  }

  /** Sends an event with one token. */
  void token(String text) throws IOException {
    event("{\"choices\":[{\"index\":0,\"delta\":{\"content\":\"" + text + "\"}}]}");
  }

  void endStream() throws IOException {
    event("[DONE]");
    raw("0\r\n\r\n");
  }

  /** Answers like an engine: two tokens, and the usage that the request asks for. */
  static void answer(Received request, EngineLink link) throws IOException {
    if (!request.streams()) {
      link.json(
          200,
          "{\"id\":\"a\",\"choices\":[{\"message\":{\"content\":\"Hello you\"}}],"
              + "\"usage\":{\"prompt_tokens\":7,\"completion_tokens\":2,\"total_tokens\":9}}");
      return;
    }
    link.stream();
    link.token("Hello");
    link.token(" you");
    if (request.text().contains("\"include_usage\":true")) {
      link.event(
          "{\"choices\":[],\"usage\":{\"prompt_tokens\":7,\"completion_tokens\":2,"
              + "\"total_tokens\":9}}");
    }
    link.endStream();
  }

  /** Waits until the gateway has closed the connection. */
  void awaitGone() throws IOException {
    socket.setSoTimeout(Await.limitMs());
    try {
      assertThat(socket.getInputStream().read()).isEqualTo(-1);
    } catch (SocketException | EOFException e) {
      // reset
    }
  }

  /** Reads and drops what arrives until the gateway closes the connection. */
  void awaitEnd() throws IOException {
    socket.setSoTimeout(Await.limitMs());
    try {
      byte[] dropped = new byte[1 << 16];
      while (socket.getInputStream().read(dropped) >= 0) {}
    } catch (SocketException e) {
      // reset
    }
  }

  /** Closes the connection with a reset. */
  void reset() {
    try {
      socket.setSoLinger(true, 0);
      socket.close();
    } catch (IOException e) {
      // was closed
    }
  }

  boolean closed() {
    return socket.isClosed();
  }

  @Override
  public void close() throws IOException {
    socket.close();
  }
}
