package io.kvasir.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.kvasir.testing.harness.Await;
import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.atomic.AtomicLong;

/** A client that sends any bytes over one connection. */
final class RawClient implements AutoCloseable {

  private static final ObjectMapper JSON = new ObjectMapper();

  /** Turns without progress after which a connection takes no more. */
  private static final int IDLE_TURNS = 20;

  private final Socket socket;
  private final HttpInput in;
  private HttpInput.Head head;
  private final AtomicLong sent = new AtomicLong();

  private RawClient(Socket socket) throws IOException {
    this.socket = socket;
    this.in = new HttpInput(new BufferedInputStream(socket.getInputStream()));
  }

  /** A complete reply. */
  @SuppressWarnings("ArrayRecordComponent") // value semantics of the array are never used
  record Reply(HttpInput.Head head, byte[] body) {

    int status() {
      return head.status();
    }

    String field(String name) {
      return head.field(name);
    }

    String text() {
      return new String(body, StandardCharsets.UTF_8);
    }

    JsonNode json() {
      try {
        return JSON.readTree(body);
      } catch (IOException e) {
        throw new UncheckedIOException(text(), e);
      }
    }

    /** The code of an error in the shape of the OpenAI API. */
    String code() {
      JsonNode error = json().path("error");
      assertThat(error.path("message").asText()).isNotEmpty();
      assertThat(error.path("type").asText()).isNotEmpty();
      assertThat(error.has("param")).isTrue();
      return error.path("code").asText();
    }

    String param() {
      return json().at("/error/param").asText();
    }

    String message() {
      return json().at("/error/message").asText();
    }
  }

  static RawClient to(int port) {
    return to(port, 0);
  }

  /** Connects from another address of this machine, as another client. */
  static RawClient from(String address, int port) {
    try {
      Socket socket = new Socket();
      socket.bind(new InetSocketAddress(address, 0));
      return connected(socket, port);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * Connects.
   *
   * @param receiveBytes size of the receive buffer; 0 for the default
   */
  static RawClient to(int port, int receiveBytes) {
    try {
      Socket socket = new Socket();
      if (receiveBytes > 0) {
        socket.setReceiveBufferSize(receiveBytes);
      }
      return connected(socket, port);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static RawClient connected(Socket socket, int port) throws IOException {
    socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
    socket.setSoTimeout(Await.limitMs());
    socket.setTcpNoDelay(true);
    return new RawClient(socket);
  }

  /** The bytes of a POST with a JSON body. */
  static byte[] post(String path, byte[] body, String... fields) {
    return request("POST", path, body, fields);
  }

  /** The bytes of a request with a JSON body. */
  static byte[] request(String method, String path, byte[] body, String... fields) {
    StringBuilder head = new StringBuilder(method + " " + path + " HTTP/1.1\r\nHost: x\r\n");
    head.append("Content-Type: application/json\r\nContent-Length: ").append(body.length);
    for (String field : fields) {
      head.append("\r\n").append(field);
    }
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    all.writeBytes(head.append("\r\n\r\n").toString().getBytes(StandardCharsets.ISO_8859_1));
    all.writeBytes(body);
    return all.toByteArray();
  }

  static byte[] post(String path, String body, String... fields) {
    return post(path, body.getBytes(StandardCharsets.UTF_8), fields);
  }

  RawClient send(String text) {
    return send(text.getBytes(StandardCharsets.ISO_8859_1));
  }

  RawClient send(byte[] bytes) {
    try {
      socket.getOutputStream().write(bytes);
      return this;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Sends, and ignores that the other side may have closed the connection. */
  RawClient trySend(byte[] bytes) {
    try {
      return send(bytes);
    } catch (UncheckedIOException e) {
      return this;
    }
  }

  /**
   * Sends a part again and again until the other side takes no more.
   *
   * @param turn lets the other side do what it can
   */
  void sendUntilStuck(byte[] part, Runnable turn) {
    Thread sender = new Thread(() -> sendForever(part));
    sender.setDaemon(true);
    sender.start();
    long before = 0;
    for (int idle = 0; sender.isAlive() && idle < IDLE_TURNS; idle++) {
      turn.run();
      if (sent.get() != before || before == 0) {
        before = sent.get();
        idle = 0;
      }
    }
  }

  private void sendForever(byte[] part) {
    try {
      while (true) {
        socket.getOutputStream().write(part);
        sent.addAndGet(part.length);
      }
    } catch (IOException e) {
      // closed
    }
  }

  /** Reads a reply completely, interim ones passed over. */
  Reply reply() {
    try {
      HttpInput.Head begun = head();
      return new Reply(begun, in.body());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Reads a reply that has no body, as the one to HEAD. */
  HttpInput.Head head() {
    try {
      do {
        head = in.head();
        assertThat(head).as("the head of a reply").isNotNull();
      } while (head.status() == 100);
      return head;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Reads one event of the reply whose head was read; null at the end of the stream. */
  String event() {
    ByteArrayOutputStream event = new ByteArrayOutputStream();
    try {
      int next = 0;
      for (int last = 0; last != '\n' || next != '\n'; event.write(next)) {
        last = next;
        next = in.bodyByte();
        if (next < 0) {
          assertThat(event.size()).isZero();
          return null;
        }
      }
      return event.toString(StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Reads one byte of the reply's body. */
  int bodyByte() throws IOException {
    return in.bodyByte();
  }

  /** Whether the other side closes the connection without a complete body. */
  boolean isCut() {
    try {
      in.body();
      return false;
    } catch (EOFException | SocketException e) {
      return true;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Waits until the other side closes; true if nothing more arrived before. */
  boolean isClosed() {
    try {
      return in.head() == null;
    } catch (SocketException e) {
      return true;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Whether the other side has ended the connection, seen without reading from it. */
  boolean isDisconnected() {
    try {
      socket.getOutputStream().write('x');
      return false;
    } catch (IOException e) {
      return true;
    }
  }

  /** Whether nothing has arrived since the last reply. */
  boolean isSilent() {
    try {
      return socket.getInputStream().available() == 0;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Closes the connection with a reset. */
  void reset() {
    try {
      socket.setSoLinger(true, 0);
      socket.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Closes the connection in the ordinary way. */
  void disconnect() {
    close();
  }

  @Override
  public void close() {
    try {
      socket.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
