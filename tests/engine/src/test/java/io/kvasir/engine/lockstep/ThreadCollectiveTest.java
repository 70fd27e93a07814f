package io.kvasir.engine.lockstep;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kvasir.testing.lockstep.RankCollectiveContract;
import io.kvasir.testing.lockstep.ThreadCollective;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

class ThreadCollectiveTest extends RankCollectiveContract {

  @Override
  protected List<RankCollective> group(List<Member> members) {
    return ThreadCollective.of(members, LONG);
  }

  @Override
  protected GatheredFrames gather(RankCollective first, ByteBuffer frame, Duration timeout) {
    return ((ThreadCollective) first).gather(frame, timeout);
  }

  @Test
  void aMemberWithoutOthersGetsItsFrameBack() {
    ByteBuffer frame = ByteBuffer.allocate(8);
    try (RankCollective sole = new SoleCollective(8)) {
      assertThat(sole.members()).containsExactly(new Member(0, 0, 8));
      assertThat(sole.gather(frame).frame(sole.self())).isSameAs(frame);
    }
  }

  @Test
  void ranksFollowOneAnotherFromMemberToMember() {
    assertThat(Member.of(4, 1, 3))
        .hasToString("[member 0 (ranks 0 to 3), member 1 (rank 4), member 2 (ranks 5 to 7)]");
    assertThat(Member.evenly(3, 8)).isEqualTo(Member.of(3, 3, 2));
    assertThat(Member.of(4, 4).get(1).has(3)).isFalse();
    assertThat(Member.of(4, 4).get(1).has(4)).isTrue();
    assertThat(Member.of(4, 4).get(1).has(8)).isFalse();
    assertThatThrownBy(() -> Member.evenly(3, 2))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("member 2 must have at least 1 rank, not 0");
    assertThatThrownBy(() -> Member.evenly(0, 2)).isInstanceOf(IllegalArgumentException.class);
  }
}
