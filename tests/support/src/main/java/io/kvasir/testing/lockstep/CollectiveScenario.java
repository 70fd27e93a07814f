package io.kvasir.testing.lockstep;

import io.kvasir.engine.lockstep.GatheredFrames;
import io.kvasir.engine.lockstep.Member;
import io.kvasir.engine.lockstep.RankCollective;
import io.kvasir.testing.harness.LongRuns;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.SplittableRandom;

/**
 * What every collective does, as every member of a group runs it at the same time, in threads or in
 * processes of its own. A member's frames follow from its index and the number of the round, so
 * that all members can check them.
 */
public enum CollectiveScenario {

  /** Frames of any size up to 90 KB, most of them small. */
  ANY_SIZES(300) {
    @Override
    int bytes(SplittableRandom random, int round) {
      return random.nextInt(round % 50 == 0 ? 90_000 : 90);
    }
  },

  /** Sizes around powers of two, odd ones, none at all, and 1 MiB. */
  ODD_SIZES(80) {
    @Override
    int bytes(SplittableRandom random, int round) {
      int power = 1 << random.nextInt(21);
      return Math.min(MAX_BYTES, Math.max(0, power + random.nextInt(9) - 4) * random.nextInt(2));
    }
  },

  /** Frames of the largest size. */
  LARGE(4) {
    @Override
    int bytes(SplittableRandom random, int round) {
      return MAX_BYTES;
    }
  },

  /**
   * One member in turn is late, by more than a member polls before it sleeps. How late it really is
   * changes how the others wait, not what they get.
   */
  SLOW_MEMBERS(4) {
    @Override
    int bytes(SplittableRandom random, int round) {
      return 100;
    }

    @Override
    void prepare(RankCollective collective, int round) {
      if (round % collective.members().size() == collective.self()) {
        sleep(120);
      }
    }
  },

  /** Many gathers. */
  MANY(LongRuns.cases(4_000, 20_000)) {
    @Override
    int bytes(SplittableRandom random, int round) {
      return random.nextInt(300);
    }
  };

  /** Size of the largest frame. */
  public static final int MAX_BYTES = 1 << 20;

  private static final int MARGIN = 3;

  private final int rounds;

  CollectiveScenario(int rounds) {
    this.rounds = rounds;
  }

  abstract int bytes(SplittableRandom random, int round);

  void prepare(RankCollective collective, int round) {}

  /**
   * Runs one member's part.
   *
   * @param collective the member's collective
   * @throws AssertionError if a frame is not what its member has sent
   */
  public void run(RankCollective collective) {
    for (int round = 0; round < rounds; round++) {
      prepare(collective, round);
      byte[] own = frame(collective.self(), round);
      ByteBuffer given = ByteBuffer.allocate(own.length + 2 * MARGIN).position(MARGIN);
      given.put(own).flip().position(MARGIN);
      GatheredFrames gathered = collective.gather(given);
      require(given.position() == MARGIN, "the frame's position has changed", round);
      for (Member member : collective.members()) {
        require(gathered.loss(member.index()) == null, member + " is lost", round);
        ByteBuffer theirs = gathered.frame(member.index());
        require(
            theirs != null && theirs.equals(ByteBuffer.wrap(frame(member.index(), round))),
            "the frame of " + member + " differs",
            round);
      }
    }
  }

  private byte[] frame(int member, int round) {
    SplittableRandom random = new SplittableRandom(1_000_003L * round + member);
    byte[] frame = new byte[bytes(random, round)];
    Arrays.fill(frame, (byte) (member + round));
    if (frame.length > 0) {
      frame[random.nextInt(frame.length)] ^= (byte) 0x55;
    }
    return frame;
  }

  private void require(boolean holds, String problem, int round) {
    if (!holds) {
      throw new AssertionError(this + ", round " + round + ": " + problem);
    }
  }

  private static void sleep(int ms) {
    try {
      Thread.sleep(ms);
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }
}
