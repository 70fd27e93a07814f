package io.kvasir.engine.lockstep;

import java.nio.ByteBuffer;
import java.util.Objects;

/**
 * What a gather brought: of each member a frame, or why it is lost.
 *
 * <p>Confined to the thread that gathers; valid until it gathers again.
 */
public final class GatheredFrames {

  private final ByteBuffer[] frames;
  private final String[] losses;

  /**
   * Frames of a group, none of them set. For implementations of {@link RankCollective}.
   *
   * @param members how many members the group has
   */
  public GatheredFrames(int members) {
    this.frames = new ByteBuffer[members];
    this.losses = new String[members];
  }

  /**
   * Sets the frame of a member. For implementations of {@link RankCollective}.
   *
   * @param member its index
   * @param frame what it gave, from position to limit
   * @throws IndexOutOfBoundsException if there is no such member
   */
  public void set(int member, ByteBuffer frame) {
    frames[member] = frame;
  }

  /**
   * Marks a member as lost. A loss is for good, and only the first reason counts. For
   * implementations of {@link RankCollective}.
   *
   * @param member its index
   * @param reason why it is lost
   * @throws IndexOutOfBoundsException if there is no such member
   */
  public void lose(int member, String reason) {
    frames[member] = null;
    if (losses[member] == null) {
      losses[member] = Objects.requireNonNull(reason, "reason");
    }
  }

  /**
   * The frame of a member.
   *
   * @param member its index
   * @return from position to limit; null if it is lost
   * @throws IndexOutOfBoundsException if there is no such member
   */
  public ByteBuffer frame(int member) {
    return frames[member];
  }

  /**
   * Why a member is lost.
   *
   * @param member its index
   * @return the reason; null if it is not lost
   * @throws IndexOutOfBoundsException if there is no such member
   */
  public String loss(int member) {
    return losses[member];
  }
}
