package io.kvasir.engine.lockstep;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class TcpCollectiveTest extends RankCollectiveContract {

  private static final GroupSecret SECRET = GroupSecret.random();

  private ServerSocketChannel server;

  @BeforeEach
  void listen() throws IOException {
    server = ServerSocketChannel.open();
    server.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
  }

  @AfterEach
  void close() throws IOException {
    server.close();
  }

  private static TcpGroup agreed(List<Member> members, Duration timeout) {
    return new TcpGroup("instance", 7, 42, members, timeout, 1 << 17);
  }

  private RankCollective accept(TcpGroup group) {
    return TcpCoordinator.accept(server, group, SECRET, LONG, MemberWatch.NONE);
  }

  private RankCollective connect(TcpGroup group, int member) throws IOException {
    return TcpMember.connect(server.getLocalAddress(), group, SECRET, member, LONG);
  }

  /** A member that has joined. */
  private RawMember join(TcpGroup group) throws IOException {
    RawMember member = new RawMember(server.getLocalAddress());
    assertThat(member.join(SECRET, TcpHello.of(group, 1))).isEmpty();
    assertThat(member.receive().hasRemaining()).as("the start of the run").isFalse();
    return member;
  }

  @Override
  List<RankCollective> group(List<Member> members, Duration timeout) throws Exception {
    return group(agreed(members, timeout));
  }

  private List<RankCollective> group(TcpGroup group) throws Exception {
    List<RankCollective> collectives = new ArrayList<>();
    for (Object joined : meet(group, group)) {
      if (joined instanceof Exception e) {
        throw e;
      }
      collectives.add((RankCollective) joined);
    }
    return collectives;
  }

  /** The coordinator and the members, or what they threw. */
  private List<Object> meet(TcpGroup coordinator, TcpGroup members) throws Exception {
    List<Callable<Object>> parties = new ArrayList<>();
    parties.add(() -> accept(coordinator));
    for (Member member : members.members().subList(1, members.members().size())) {
      parties.add(() -> connect(members, member.index()));
    }
    return Threads.run(parties);
  }

  private void assertRefused(TcpGroup other, String why) throws Exception {
    List<Object> met = meet(agreed(Member.of(4, 4), LONG), other);
    assertThat(met.get(0)).isInstanceOf(LockstepException.class).asString().contains(why);
    assertThat(met.get(1))
        .isInstanceOf(LockstepException.class)
        .asString()
        .contains("the coordinator rejects member 1 (ranks")
        .contains(why);
  }

  @Test
  void membersThatAreNotAlikeAreRefusedOnBothSides() throws Exception {
    List<Member> members = Member.of(4, 4);
    assertRefused(
        new TcpGroup("instance", 8, 42, members, LONG, 1 << 17),
        "its code version is 8, the coordinator's is 7");
    assertRefused(
        new TcpGroup("instance", 7, 43, members, LONG, 1 << 17),
        "its settings or its workload differ from the coordinator's");
    assertRefused(
        new TcpGroup("instance", 7, 42, Member.of(4, 5), LONG, 1 << 17),
        "its ranks by member are [4, 5], the coordinator's are [4, 4]");
  }

  @Test
  void withoutTheCoordinatorTheOthersEndWithAnErrorThatSaysSo() throws Exception {
    List<RankCollective> group = group(agreed(Member.of(1, 1, 1), LONG));
    List<Callable<Object>> members = new ArrayList<>();
    members.add(
        () -> {
          group.get(0).gather(ByteBuffer.allocate(1));
          group.get(0).close();
          return "left";
        });
    for (RankCollective member : group.subList(1, 3)) {
      members.add(
          () -> {
            member.gather(ByteBuffer.allocate(1));
            return member.gather(ByteBuffer.allocate(1));
          });
    }
    List<Object> ended = Threads.run(members);
    assertThat(ended.get(0)).isEqualTo("left");
    for (int member = 1; member < 3; member++) {
      assertThat(ended.get(member))
          .isInstanceOf(LockstepException.class)
          .asString()
          .contains("member " + member + " (rank " + member + ") has lost its coordinator")
          .contains("member 0 (rank 0)");
    }
  }

  @Test
  void framesAreBounded() throws Exception {
    List<RankCollective> group = group(agreed(Member.of(1, 1), LONG));
    ByteBuffer tooLong = ByteBuffer.allocate((1 << 17) + 1);
    for (RankCollective member : group) {
      org.assertj.core.api.Assertions.assertThatThrownBy(() -> member.gather(tooLong))
          .isInstanceOf(LockstepException.class)
          .hasMessage("a frame of 131073 bytes is too long; maxFrameBytes is 131072");
    }
    group.forEach(RankCollective::close);
  }

  @Test
  void aLengthOutOfRangeLosesItsSender() throws Exception {
    TcpGroup group = agreed(Member.of(1, 1), LONG);
    List<Object> met =
        Threads.run(
            List.of(
                () -> {
                  try (RankCollective coordinator = accept(group)) {
                    return coordinator.gather(ByteBuffer.allocate(1)).loss(1);
                  }
                },
                () -> {
                  RawMember member = join(group);
                  member.send(ByteBuffer.allocate(1 << 18));
                  return member;
                }));
    assertThat(met.get(0))
        .isEqualTo(
            "member 1 (rank 1) is lost: it sent a frame of 262144 bytes; the limit is 131072");
    if (met.get(1) instanceof RawMember member) {
      member.close();
    }
  }

  @Test
  void aPeerThatTakesNothingIsGivenUp() throws Exception {
    TcpGroup group =
        new TcpGroup("instance", 7, 42, Member.of(1, 1), Duration.ofMillis(300), 64 << 20);
    List<Object> met =
        Threads.run(
            List.of(
                () -> {
                  try (RankCollective coordinator = accept(group)) {
                    ByteBuffer large = ByteBuffer.allocate(64 << 20);
                    assertThat(coordinator.gather(large).loss(1)).isNull();
                    return coordinator.gather(large).loss(1);
                  }
                },
                () -> {
                  RawMember member = join(group);
                  member.send(ByteBuffer.allocate(1));
                  return member;
                }));
    assertThat(met.get(0)).asString().startsWith("member 1 (rank 1) is lost");
    if (met.get(1) instanceof RawMember member) {
      member.close();
    }
  }

  @Test
  void anErrorOfTheSystemIsPartOfASentence() throws Exception {
    TcpGroup group = agreed(Member.of(1, 1), LONG);
    List<Object> met =
        Threads.run(
            List.of(
                () -> {
                  try (RankCollective coordinator = accept(group)) {
                    return coordinator.gather(ByteBuffer.allocate(1)).loss(1);
                  }
                },
                () -> {
                  RawMember member = join(group);
                  member.reset();
                  return "reset";
                }));
    assertThat(met.get(1)).isEqualTo("reset");
    assertThat(met.get(0))
        .asString()
        .matches("member 1 \\(rank 1\\) is lost: (connection reset|broken pipe).*");
  }
}
