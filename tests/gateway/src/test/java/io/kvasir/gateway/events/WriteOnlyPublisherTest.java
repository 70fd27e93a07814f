package io.kvasir.gateway.events;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kvasir.testing.harness.Await;
import io.kvasir.testing.harness.ReservedPort;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.zeromq.SocketType;
import org.zeromq.ZContext;
import org.zeromq.ZMQ;

class WriteOnlyPublisherTest {

  private static final long MS = TimeUnit.MILLISECONDS.toNanos(1);

  /** JeroMQ's handshake sometimes stalls; it connects again after this time, not after 30 s. */
  private static final int HANDSHAKE_MS = 500;

  private final List<SocketChannel> strangers = new ArrayList<>();
  private WriteOnlyPublisher publisher;
  private InetSocketAddress address;
  private String endpoint;

  @BeforeEach
  void start() throws IOException {
    open(new WriteOnlyPublisher("tcp://127.0.0.1:0"));
  }

  private void open(WriteOnlyPublisher opened) {
    publisher = opened;
    address = new InetSocketAddress(InetAddress.getLoopbackAddress(), publisher.port());
    endpoint = "tcp://127.0.0.1:" + publisher.port();
  }

  @AfterEach
  void close() throws IOException {
    publisher.close();
    for (SocketChannel stranger : strangers) {
      stranger.close();
    }
  }

  /** Runs the publisher until something is true. */
  private void until(String what, BooleanSupplier state) {
    Await.until(
        what,
        () -> {
          try {
            publisher.poll(MS);
          } catch (IOException e) {
            throw new AssertionError(e);
          }
          return state.getAsBoolean();
        });
  }

  private SocketChannel stranger() throws IOException {
    SocketChannel stranger = SocketChannel.open(address);
    stranger.configureBlocking(false);
    strangers.add(stranger);
    return stranger;
  }

  /** A stranger whose greeting the publisher has read. */
  private SocketChannel greeted() throws IOException {
    long before = publisher.ready();
    SocketChannel stranger = stranger();
    stranger.write(ByteBuffer.allocate(SubscriberChannel.GREETING_BYTES));
    ByteBuffer reply = ByteBuffer.allocate(1 << 10);
    int wanted = WriteOnlyPublisher.greeting().length + WriteOnlyPublisher.readyCommand().length;
    until("greeted", () -> read(stranger, reply) && reply.position() == wanted);
    stranger.write(ByteBuffer.wrap(new byte[] {4, 2, 'x', 'y'}));
    until("ready", () -> publisher.ready() == before + 1);
    return stranger;
  }

  private static boolean read(SocketChannel from, ByteBuffer to) {
    try {
      return from.read(to) >= 0;
    } catch (IOException e) {
      return false;
    }
  }

  @Test
  void aZmqSubscriberGetsEveryMessage() {
    try (ZContext context = new ZContext()) {
      ZMQ.Socket subscriber = context.createSocket(SocketType.SUB);
      subscriber.setHandshakeIvl(HANDSHAKE_MS);
      subscriber.subscribe("topic");
      subscriber.connect(endpoint);
      byte[] large = new byte[1 << 20];
      large[77] = 7;
      boolean[] begun = {false};
      until(
          "the first message",
          () -> {
            publisher.send(new byte[] {'t', 'o', 'p', 'i', 'c'}, new byte[0]);
            begun[0] |= subscriber.recv(ZMQ.DONTWAIT) != null;
            return begun[0];
          });
      publisher.send(new byte[] {'o', 't', 'h', 'e', 'r'}, new byte[300]);
      publisher.send(new byte[] {'t', 'o', 'p', 'i', 'c'}, new byte[255], new byte[256], large);
      List<byte[]> frames = new ArrayList<>();
      until(
          "the last message",
          () -> {
            byte[] frame = subscriber.recv(ZMQ.DONTWAIT);
            if (frame != null) {
              frames.add(frame);
            }
            return frames.stream().anyMatch(each -> each.length == large.length);
          });
      assertThat(frames.get(frames.size() - 1)).isEqualTo(large);
      assertThat(frames.get(frames.size() - 2)).hasSize(256);
      assertThat(frames.get(frames.size() - 3)).hasSize(255);
      assertThat(frames).noneMatch(frame -> frame.length == 300);
    }
  }

  /** A subscriber takes a message during the handshake for an error and does not come again. */
  @Test
  void noMessageIsSentBeforeTheHandshakeIsOver() throws IOException {
    SocketChannel slow = stranger();
    SocketChannel other = greeted();
    slow.write(ByteBuffer.allocate(SubscriberChannel.GREETING_BYTES));
    slow.write(ByteBuffer.wrap(new byte[] {4, 2, 'x'}));
    int handshake = WriteOnlyPublisher.greeting().length + WriteOnlyPublisher.readyCommand().length;
    ByteBuffer reply = ByteBuffer.allocate(1 << 10);
    until("greeted", () -> read(slow, reply) && reply.position() == handshake);
    publisher.send(new byte[] {1});
    ByteBuffer message = ByteBuffer.allocate(64);
    until("the other gets it", () -> read(other, message) && message.position() == 3);
    slow.write(ByteBuffer.wrap(new byte[] {'y'}));
    until("ready", () -> publisher.ready() == 2);
    publisher.send(new byte[] {2});
    until("its first message", () -> read(slow, reply) && reply.position() == handshake + 3);
    assertThat(reply.get(handshake + 2)).isEqualTo((byte) 2);
  }

