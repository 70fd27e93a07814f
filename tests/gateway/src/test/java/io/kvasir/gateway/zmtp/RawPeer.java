package io.kvasir.gateway.zmtp;

import io.kvasir.testing.harness.Await;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/** A peer that speaks ZMTP itself over a blocking socket, well or badly. Not thread-safe. */
public final class RawPeer implements AutoCloseable {

  public static final int MORE = 1;
  public static final int LONG = 2;
  public static final int COMMAND = 4;

  private final Socket socket;
  private final DataInputStream in;
  private final OutputStream out;

  private RawPeer(Socket socket) throws IOException {
    this.socket = socket;
    socket.setSoTimeout(Await.limitMs());
    socket.setTcpNoDelay(true);
    in = new DataInputStream(socket.getInputStream());
    out = socket.getOutputStream();
  }

  /** A port of loopback to accept at. */
  public static ServerSocket listen() throws IOException {
    ServerSocket server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    server.setSoTimeout(Await.limitMs());
    return server;
  }

  public static String endpoint(ServerSocket server) {
    return "tcp://127.0.0.1:" + server.getLocalPort();
  }

  /** Waits for the next connection, which it does not greet. */
  public static RawPeer accept(ServerSocket server) throws IOException {
    return new RawPeer(server.accept());
  }

  /** Waits for the next connection and completes the handshake as a PUB socket. */
  public static RawPeer publisher(ServerSocket server) throws IOException {
    RawPeer peer = accept(server);
    peer.handshake("PUB");
    peer.readFrame(); // the subscription
    return peer;
  }

  /** Connects to a bound endpoint, and does not greet it. */
  public static RawPeer connect(int port) throws IOException {
    return new RawPeer(new Socket(InetAddress.getLoopbackAddress(), port));
  }

  /** Sends the greeting and READY, and reads those of the other side. */
  public void handshake(String type) throws IOException {
    send(greeting(3, "NULL"));
    send(ready(type));
    in.readFully(new byte[64]);
    readFrame();
  }

  public static byte[] greeting(int version, String mechanism) {
    byte[] greeting = new byte[64];
    greeting[0] = (byte) 0xFF;
    greeting[9] = 0x7F;
    greeting[10] = (byte) version;
    byte[] name = mechanism.getBytes(StandardCharsets.US_ASCII);
    System.arraycopy(name, 0, greeting, 12, name.length);
    return greeting;
  }

  public static byte[] ready(String type) {
    return frame(
        COMMAND,
        ("\5READY\13Socket-Type\0\0\0" + (char) type.length() + type)
            .getBytes(StandardCharsets.ISO_8859_1));
  }

  /** A frame with its header. */
  public static byte[] frame(int flags, byte[] body) {
    byte[] header = header(flags, body.length);
    return ByteBuffer.allocate(header.length + body.length).put(header).put(body).array();
  }

  /** A header that announces a length. */
  public static byte[] header(int flags, long length) {
    return length <= 255
        ? new byte[] {(byte) flags, (byte) length}
        : ByteBuffer.allocate(9).put((byte) (flags | LONG)).putLong(length).array();
  }

  /** A message of three frames, as publishers send them. */
  public static byte[] batch(long number, byte[] payload) {
    ByteArrayOutputStream message = new ByteArrayOutputStream();
    message.writeBytes(frame(MORE, new byte[0]));
    message.writeBytes(frame(MORE, ByteBuffer.allocate(8).putLong(number).array()));
    message.writeBytes(frame(0, payload));
    return message.toByteArray();
  }

  public void send(byte[] bytes) throws IOException {
    out.write(bytes);
  }

  /** The body of the next frame, commands included. */
  public byte[] readFrame() throws IOException {
    int flags = in.readByte();
    long length = (flags & LONG) == 0 ? in.readByte() & 0xFF : in.readLong();
    byte[] body = new byte[(int) length];
    in.readFully(body);
    return body;
  }

  /** Reads until a heartbeat comes, and answers it. */
  public void answerHeartbeat() throws IOException {
    while (true) {
      byte[] body = readFrame();
      if (new String(body, StandardCharsets.ISO_8859_1).startsWith("\4PING")) {
        send(frame(COMMAND, "\4PONG".getBytes(StandardCharsets.ISO_8859_1)));
        return;
      }
    }
  }

  /** Waits until the other side has closed the connection. */
  public void awaitClose() throws IOException {
    try {
      while (true) {
        readFrame();
      }
    } catch (EOFException e) {
      // closed
    } catch (IOException e) {
      if (e instanceof SocketTimeoutException) {
        throw e;
      }
    }
  }

  @Override
  public void close() throws IOException {
    socket.close();
  }
}
