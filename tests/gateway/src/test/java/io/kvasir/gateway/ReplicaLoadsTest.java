package io.kvasir.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.kvasir.embedded.EmbeddedEngine;
import io.kvasir.embedded.EngineServer;
import io.kvasir.embedded.publish.EventForm;
import io.kvasir.embedded.publish.EventSettings;
import io.kvasir.embedded.ranks.EmbeddedSettings;
import io.kvasir.engine.execute.RankPools;
import io.kvasir.exchange.EngineFlavor;
import io.kvasir.testing.harness.Await;
import io.kvasir.testing.harness.ReservedPort;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Several gateways in front of the same engine. */
class ReplicaLoadsTest {

  private static final ObjectMapper JSON = new ObjectMapper();
  private static final int RANKS = 2;

  private final List<ReservedPort> ports = new ArrayList<>();
  private EngineServer server;

  @BeforeEach
  void start() throws IOException {
    EmbeddedSettings settings = EmbeddedSettings.builder("m").ranks(RANKS).build();
    EventSettings silent =
        new EventSettings(
            EngineFlavor.VLLM,
            EventForm.NONE,
            EventSettings.newestReplay(EngineFlavor.VLLM),
            EventSettings.numbers(EngineFlavor.VLLM),
            "127.0.0.1",
            0,
            0,
            "",
            EventSettings.NO_PORT,
            false);
    EmbeddedEngine engine = EmbeddedEngine.open(settings, RankPools.Place.HOST, silent);
    server = EngineServer.start(engine, "127.0.0.1", 0, 1);
  }

  @AfterEach
  void close() throws IOException {
    server.close();
    for (ReservedPort port : ports) {
      port.close();
    }
  }

  private String freeEndpoint() throws IOException {
    ReservedPort port = new ReservedPort();
    ports.add(port);
    return "tcp://127.0.0.1:" + port.number();
  }

  /** With the router `cost`: it takes the less loaded rank however small the difference is. */
  private TestGateway gateway(String endpoint, List<String> peers, String... others) {
    List<String> workers =
        new ArrayList<>(List.of("http://127.0.0.1:" + server.port() + ",ranks=" + RANKS));
    workers.addAll(List.of(others));
    return TestGateway.of(workers).router("cost").replicas(endpoint, peers).start();
  }