  @Test
  void aStrangerWithoutAHandshakeIsClosed() throws IOException {
    SocketChannel stranger = stranger();
    stranger.write(ByteBuffer.allocate(1_000));
    ByteBuffer reply = ByteBuffer.allocate(256);
    until("closed", () -> isClosed(stranger, reply.clear()));
    assertThat(publisher.connections()).isZero();
  }

  @Test
  void aSubscriberThatSendsTooMuchIsClosed() throws IOException {
    SocketChannel stranger = greeted();
    SocketChannel other = greeted();
    ByteBuffer bytes = ByteBuffer.allocate(1 << 20);
    until(
        "closed",
        () -> {
          write(stranger, bytes);
          return publisher.connections() == 1;
        });
    publisher.send(new byte[] {1, 2});
    ByteBuffer message = ByteBuffer.allocate(64);
    until("the other gets messages", () -> read(other, message) && message.position() == 4);
    assertThat(message.array()).startsWith(0, 2, 1, 2);
  }

  private static void write(SocketChannel to, ByteBuffer bytes) {
    try {
      to.write(bytes);
    } catch (IOException e) { // closed by the publisher
      assertThat(e).isNotNull();
    }
  }

  @Test
  void aSubscriberThatDoesNotReadIsClosed() throws IOException {
    greeted();
    byte[] message = new byte[1 << 20];
    int sent = 0;
    for (; publisher.connections() == 1 && sent < 200; sent++) {
      publisher.send(message);
    }
    assertThat(publisher.connections()).isZero();
    assertThat(sent).isGreaterThanOrEqualTo(SubscriberChannel.MAX_WAITING_BYTES >> 20);
  }

  @Test
  void theConnectionsOfAnAddressAreLimited() throws IOException {
    SocketChannel first = greeted();
    for (int i = 0; i < 2 * WriteOnlyPublisher.MAX_CONNECTIONS_OF_ADDRESS; i++) {
      stranger();
    }
    ByteBuffer nothing = ByteBuffer.allocate(256);
    SocketChannel last = strangers.get(strangers.size() - 1);
    until("the last one is closed", () -> isClosed(last, nothing.clear()));
    assertThat(publisher.connections()).isEqualTo(WriteOnlyPublisher.MAX_CONNECTIONS_OF_ADDRESS);
    assertThat(isClosed(first, nothing.clear())).isFalse();
  }

  @Test
  void aNetworkOfIpv6IsOneAddress() throws IOException {
    InetAddress one = InetAddress.getByName("2001:db8:0:1::1");
    assertThat(isSame(one, "2001:db8:0:1:a:b:c:d")).isTrue();
    assertThat(isSame(one, "2001:db8:0:2::1")).isFalse();
    assertThat(isSame(one, "10.0.0.1")).isFalse();
    assertThat(isSame(InetAddress.getByName("10.0.0.1"), "10.0.0.2")).isFalse();
  }

  private static boolean isSame(InetAddress one, String other) throws IOException {
    return SubscriberChannel.isSameClient(one, InetAddress.getByName(other));
  }

  private static boolean isClosed(SocketChannel channel, ByteBuffer into) {
    try {
      return channel.read(into) < 0;
    } catch (IOException e) {
      return true;
    }
  }

  @Test
  void subscribersConnectAgainAfterItIsOpenedAgain() throws IOException {
    publisher.close();
    try (ReservedPort port = new ReservedPort()) {
      open(new WriteOnlyPublisher("tcp://127.0.0.1:" + port.number()));
      greeted();
      publisher.reopen();
      assertThat(publisher.connections()).isZero();
      greeted();
      assertThat(publisher.connections()).isEqualTo(1);
    }
  }

  /** Without file descriptors, the connection waits, and the selector would return at once. */
  @Test
  void aConnectionThatCannotBeAcceptedDoesNotKeepTheThreadBusy() throws IOException {
    publisher.close();
    int[] tries = {0};
    boolean[] full = {true};
    open(
        new WriteOnlyPublisher(
            "tcp://127.0.0.1:0",
            from -> {
              tries[0]++;
              if (full[0]) {
                throw new IOException("Too many open files");
              }
              return from.accept();
            }));
    stranger();
    until("the first try", () -> tries[0] > 0);
    int polls = 0;
    for (int before = tries[0]; tries[0] == before; polls++) {
      publisher.poll(10 * MS);
    }
    assertThat(polls).as("polls until the next try").isLessThan(100);
    full[0] = false;
    until("accepted", () -> publisher.connections() == 1);
  }

  @Test
  void anEndpointInUseIsNamed() {
    assertThatThrownBy(() -> new WriteOnlyPublisher(endpoint))
        .isInstanceOf(IOException.class)
        .hasMessageContaining(endpoint + " cannot be bound");
  }
}
