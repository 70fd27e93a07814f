package io.kvasir.testing.lockstep;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kvasir.engine.lockstep.GatheredFrames;
import io.kvasir.engine.lockstep.LockstepException;
import io.kvasir.engine.lockstep.Member;
import io.kvasir.engine.lockstep.RankCollective;
import io.kvasir.testing.harness.Await;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What every collective of several members does. */
public abstract class RankCollectiveContract {

  /** Longer than anything takes. */
  protected static final Duration LONG = Await.limit();

  private static final Duration SHORT = Duration.ofMillis(200);

  /** Begins without a group. */
  protected RankCollectiveContract() {}

  /**
   * Forms a group with a timeout of {@link #LONG}.
   *
   * @param members its members
   * @return each member's collective, in order
   * @throws Exception if the group is not formed
   */
  protected abstract List<RankCollective> group(List<Member> members) throws Exception;

  /**
   * Gathers as the first member, with another timeout.
   *
   * @param first the collective of the first member
   * @param frame its frame
   * @param timeout how long to wait for the others
   * @return the frames
   */
  protected abstract GatheredFrames gather(
      RankCollective first, ByteBuffer frame, Duration timeout);

  private static byte[] frame(int member, int round) {
    byte[] bytes =
        new byte[new Random(31L * round + member).nextInt(round % 50 == 0 ? 90_000 : 90)];
    Arrays.fill(bytes, (byte) (member + round));
    return bytes;
  }

  @ParameterizedTest
  @EnumSource(CollectiveScenario.class)
  void everyMemberGetsTheFramesOfAllInOrder(CollectiveScenario scenario) throws Exception {
    List<RankCollective> group = group(Member.of(4, 1, 3));
    List<Callable<Object>> members = new ArrayList<>();
    for (RankCollective collective : group) {
      assertThat(collective.members().get(collective.self()).index()).isEqualTo(collective.self());
      members.add(
          () -> {
            scenario.run(collective);
            return "done";
          });
    }
    assertThat(Threads.run(members)).containsOnly("done");
    group.forEach(RankCollective::close);
  }

  private static List<String> losses(RankCollective collective, int rounds) {
    List<String> losses = new ArrayList<>();
    for (int round = 0; round < rounds; round++) {
      ByteBuffer frame = ByteBuffer.wrap(frame(collective.self(), round));
      losses.add(loss(collective, collective.gather(frame)));
    }
    return losses;
  }

  /** How the second member was lost; null if it was not. */
  private static String loss(RankCollective collective, GatheredFrames gathered) {
    assertThat(gathered.frame(collective.self())).isNotNull();
    assertThat(gathered.frame(1) == null).isEqualTo(gathered.loss(1) != null);
    return gathered.loss(1);
  }

  @Test
  void whoLeavesIsLostByNameForAllOthersAlike() throws Exception {
    List<RankCollective> group = group(Member.of(2, 2, 2));
    List<Object> results =
        Threads.run(
            List.of(
                () -> losses(group.get(0), 10),
                () -> {
                  losses(group.get(1), 4);
                  group.get(1).close();
                  return List.of();
                },
                () -> losses(group.get(2), 10)));
    assertThat(results.get(0)).isEqualTo(results.get(2));
    List<?> losses = (List<?>) results.get(0);
    assertThat(losses.subList(0, 4)).containsOnlyNulls();
    assertThat(losses.subList(4, 10))
        .allSatisfy(loss -> assertThat(loss).asString().startsWith("member 1 (ranks 2 to 3) "));
    group.forEach(RankCollective::close);
  }

  @Test
  void whoIsSilentForTooLongIsLostAndIsToldSoWhenItComesBack() throws Exception {
    List<RankCollective> group = group(Member.of(2, 2, 2));
    RankCollective first = group.get(0);
    ByteBuffer small = ByteBuffer.allocate(8);
    RunningMember third =
        RunningMember.start(
            () ->
                Arrays.asList(
                    loss(group.get(2), group.get(2).gather(small)),
                    loss(group.get(2), group.get(2).gather(small))));
    third.awaitIn("receive", "awaitEnd"); // so that only the second one is late
    List<String> losses = new ArrayList<>();
    losses.add(loss(first, gather(first, small, SHORT)));
    losses.add(loss(first, first.gather(small)));
    assertThat(third.outcome()).isEqualTo(losses);
    assertThat(losses)
        .allSatisfy(
            loss ->
                assertThat(loss).asString().contains("member 1 (ranks 2 to 3)").contains("silent"));
    assertThatThrownBy(() -> losses(group.get(1), 2)).isInstanceOf(LockstepException.class);
    group.forEach(RankCollective::close);
  }

  @Test
  void whoHasLeftCannotGather() throws Exception {
    List<RankCollective> group = group(Member.of(1, 1));
    group.get(0).close();
    group.get(0).close();
    assertThatThrownBy(() -> losses(group.get(0), 1)).isInstanceOf(LockstepException.class);
    group.forEach(RankCollective::close);
  }
}
