package io.kvasir.gateway;

import io.kvasir.embedded.disagg.RoleSettings;
import io.kvasir.gateway.ScriptedEngine.Received;
import io.kvasir.testing.harness.Await;
import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A stand-in with a role behind a relay of each request, at which a test sees the phases of legs
 * and makes faults. Other stand-ins reach it directly. It can be killed and started again.
 *
 * <p>Thread-safe.
 */
final class RelayedLeg implements AutoCloseable {

  private static final int PART_BYTES = 1 << 16;

  private final Faults faults;
  private volatile StandInServer standIn;
  private volatile ScriptedEngine front;

  /**
   * A leg at this worker.
   *
   * @param gone opens when the gateway has closed the connection
   */
  record Seen(RelayedLeg at, Received request, CountDownLatch gone) {}

  /** Sees the legs, on threads of their own, which may wait. */
  interface Faults {

    /** A leg has come; returns whether the stand-in gets it, or else the connection is reset. */
    boolean onAsked(Seen leg) throws Exception;

    /**
     * The stand-in has answered, and the gateway has nothing of it yet.
     *
     * @param bytes the body of a prefill leg's answer, the first bytes of a decode leg's reply
     * @return what the gateway gets; null if the connection is reset
     */
    byte @Nullable [] onAnswered(Seen leg, byte[] bytes) throws Exception;
  }

  private RelayedLeg(StandInServer standIn, Faults faults) {
    this.standIn = standIn;
    this.faults = faults;
    this.front = ScriptedEngine.start(List.of(StandInServer.MODEL), this::serve);
    front.fact("/server_info", serverInfo(standIn));
  }

  static RelayedLeg start(RoleSettings part, int ranks, Faults faults) {
    return new RelayedLeg(StandInServer.leg(part, ranks), faults);
  }

  private static String serverInfo(StandInServer standIn) {
    try (RawClient client = RawClient.to(standIn.port())) {
      RawClient.Reply reply = client.send("GET /server_info HTTP/1.1\r\nHost: x\r\n\r\n").reply();
      return reply.status() == 200 ? reply.text() : Integer.toString(reply.status());
    }
  }

  /** What {@code --worker} says of it. */
  String worker() {
    return standIn.leg().replace(standIn.url() + ",", "http://" + front.name() + ",");
  }

  StandInServer standIn() {
    return standIn;
  }

  /** The worker's name in logs and metrics. */
  String name() {
    return front.name();
  }

  /** Ends without closing its connections in order. */
  void kill() {
    front.kill();
    standIn.close();
  }

  /** Starts what was killed, at the same ports and with empty pools. */
  void restart() {
    standIn = again(standIn::again);
    front = again(front::again);
  }

  /** A connection of another test may have the port of a killed server for a while. */
  private static <T> T again(Supplier<T> start) {
    return Await.value(
        "a port that is free again",
        () -> {
          try {
            return start.get();
          } catch (RuntimeException | AssertionError e) {
            return null;
          }
        });
  }

  private void serve(Received request, EngineLink link) throws Exception {
    CountDownLatch gone = new CountDownLatch(1);
    Seen leg = new Seen(this, request, gone);
    boolean isLeg = request.method().equals("POST") && request.target().startsWith("/v1/");
    boolean prefills = isLeg && standIn.prefills();
    try (Socket engine = new Socket(InetAddress.getLoopbackAddress(), standIn.port())) {
      watch(link, engine, gone);
      if (isLeg && !faults.onAsked(leg)) {
        link.reset();
        return;
      }
      send(request, engine.getOutputStream());
      InputStream in = new BufferedInputStream(engine.getInputStream(), PART_BYTES);
      if (prefills) {
        answer(leg, in, link);
      } else {
        copy(isLeg ? leg : null, in, link);
      }
    } catch (IOException e) {
      link.reset(); // one of both sides has ended
    }
  }

  /** Closes the connection to the engine when the gateway closes its own. */
  private static void watch(EngineLink link, Socket engine, CountDownLatch gone) {
    Thread watcher =
        new Thread(
            () -> {
              try {
                link.awaitGone();
                gone.countDown();
                engine.close();
              } catch (IOException e) {
                // the leg has ended
              }
            });
    watcher.setDaemon(true);
    watcher.start();
  }

  private static void send(Received request, OutputStream engine) throws IOException {
    StringBuilder head = new StringBuilder(request.head().line()).append("\r\n");
    for (Map.Entry<String, List<String>> field : request.head().fields().entrySet()) {
      if (!field.getKey().matches("connection|content-length|transfer-encoding")) {
        field.getValue().forEach(value -> head.append(field.getKey() + ": " + value + "\r\n"));
      }
    }
    head.append("connection: close\r\ncontent-length: ").append(request.body().length);
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    all.writeBytes(head.append("\r\n\r\n").toString().getBytes(StandardCharsets.ISO_8859_1));
    all.writeBytes(request.body());
    engine.write(all.toByteArray());
  }

  private void answer(Seen leg, InputStream engine, EngineLink link) throws Exception {
    HttpInput in = new HttpInput(engine);
    HttpInput.Head head = in.head();
    if (head == null) {
      throw new IOException("the engine has ended");
    }
    byte[] body = in.body();
    byte[] given = head.status() == 200 ? faults.onAnswered(leg, body) : body;
    if (given == null) {
      link.reset();
      return;
    }
    link.head(
        head.status(),
        "Content-Type: application/json",
        "Content-Length: " + given.length,
        "Connection: close");
    link.raw(given);
    link.close();
  }

  private void copy(@Nullable Seen leg, InputStream engine, EngineLink link) throws Exception {
    byte[] part = new byte[PART_BYTES];
    int length = engine.read(part);
    if (length < 0) {
      throw new IOException("the engine has ended");
    }
    byte[] first = Arrays.copyOf(part, length);
    byte[] given = leg == null ? first : faults.onAnswered(leg, first);
    if (given == null) {
      link.reset();
      return;
    }
    link.raw(given);
    for (int next = engine.read(part); next >= 0; next = engine.read(part)) {
      link.raw(Arrays.copyOf(part, next));
    }
    link.close();
  }

  @Override
  public void close() {
    front.kill();
    standIn.close();
  }
}
