package io.kvasir.tcp;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kvasir.engine.lockstep.GatheredFrames;
import io.kvasir.engine.lockstep.GroupSettings;
import io.kvasir.engine.lockstep.LockstepException;
import io.kvasir.engine.lockstep.Member;
import io.kvasir.engine.lockstep.MemberHello;
import io.kvasir.engine.lockstep.RankCollective;
import io.kvasir.testing.harness.Await;
import io.kvasir.testing.lockstep.RunningMember;
import io.kvasir.testing.lockstep.Threads;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** How members join their coordinator, and what everyone else who connects to it gets. */
class TcpJoinTest {

  private static final GroupSecret SECRET = GroupSecret.random();
  private static final Duration LONG = Await.limit();
  private static final GroupSettings GROUP = group(Member.of(4, 4));

  private ServerSocketChannel server;
  private InetSocketAddress address;

  private static GroupSettings group(List<Member> members) {
    return new GroupSettings("worker", 7, 42, members, LONG, 1 << 17);
  }

  @BeforeEach
  void listen() throws IOException {
    server = ServerSocketChannel.open();
    server.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 1_000);
    address = (InetSocketAddress) server.getLocalAddress();
  }

  @AfterEach
  void close() throws IOException {
    server.close();
  }

  private RankCollective accept(GroupSettings group) {
    return TcpCoordinator.accept(server, group, SECRET, LONG, MemberWatch.NONE);
  }

  private RankCollective connect(GroupSettings group, int member) {
    return TcpMember.connect(address, group, SECRET, member, LONG);
  }

  private RawMember connect() throws IOException {
    return new RawMember(address);
  }

  /** Runs a coordinator and its members, all of which must join, and gathers once. */
  private void assertTheyJoin(GroupSettings group, Callable<?>... others) throws Exception {
    List<Callable<?>> parties = new ArrayList<>(List.of(() -> gatherOnce(accept(group))));
    for (Member member : group.members().subList(1, group.members().size())) {
      parties.add(() -> gatherOnce(connect(group, member.index())));
    }
    parties.addAll(List.of(others));
    List<Object> results = Threads.run(parties);
    assertThat(results.subList(0, group.members().size())).containsOnly("gathered");
    assertThat(results).noneMatch(Throwable.class::isInstance);
  }

  private static String gatherOnce(RankCollective collective) {
    try (collective) {
      GatheredFrames gathered = collective.gather(ByteBuffer.allocate(1));
      for (Member member : collective.members()) {
        assertThat(gathered.loss(member.index())).isNull();
      }
      return "gathered";
    }
  }

  private static String joined(RankCollective collective) {
    collective.close();
    return "joined";
  }

  private static byte[] bytes(ByteBuffer frame) {
    byte[] bytes = new byte[frame.remaining()];
    frame.duplicate().get(bytes);
    return bytes;
  }

  @Test
  void connectionsWithoutTheSecretChangeNothing() throws Exception {
    ByteBuffer otherVersion = ByteBuffer.allocate(12).putInt(8).putInt(0x4b56_4c53).putInt(9);
    ByteBuffer noMember = ByteBuffer.allocate(37).putInt(33).putInt(0x4b56_4c53).putInt(1);
    noMember.putInt(7).putLong(42).putInt(-1).putInt(1).putInt(4).put((byte) 'w');
    List<byte[]> hellos =
        List.of(
            otherVersion.array(),
            noMember.array(),
            "GET / HTTP/1.1\r\n\r\n".getBytes(US_ASCII),
            ByteBuffer.allocate(4).putInt(Integer.MAX_VALUE).array(),
            ByteBuffer.allocate(4).putInt(-1).array(),
            new byte[4]);
    List<RawMember> strangers = new ArrayList<>();
    try {
      for (int silent = 0; silent < 56; silent++) {
        strangers.add(connect());
      }
      for (byte[] hello : hellos) {
        RawMember stranger = connect();
        stranger.sendBytes(hello);
        strangers.add(stranger);
      }
      assertTheyJoin(GROUP);
    } finally {
      strangers.forEach(RawMember::close);
    }
  }

  @Test
  void aBoundedNumberOfConnectionsMayBeUnproven() throws Exception {
    List<Socket> silent = new ArrayList<>();
    try {
      for (int i = 0; i < 4 * CoordinatorJoin.MAX_PENDING; i++) {
        silent.add(new Socket(address.getAddress(), address.getPort()));
      }
      GroupSettings group = group(Member.of(1, 1, 1));
      List<Object> met =
          Threads.run(
              List.of(
                  () ->
                      gatherOnce(
                          TcpCoordinator.accept(
                              server, group, SECRET, LONG, MemberWatch.NONE, Duration.ofDays(1))),
                  () -> gatherOnce(connect(group, 1)),
                  () -> {
                    Socket oldest = silent.get(0);
                    oldest.setSoTimeout(Await.limitMs()); // far less than it may be silent
                    InputStream in = oldest.getInputStream();
                    in.skipNBytes(Integer.BYTES + TcpHandshake.CHALLENGE_BYTES);
                    assertThat(in.read()).as("closed to make room").isEqualTo(-1);
                    return gatherOnce(connect(group, 2));
                  }));
      assertThat(met).containsOnly("gathered");
    } finally {
      for (Socket socket : silent) {
        socket.close();
      }
    }
  }

  @Test
  void aMemberWithAnotherSecretIsDroppedAndTheRunStarts() throws Exception {
    List<Object> met =
        Threads.run(
            List.of(
                () -> gatherOnce(accept(GROUP)),
                () -> {
                  GroupSecret other = GroupSecret.random();
                  assertThatThrownBy(() -> TcpMember.connect(address, GROUP, other, 1, LONG))
                      .isInstanceOf(LockstepException.class)
                      .hasMessageStartingWith("member 1 (ranks 4 to 7) cannot join")
                      .hasMessageEndingWith(" during the handshake; its secret may differ");
                  return gatherOnce(connect(GROUP, 1));
                }));
    assertThat(met).containsOnly("gathered");
  }

  @Test
  void aHelloThatWasOverheardIsWorthless() throws Exception {
    try (RawMember first = connect();
        RawMember second = connect()) {
      assertTheyJoin(
          group(Member.of(1, 1, 1)),
          () -> {
            TcpHandshake handshake = TcpHandshake.ofMember(SECRET, first.receive());
            ByteBuffer hello = handshake.hello(MemberHello.of(GROUP, 1).encode());
            assertThat(HexFormat.of().formatHex(bytes(hello))).doesNotContain(SECRET.hex());
            second.receive();
            second.send(hello);
            assertThatThrownBy(second::receive).isInstanceOf(IOException.class);
            return "dropped";
          });
    }
  }

  @Test
  void aMemberRejectsACoordinatorWithoutTheSecret() throws Exception {
    List<Object> met =
        Threads.run(
            List.of(
                () -> connect(GROUP, 1),
                () -> {
                  try (FrameChannel impostor = new FrameChannel(server.accept())) {
                    long deadlineNs = System.nanoTime() + LONG.toNanos();
                    TcpHandshake handshake = TcpHandshake.ofCoordinator(GroupSecret.random());
                    impostor.send(handshake.challenge(), deadlineNs);
                    impostor.receive(TcpHandshake.MAX_HELLO_BYTES, deadlineNs);
                    impostor.send(ByteBuffer.allocate(32), deadlineNs);
                    return impostor.receive(1, deadlineNs);
                  }
                }));
    assertThat(met.get(0))
        .isInstanceOf(LockstepException.class)
        .asString()
        .contains("member 1 (ranks 4 to 7) cannot join the coordinator at")
        .contains("it has not proven that it has the group's secret");
    assertThat(met.get(1)).isInstanceOf(IOException.class);
  }

  private void assertEnds(MemberHello hello, String member, String why) throws Exception {
    List<Object> met =
        Threads.run(
            List.of(
                () -> accept(GROUP),
                () -> {
                  try (RawMember connection = connect()) {
                    return connection.join(SECRET, hello);
                  }
                }));
    assertThat(met.get(1)).isEqualTo(why);
    assertThat(met.get(0))
        .isInstanceOf(LockstepException.class)
        .asString()
        .contains(member + " at /127.0.0.1:")
        .endsWith(" is rejected: " + why);
  }

  @Test
  void anAuthenticatedMemberThatIsIncompatibleEndsTheRun() throws Exception {
    MemberHello own = MemberHello.of(GROUP, 1);
    assertEnds(
        new MemberHello(9, 1, 7, 42, 0, 0, own.ranks(), "another field of version 9"),
        "member 1",
        "its protocol version is 9, that of member 0 is " + MemberHello.VERSION);
    assertEnds(MemberHello.of(GROUP, -1), "member -1", "the group has no member -1");
    assertEnds(MemberHello.of(GROUP, 0), "member 0", "it claims to be the coordinator");
  }

  @Test
  void aMemberOfAnotherWorkerAndASecondOneAreTurnedAwayAndTheRunStarts() throws Exception {
    GroupSettings group = group(Member.of(1, 1, 1));
    GroupSettings foreign = new GroupSettings("other", 7, 42, group.members(), LONG, 1 << 17);
    CountDownLatch turnedAway = new CountDownLatch(1);
    List<Object> met =
        Threads.run(
            List.of(
                () -> gatherOnce(accept(group)),
                () -> {
                  try (RawMember first = connect();
                      RawMember second = connect();
                      RawMember third = connect()) {
                    assertThat(first.join(SECRET, MemberHello.of(group, 1))).isEmpty();
                    assertThat(second.join(SECRET, MemberHello.of(group, 1)))
                        .isEqualTo("member 1 has already joined");
                    assertThat(third.join(SECRET, MemberHello.of(foreign, 1)))
                        .isEqualTo("this is worker worker, not other");
                    turnedAway.countDown();
                    assertThat(first.receive().hasRemaining()).isFalse();
                    first.send(ByteBuffer.allocate(1));
                    first.receive();
                    return "gathered";
                  }
                },
                () -> {
                  Await.opened("the others are turned away", turnedAway);
                  return gatherOnce(connect(group, 2));
                }));
    assertThat(met).containsOnly("gathered");
  }

  @Test
  void aMemberMayWaitLongerForTheOthersThanTheTimeoutOfAGather() throws Exception {
    Duration timeout = Duration.ofMillis(50);
    GroupSettings group = new GroupSettings("worker", 7, 42, Member.of(1, 1, 1), timeout, 1 << 17);
    RunningMember coordinator = RunningMember.start(() -> joined(accept(group)));
    RunningMember waiting = RunningMember.start(() -> joined(connect(group, 1)));
    waiting.awaitIn("awaitStart");
    long startNs = System.nanoTime();
    Await.until( // a gather may take three timeouts
        "four timeouts", () -> System.nanoTime() - startNs > 4 * timeout.toNanos());
    assertThat(joined(connect(group, 2))).isEqualTo("joined");
    assertThat(waiting.outcome()).isEqualTo("joined");
    assertThat(coordinator.outcome()).isEqualTo("joined");
  }

  @Test
  void aMemberThatLeavesBeforeTheOthersHaveJoinedEndsTheRunForAll() throws Exception {
    GroupSettings group = group(Member.of(1, 1, 1, 1));
    RunningMember coordinator = RunningMember.start(() -> accept(group));
    RunningMember other = RunningMember.start(() -> connect(group, 1));
    other.awaitIn("awaitStart");
    try (RawMember member = connect()) {
      assertThat(member.join(SECRET, MemberHello.of(group, 2))).isEmpty();
    }
    String why = "member 2 (rank 2) left before all members had joined";
    for (RunningMember each : List.of(coordinator, other)) {
      assertThat(each.outcome()).isInstanceOf(LockstepException.class).asString().contains(why);
    }
  }

  @Test
  void aMemberThatEndsBeforeItJoinsEndsTheRun() {
    MemberWatch watch = member -> member == 2 ? "exit code 3, after the error: no memory" : null;
    GroupSettings group = group(Member.of(4, 4, 1));
    assertThatThrownBy(() -> TcpCoordinator.accept(server, group, SECRET, LONG, watch))
        .isInstanceOf(LockstepException.class)
        .hasMessage(
            "member 2 (rank 8) ended before all members had joined: exit code 3, after the error:"
                + " no memory");
  }

  @Test
  void membersThatDoNotJoinInTimeAreNamed() {
    GroupSettings group = group(Member.of(4, 4, 1));
    Duration timeout = Duration.ofMillis(50);
    assertThatThrownBy(
            () -> TcpCoordinator.accept(server, group, SECRET, timeout, MemberWatch.NONE))
        .isInstanceOf(LockstepException.class)
        .hasMessage("[member 1 (ranks 4 to 7), member 2 (rank 8)] did not join within 50 ms");
  }

  @Test
  void aMemberDoesNotWaitForeverAndNamesTheProblem() throws Exception {
    Duration timeout = Duration.ofMillis(50);
    assertThatThrownBy(() -> TcpMember.connect(address, GROUP, SECRET, 1, timeout))
        .isInstanceOf(LockstepException.class)
        .hasMessageStartingWith("member 1 (ranks 4 to 7) cannot join the coordinator at")
        .hasMessageMatching(".*: it (was silent for too long|did not answer in time)");
    server.close();
    assertThatThrownBy(() -> TcpMember.connect(address, GROUP, SECRET, 1, LONG))
        .isInstanceOf(LockstepException.class)
        .hasMessageMatching(".*: connection refused( \\(connect failed\\))?"); // JDK 21 adds it
    InetSocketAddress nowhere = InetSocketAddress.createUnresolved("nowhere", 1);
    assertThatThrownBy(() -> TcpMember.connect(nowhere, GROUP, SECRET, 1, LONG))
        .isInstanceOf(LockstepException.class)
        .hasMessageEndingWith(": the name of its host is unknown");
  }

  @Test
  void aClosedServerIsANamedError() throws Exception {
    server.close();
    assertThat(Threads.run(List.of(() -> accept(GROUP))).get(0))
        .isInstanceOf(LockstepException.class)
        .asString()
        .contains("members cannot join");
  }

  @Test
  void secretsAreReadBackAndNeverShown() {
    assertThat(GroupSecret.parse(SECRET.hex()).hex()).isEqualTo(SECRET.hex());
    assertThat(SECRET.toString()).doesNotContain(SECRET.hex());
    assertThatThrownBy(() -> GroupSecret.parse("0123xyz"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("a secret must be 64 hexadecimal digits");
  }

  @Test
  void aLengthAloneAllocatesNothing() throws Exception {
    try (SocketChannel sender = SocketChannel.open(address);
        FrameChannel receiver = new FrameChannel(server.accept())) {
      sender.write(ByteBuffer.allocate(4).putInt(Integer.MAX_VALUE).flip());
      long deadlineNs = System.nanoTime() + 50_000_000;
      assertThatThrownBy(() -> receiver.receive(Integer.MAX_VALUE, deadlineNs))
          .isInstanceOf(IOException.class)
          .hasMessage("it was silent for too long");
    }
  }
}