  /** Requests on each rank, as a gateway counts them. */
  private static List<Integer> requests(TestGateway gateway) {
    try {
      JsonNode ranks = JSON.readTree(gateway.admin("/kvasir/ranks").text()).get(0).get("ranks");
      return List.of(
          ranks.get(0).at("/load/active_requests").asInt(),
          ranks.get(1).at("/load/active_requests").asInt());
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  private static RawClient client(TestGateway gateway) {
    return RawClient.to(gateway.gateway().port());
  }

  /** A request whose answer does not end soon. */
  private static byte[] longRequest() {
    String body =
        "{\"model\":\"m\",\"prompt\":\"some words\",\"max_tokens\":100000,\"stream\":true}";
    return RawClient.post("/v1/completions", body);
  }

  @Test
  void aGatewayCountsWhatTheOtherHasPlaced() throws IOException {
    List<String> endpoints = List.of(freeEndpoint(), freeEndpoint());
    try (TestGateway first = gateway(endpoints.get(0), endpoints);
        TestGateway second = gateway(endpoints.get(1), endpoints)) {
      Await.until(
          "both see the other",
          () -> first.metric("kvasir_replicas") == 1 && second.metric("kvasir_replicas") == 1);
      try (RawClient one = client(first)) {
        one.send(longRequest());
        Await.until(
            "a request of the first gateway at both",
            () ->
                requests(first).stream().mapToInt(Integer::intValue).sum() == 1
                    && requests(second).equals(requests(first)));
        try (RawClient other = client(second)) {
          other.send(longRequest());
          Await.until("one request on each rank", () -> requests(first).equals(List.of(1, 1)));
          assertThat(requests(second)).isEqualTo(List.of(1, 1));
          assertThat(second.metric("kvasir_replica_requests")).isEqualTo(1);
        }
      }
      Await.until(
          "no request",
          () -> requests(first).equals(List.of(0, 0)) && requests(second).equals(List.of(0, 0)));
      assertThat(first.metric("kvasir_replica_messages_ignored")).isZero();
      assertThat(first.metric("kvasir_replica_messages_dropped")).isZero();
    }
  }

  /** Sends bytes to an endpoint and reads nothing, until the connection ends or all are sent. */
  private static Socket hostile(String endpoint, byte[] bytes) throws IOException {
    int port = Integer.parseInt(endpoint.substring(endpoint.lastIndexOf(':') + 1));
    Socket socket = new Socket(InetAddress.getLoopbackAddress(), port);
    try {
      socket.getOutputStream().write(bytes);
    } catch (IOException e) { // the gateway may close the connection
      assertThat(e).isNotNull();
    }
    return socket;
  }

  /** A ZMTP 3.0 subscriber's greeting, its handshake and one subscription. */
  private static byte[] subscription(int topicBytes) {
    byte[] greeting = new byte[64];
    greeting[0] = (byte) 0xff;
    greeting[9] = 0x7f;
    greeting[10] = 3;
    System.arraycopy("NULL".getBytes(StandardCharsets.US_ASCII), 0, greeting, 12, 4);
    byte[] ready = "\4\31\5READY\13Socket-Type\0\0\0\3SUB".getBytes(StandardCharsets.ISO_8859_1);
    ByteBuffer out = ByteBuffer.allocate(greeting.length + ready.length + 10 + topicBytes);
    out.put(greeting).put(ready).put((byte) 2).putLong(1 + topicBytes).put((byte) 1);
    return out.array();
  }

  /** A subscription went to a tree by recursion, on the thread that publishes. */
  @Test
  void aHostileSubscriberDoesNotStopTheExchange() throws IOException {
    List<String> endpoints = List.of(freeEndpoint(), freeEndpoint());
    List<Socket> strangers = new ArrayList<>();
    try (TestGateway first = gateway(endpoints.get(0), endpoints);
        TestGateway second = gateway(endpoints.get(1), endpoints)) {
      Await.until("the second sees the first", () -> second.metric("kvasir_replicas") == 1);
      byte[] garbage = new byte[1 << 20];
      new SplittableRandom(1).nextBytes(garbage);
      for (byte[] bytes :
          List.of(subscription(60_000), subscription(10_000_000), garbage, new byte[0])) {
        strangers.add(hostile(endpoints.get(0), bytes));
      }
      try (RawClient one = client(first)) {
        one.send(longRequest());
        Await.until(
            "the first's request at the second",
            () -> second.metric("kvasir_replica_requests") == 1);
      }
      Await.until("its end", () -> second.metric("kvasir_replica_requests") == 0);
      assertThat(second.metric("kvasir_replicas")).isEqualTo(1);
    } finally {
      for (Socket stranger : strangers) {
        stranger.close();
      }
    }
  }

  @Test
  void theAgeOfTheLastMessageOfEachPeerIsShown() throws IOException {
    List<String> endpoints = List.of(freeEndpoint(), freeEndpoint());
    try (TestGateway alone = gateway(endpoints.get(0), endpoints)) {
      String age = "kvasir_replica_last_message_age_seconds";
      Await.until(
          "messages come from the own endpoint, and none from the other",
          () ->
              alone.metric(age, "peer=\"" + endpoints.get(1) + "\"")
                  > 1 + alone.metric(age, "peer=\"" + endpoints.get(0) + "\""));
    }
  }

  @Test
  void aGatewayWithOtherWorkersIsIgnored() throws IOException {
    List<String> endpoints = List.of(freeEndpoint(), freeEndpoint());
    try (TestGateway first = gateway(endpoints.get(0), endpoints);
        TestGateway second = gateway(endpoints.get(1), endpoints, "http://127.0.0.1:1")) {
      Await.until(
          "messages were ignored", () -> first.metric("kvasir_replica_messages_ignored") > 0);
      assertThat(first.metric("kvasir_replicas")).isZero();
      assertThat(second.metric("kvasir_replicas")).isZero();
    }
  }

  @Test
  void anEndpointInUseIsNamed() throws IOException {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      String used = "tcp://127.0.0.1:" + socket.getLocalPort();
      assertThatThrownBy(() -> gateway(used, List.of(used)))
          .hasMessageContaining(used + " cannot be bound");
    }
  }
}
