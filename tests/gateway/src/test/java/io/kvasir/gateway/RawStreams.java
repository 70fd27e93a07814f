package io.kvasir.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.testing.harness.Await;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http2.DefaultHttp2HeadersDecoder;
import io.netty.handler.codec.http2.Http2Exception;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;

/**
 * A client of HTTP/2 that sends what no library would: frames (RFC 9113, section 4) and fields (RFC
 * 7541, section 6.2.2) as bytes. Not thread-safe.
 */
final class RawStreams implements AutoCloseable {

  static final int DATA = 0;
  static final int HEADERS = 1;
  static final int RESET = 3;
  static final int SETTINGS = 4;
  static final int GO_AWAY = 7;
  static final int CONTINUATION = 9;

  static final int END_STREAM = 1;
  static final int END_HEADERS = 4;
  private static final int ACK = 1;
  private static final int PRIORITY = 32;
  private static final int PRIORITY_BYTES = 5;

  private static final String PREFACE = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
  private static final int HEAD_BYTES = 9;
  private static final int PREFIX = 127;

  private final DefaultHttp2HeadersDecoder decoder = new DefaultHttp2HeadersDecoder();
  private final SSLSocket socket;
  private final DataInputStream in;

  /**
   * What became of a request.
   *
   * @param status of its answer; 0 without one
   * @param isReset whether its stream was reset
   * @param isClosed whether its connection was ended
   */
  record Outcome(int status, boolean isReset, boolean isClosed) {

    boolean isRefused() {
      return (status >= 400 && status < 500) || (status == 0 && (isReset || isClosed));
    }
  }

  RawStreams(SSLContext context, int port) {
    try {
      socket = (SSLSocket) context.getSocketFactory().createSocket("localhost", port);
      socket.setSoTimeout(Math.toIntExact(Await.limitMs()));
      SSLParameters parameters = socket.getSSLParameters();
      parameters.setApplicationProtocols(new String[] {"h2"});
      socket.setSSLParameters(parameters);
      socket.startHandshake();
      assertThat(socket.getApplicationProtocol()).isEqualTo("h2");
      in = new DataInputStream(socket.getInputStream());
      socket.getOutputStream().write(PREFACE.getBytes(StandardCharsets.US_ASCII));
    } catch (IOException e) {
      throw new AssertionError(e);
    }
    assertThat(frame(SETTINGS, 0, 0, new byte[0])).isTrue();
  }

  /**
   * Sends a frame.
   *
   * @return false if the gateway has closed the connection
   */
  boolean frame(int type, int flags, int stream, byte[] payload) {
    ByteBuffer frame = ByteBuffer.allocate(HEAD_BYTES + payload.length);
    frame.put((byte) (payload.length >> 16)).putShort((short) payload.length);
    frame.put((byte) type).put((byte) flags).putInt(stream).put(payload);
    try {
      socket.getOutputStream().write(frame.array());
      return true;
    } catch (IOException e) {
      return false;
    }
  }

  /** Names and values in turn, as a block of fields. */
  static byte[] fields(String... namesAndValues) {
    ByteArrayOutputStream block = new ByteArrayOutputStream();
    for (int i = 0; i < namesAndValues.length; i += 2) {
      block.write(0); // a field that is not indexed
      text(block, namesAndValues[i]);
      text(block, namesAndValues[i + 1]);
    }
    return block.toByteArray();
  }

  private static void text(ByteArrayOutputStream block, String text) {
    int rest = text.length();
    if (rest < PREFIX) {
      block.write(rest);
    } else {
      block.write(PREFIX);
      for (rest -= PREFIX; rest > PREFIX; rest >>= 7) {
        block.write((rest & PREFIX) | (1 << 7));
      }
      block.write(rest);
    }
    block.writeBytes(text.getBytes(StandardCharsets.ISO_8859_1));
  }

  /**
   * Sends a request with a body.
   *
   * @return false if the gateway has closed the connection
   */
  boolean send(int stream, String body, String... namesAndValues) {
    return frame(HEADERS, END_HEADERS, stream, fields(namesAndValues))
        && frame(DATA, END_STREAM, stream, body.getBytes(StandardCharsets.UTF_8));
  }

  /** Sends a request with a body, and waits for its end. */
  Outcome ask(int stream, String body, String... namesAndValues) {
    boolean unused = send(stream, body, namesAndValues);
    return outcome(stream);
  }

  /** Waits until a stream is reset; the answers of others are lost. */
  void awaitReset() {
    try {
      while (true) {
        int length = (in.readUnsignedByte() << 16) | in.readUnsignedShort();
        int type = in.readUnsignedByte();
        in.skipNBytes(1 + Integer.BYTES + length);
        if (type == RESET) {
          return;
        }
      }
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  /** Waits for the end of a stream or of its connection. */
  Outcome outcome(int stream) {
    int status = 0;
    try {
      while (true) {
        int length = (in.readUnsignedByte() << 16) | in.readUnsignedShort();
        int type = in.readUnsignedByte();
        int flags = in.readUnsignedByte();
        int of = in.readInt();
        byte[] payload = in.readNBytes(length);
        if (type == SETTINGS && (flags & ACK) == 0) {
          boolean unused = frame(SETTINGS, ACK, 0, new byte[0]);
        } else if (type == GO_AWAY) {
          return new Outcome(status, false, true);
        } else if (of == stream && type == RESET) {
          return new Outcome(status, true, false);
        } else if (of == stream && type == HEADERS) {
          ByteBuf block = Unpooled.wrappedBuffer(payload);
          block.skipBytes((flags & PRIORITY) == 0 ? 0 : PRIORITY_BYTES);
          status = Integer.parseInt(decoder.decodeHeaders(of, block).status().toString());
        }
        if (of == stream && (type == HEADERS || type == DATA) && (flags & END_STREAM) != 0) {
          return new Outcome(status, false, false);
        }
      }
    } catch (EOFException | SocketException | SSLException e) {
      return new Outcome(status, false, true);
    } catch (IOException | Http2Exception e) {
      throw new AssertionError(e);
    }
  }

  @Override
  public void close() {
    try {
      socket.close();
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }
}
