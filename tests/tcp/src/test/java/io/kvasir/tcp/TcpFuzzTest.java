package io.kvasir.tcp;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.engine.lockstep.GroupSettings;
import io.kvasir.engine.lockstep.Lockstep;
import io.kvasir.engine.lockstep.LockstepException;
import io.kvasir.engine.lockstep.Member;
import io.kvasir.engine.lockstep.MemberHello;
import io.kvasir.engine.lockstep.NoDecisions;
import io.kvasir.engine.lockstep.RankCollective;
import io.kvasir.testing.harness.Fuzz;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * A coordinator and a member face a peer that sends mutated handshakes and frames. Each case must
 * end, with success or with a {@link LockstepException}.
 */
@Tag("fuzz")
class TcpFuzzTest {

  private static final GroupSecret SECRET = GroupSecret.random();
  private static final Duration JOIN = Duration.ofMillis(60);
  private static final GroupSettings GROUP =
      new GroupSettings("worker", 7, 42, Member.of(1, 1), Duration.ofMillis(40), 1 << 16);
  private static final int GATHERS = 3;

  private final ExecutorService threads = Executors.newCachedThreadPool();
  private ServerSocketChannel server;
  private InetSocketAddress address;

  @BeforeEach
  void listen() throws IOException {
    server = ServerSocketChannel.open();
    server.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 1_000);
    address = (InetSocketAddress) server.getLocalAddress();
  }

  @AfterEach
  void close() throws IOException {
    threads.shutdownNow();
    server.close();
  }

  @Test
  void everyCaseEndsWithSuccessOrANamedError() {
    Fuzz.run(
        "lock-step over TCP",
        random -> {
          coordinatorCase(new Mutator(random.nextLong()));
          memberCase(new Mutator(random.nextLong()));
        });
  }

  private void coordinatorCase(Mutator mutator) throws Exception {
    Future<?> peer = threads.submit(() -> memberThatMutates(mutator));
    assertEnds(
        () -> TcpCoordinator.accept(server, GROUP, SECRET, JOIN, MemberWatch.NONE), "coordinator");
    peer.cancel(true);
  }

  private void memberCase(Mutator mutator) throws Exception {
    try (ServerSocketChannel listening = ServerSocketChannel.open()) {
      listening.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
      Future<?> peer = threads.submit(() -> coordinatorThatMutates(listening, mutator));
      SocketAddress coordinator = listening.getLocalAddress();
      assertEnds(() -> TcpMember.connect(coordinator, GROUP, SECRET, 1, JOIN), "member");
      peer.cancel(true);
    }
  }

  private static void assertEnds(Callable<RankCollective> party, String name) throws Exception {
    try (RankCollective joined = party.call()) {
      Lockstep lockstep = new Lockstep(joined, () -> 0);
      for (int gather = 0; gather < GATHERS; gather++) {
        lockstep.gather(Lockstep.Phase.STATES, ByteBuffer.allocate(50));
      }
    } catch (LockstepException e) {
      assertThat(e.getMessage()).as(name).isNotBlank();
    }
  }

  private Void memberThatMutates(Mutator mutator) throws IOException {
    try (RawMember member = new RawMember(address)) {
      TcpHandshake handshake = TcpHandshake.ofMember(SECRET, member.receive());
      MemberHello hello = MemberHello.of(GROUP, 1);
      mutator.send(member, handshake.hello(mutator.sometimes(hello.encode())));
      member.receive();
      member.receive();
      for (int gather = 0; gather < 2 * GATHERS; gather++) {
        mutator.send(member, mutator.lockstepFrame(gather + 1));
        member.receive();
      }
    }
    return null;
  }

  private static Void coordinatorThatMutates(ServerSocketChannel listening, Mutator mutator)
      throws IOException {
    while (true) {
      try (RawMember member = new RawMember(listening.accept())) {
        TcpHandshake handshake = TcpHandshake.ofCoordinator(SECRET);
        mutator.send(member, handshake.challenge());
        handshake.readHello(member.receive());
        mutator.send(member, handshake.answer(""));
        mutator.send(member, ByteBuffer.allocate(0));
        for (int gather = 0; gather < 2 * GATHERS; gather++) {
          ByteBuffer theirs = member.receive();
          ByteBuffer own = mutator.lockstepFrame(gather + 1);
          ByteBuffer answer = ByteBuffer.allocate(8 + own.remaining() + theirs.remaining());
          answer.putInt(own.remaining()).put(own).putInt(theirs.remaining()).put(theirs);
          mutator.send(member, answer.flip());
        }
      } catch (TcpHandshake.UnprovenPeerException e) {
        // The member connects again.
      }
    }
  }

  /** Changes some of what is sent; a mutator without changes is a proper peer. */
  private static final class Mutator {

    private final Random random;
    private final boolean proper;
    private final List<ByteBuffer> sent = new ArrayList<>();
    private final NoDecisions decisions = new NoDecisions();

    Mutator(long seed) {
      this.random = new Random(seed);
      this.proper = random.nextInt(8) == 0;
    }

    ByteBuffer lockstepFrame(int gather) {
      long digest = decisions.next();
      ByteBuffer frame = ByteBuffer.allocate(28 + 50);
      frame.putInt(0x4b56_5253).putInt(Lockstep.VERSION).putLong(gather).putInt(1).putLong(digest);
      return sometimes(frame.clear());
    }

    ByteBuffer sometimes(ByteBuffer frame) {
      return proper || random.nextInt(4) > 0 ? frame : mutated(frame);
    }

    void send(RawMember to, ByteBuffer frame) throws IOException {
      ByteBuffer whole = ByteBuffer.allocate(4 + frame.remaining());
      whole.putInt(frame.remaining()).put(frame.duplicate()).flip();
      if (!proper && random.nextInt(6) == 0) {
        if (random.nextInt(8) == 0) {
          to.reset();
          return;
        }
        boolean length = random.nextInt(3) == 0;
        whole = length ? whole.putInt(0, random.nextInt() >> random.nextInt(32)) : mutated(whole);
      }
      sent.add(whole);
      if (!proper && random.nextInt(20) == 0) { // an earlier frame, again
        whole = sent.get(random.nextInt(sent.size()));
      }
      byte[] bytes = new byte[whole.remaining()];
      whole.duplicate().get(bytes);
      to.sendBytes(bytes);
    }

    private ByteBuffer mutated(ByteBuffer frame) {
      byte[] bytes = new byte[frame.remaining()];
      frame.duplicate().get(bytes);
      switch (random.nextInt(4)) {
        case 0 -> {
          for (int flips = 1 + random.nextInt(4); flips > 0 && bytes.length > 0; flips--) {
            bytes[random.nextInt(bytes.length)] ^= (byte) (1 << random.nextInt(8));
          }
        }
        case 1 -> bytes = Arrays.copyOf(bytes, random.nextInt(bytes.length + 1));
        case 2 -> bytes = Arrays.copyOf(bytes, bytes.length + random.nextInt(1_000));
        default -> random.nextBytes(bytes);
      }
      return ByteBuffer.wrap(bytes);
    }
  }
}
