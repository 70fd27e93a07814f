package io.kvasir.tcp;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.engine.lockstep.GatheredFrames;
import io.kvasir.engine.lockstep.GroupSettings;
import io.kvasir.engine.lockstep.LockstepException;
import io.kvasir.engine.lockstep.Member;
import io.kvasir.engine.lockstep.MemberHello;
import io.kvasir.engine.lockstep.RankCollective;
import io.kvasir.testing.harness.Await;
import io.kvasir.testing.lockstep.RankCollectiveContract;
import io.kvasir.testing.lockstep.RunningMember;
import io.kvasir.testing.lockstep.Threads;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
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

  private static GroupSettings agreed(List<Member> members, Duration timeout) {
    return new GroupSettings("instance", 7, 42, members, timeout, 1 << 20);
  }

  private TcpCoordinator accept(GroupSettings group) {
    return TcpCoordinator.accept(server, group, SECRET, LONG, MemberWatch.NONE);
  }

  private RankCollective connect(GroupSettings group, int member) throws IOException {
    return TcpMember.connect(server.getLocalAddress(), group, SECRET, member, LONG);
  }

  /** A member that has joined. */
  private RawMember join(GroupSettings group) throws IOException {
    RawMember member = new RawMember(server.getLocalAddress());
    assertThat(member.join(SECRET, MemberHello.of(group, 1))).isEmpty();
    assertThat(member.receive().hasRemaining()).as("the start of the run").isFalse();
    return member;
  }

  @Override
  protected List<RankCollective> group(List<Member> members) throws Exception {
    return group(agreed(members, LONG));
  }

  @Override
  protected GatheredFrames gather(RankCollective first, ByteBuffer frame, Duration timeout) {
    return ((TcpCoordinator) first).gather(frame, timeout);
  }

  private List<RankCollective> group(GroupSettings group) throws Exception {
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
  private List<Object> meet(GroupSettings coordinator, GroupSettings members) throws Exception {
    List<Callable<Object>> parties = new ArrayList<>();
    parties.add(() -> accept(coordinator));
    for (Member member : members.members().subList(1, members.members().size())) {
      parties.add(() -> connect(members, member.index()));
    }
    return Threads.run(parties);
  }

  private void assertRefused(GroupSettings other, String why) throws Exception {
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
        new GroupSettings("instance", 8, 42, members, LONG, 1 << 20),
        "its code version is 8, that of member 0 is 7");
    assertRefused(
        new GroupSettings("instance", 7, 43, members, LONG, 1 << 20),
        "its settings or its workload differ from those of member 0");
    assertRefused(
        new GroupSettings("instance", 7, 42, Member.of(4, 5), LONG, 1 << 20),
        "its ranks by member are [4, 5], those of member 0 are [4, 4]");
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
    ByteBuffer tooLong = ByteBuffer.allocate((1 << 20) + 1);
    for (RankCollective member : group) {
      org.assertj.core.api.Assertions.assertThatThrownBy(() -> member.gather(tooLong))
          .isInstanceOf(LockstepException.class)
          .hasMessage("a frame of 1048577 bytes is too long; maxFrameBytes is 1048576");
    }
    group.forEach(RankCollective::close);
  }

  @Test
  void aLengthOutOfRangeLosesItsSender() throws Exception {
    GroupSettings group = agreed(Member.of(1, 1), LONG);
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
                  member.send(ByteBuffer.allocate(1 << 21));
                  return member;
                }));
    assertThat(met.get(0))
        .isEqualTo(
            "member 1 (rank 1) is lost: it sent a frame of 2097152 bytes; the limit is 1048576");
    if (met.get(1) instanceof RawMember member) {
      member.close();
    }
  }

  @Test
  void aPeerThatTakesNothingIsGivenUp() throws Exception {
    ByteBuffer large = ByteBuffer.allocate(64 << 20);
    GroupSettings group =
        new GroupSettings(
            "instance", 7, 42, Member.of(1, 1), Duration.ofMillis(100), large.capacity());
    CountDownLatch sent = new CountDownLatch(1);
    RunningMember running =
        RunningMember.start(
            () -> {
              try (TcpCoordinator coordinator = accept(group)) {
                Await.opened("a frame of the member", sent);
                assertThat(coordinator.gather(large, LONG).loss(1)).isNull();
                return coordinator.gather(large).loss(1);
              }
            });
    try (RawMember member = join(group)) {
      member.send(ByteBuffer.allocate(1));
      sent.countDown();
      assertThat(running.outcome())
          .isEqualTo("member 1 (rank 1) is lost: it did not accept data in time");
    }
  }

  @Test
  void anErrorOfTheSystemIsPartOfASentence() throws Exception {
    GroupSettings group = agreed(Member.of(1, 1), LONG);
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
