package io.kvasir.cli.serve;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import io.kvasir.cli.Outcome;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** When {@code kvasir workers drain} says that a worker has no requests. */
class DrainedWorkerTest {

  @Test
  void aRequestThatIsSentAfterTheFirstLookIsWaitedFor() throws IOException {
    Deque<Integer> looks = new ArrayDeque<>(List.of(0, 1, 0, 0));
    assertThat(drain(looks, "60").exitCode()).isZero();
    assertThat(looks).isEmpty();
  }

  @Test
  void aWorkerWithoutRequestsIsDrainedInNoTime() throws IOException {
    Deque<Integer> looks = new ArrayDeque<>(List.of(0, 0));
    assertThat(drain(looks, "0.001").exitCode()).isZero();
    Outcome busy = drain(new ArrayDeque<>(List.of(1)), "0.001");
    assertThat(busy.exitCode()).isEqualTo(1);
    assertThat(busy.err()).contains("still has requests");
  }

  /** Drains a worker of a stand-in for a gateway, which has as many requests at each look. */
  private static Outcome drain(Deque<Integer> looks, String seconds) throws IOException {
    HttpServer admin =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    admin.createContext(
        "/",
        exchange -> {
          int active = exchange.getRequestMethod().equals("GET") ? looks.remove() : 1;
          byte[] body =
              "{\"worker_id\":\"w:1\",\"healthy\":true,\"state\":\"cordoned\",\"active_requests\":%d}"
                  .formatted(active)
                  .getBytes(StandardCharsets.UTF_8);
          exchange.getRequestBody().readAllBytes();
          exchange.sendResponseHeaders(200, body.length);
          exchange.getResponseBody().write(body);
          exchange.close();
        });
    admin.start();
    try {
      return Outcome.of(
          Map.of(),
          "workers drain w:1 --wait-seconds %s --admin-url http://127.0.0.1:%d"
              .formatted(seconds, admin.getAddress().getPort()));
    } finally {
      admin.stop(0);
    }
  }
}
