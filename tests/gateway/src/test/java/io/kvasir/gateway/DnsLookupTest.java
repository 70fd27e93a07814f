package io.kvasir.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kvasir.gateway.worker.DnsWorkers;
import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What DNS answers, by a server of the test. */
class DnsLookupTest {

  private static final DnsWorkers SERVICE =
      DnsWorkers.parse("dnssrv+http://_http._tcp.vllm.example", null);

  /** A record of a service. */
  private record Srv(int priority, int weight, int port, String host) {}

  /** A server on UDP (RFC 1035) that answers everything with the same SRV records (RFC 2782). */
  private static final class Server implements AutoCloseable {

    private static final int HEADER = 12;
    private static final int NO_SUCH_NAME = 3;
    private static final int TYPE_SRV = 33;

    final DatagramSocket socket = new DatagramSocket(0, InetAddress.getLoopbackAddress());
    final List<Srv> records;

    Server(List<Srv> records) throws IOException {
      this.records = records;
      Thread thread = new Thread(this::serve, "dns");
      thread.setDaemon(true);
      thread.start();
    }

    String url() {
      return "dns://127.0.0.1:" + socket.getLocalPort();
    }

    private void serve() {
      try {
        while (true) {
          DatagramPacket question = new DatagramPacket(new byte[512], 512);
          socket.receive(question);
          byte[] answer = answer(Arrays.copyOf(question.getData(), question.getLength()));
          socket.send(new DatagramPacket(answer, answer.length, question.getSocketAddress()));
        }
      } catch (IOException e) {
        return; // closed
      }
    }

    private byte[] answer(byte[] question) throws IOException {
      int end = HEADER;
      while (question[end] != 0) {
        end += 1 + question[end];
      }
      end += 5; // the root, type and class
      ByteArrayOutputStream bytes = new ByteArrayOutputStream();
      DataOutputStream data = new DataOutputStream(bytes);
      data.write(question, 0, 2);
      data.writeShort(records.isEmpty() ? 0x8180 | NO_SUCH_NAME : 0x8180);
      data.writeShort(1);
      data.writeShort(records.size());
      data.writeInt(0);
      data.write(question, HEADER, end - HEADER);
      for (Srv each : records) {
        ByteArrayOutputStream host = new ByteArrayOutputStream();
        for (String label : each.host.split("\\.", -1)) {
          host.write(label.length());
          host.write(label.getBytes(StandardCharsets.US_ASCII));
        }
        host.write(0);
        data.writeShort(0xc000 | HEADER);
        data.writeShort(TYPE_SRV);
        data.writeShort(1);
        data.writeInt(30);
        data.writeShort(6 + host.size());
        data.writeShort(each.priority);
        data.writeShort(each.weight);
        data.writeShort(each.port);
        host.writeTo(data);
      }
      return bytes.toByteArray();
    }

    @Override
    public void close() {
      socket.close();
    }
  }

  @Test
  void servicesAreThoseOfTheLowestPriority() throws IOException {
    List<Srv> records =
        List.of(
            new Srv(10, 1, 8000, "vllm-0.vllm.example"),
            new Srv(10, 9, 8001, "vllm-1.vllm.example"),
            new Srv(10, 9, 8001, "vllm-1.vllm.example"),
            new Srv(20, 1, 8000, "reserve.vllm.example"));
    try (Server server = new Server(records)) {
      assertThat(new DnsLookup(server.url()).find(SERVICE))
          .containsExactlyInAnyOrder(
              InetSocketAddress.createUnresolved("vllm-0.vllm.example", 8000),
              InetSocketAddress.createUnresolved("vllm-1.vllm.example", 8001));
    }
  }

  @Test
  void aNameWithoutServicesIsAnError() throws IOException {
    try (Server server = new Server(List.of())) {
      assertThatThrownBy(() -> new DnsLookup(server.url()).find(SERVICE))
          .isInstanceOf(IOException.class)
          .hasMessageContaining("_http._tcp.vllm.example");
    }
  }

  @Test
  void addressesAreThoseOfTheMachine() throws IOException {
    DnsLookup lookup = new DnsLookup(DnsLookup.OF_THE_MACHINE);
    assertThat(lookup.find(DnsWorkers.parse("dns+http://localhost:8000", null)))
        .containsExactly(InetSocketAddress.createUnresolved("127.0.0.1", 8000));
    assertThatThrownBy(
            () -> lookup.find(DnsWorkers.parse("dns+http://no-such-name.invalid:8000", null)))
        .isInstanceOf(UnknownHostException.class);
  }
}
