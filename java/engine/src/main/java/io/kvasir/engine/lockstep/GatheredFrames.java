package io.kvasir.engine.lockstep;

import java.nio.ByteBuffer;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The result of a gather: for each member its frame, or the reason why the member is lost.
 *
 * <p>Confined to the gathering thread; valid until its next gather.
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
   * Marks a member as lost. A loss is permanent, and only the first reason is kept. For
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
   * @return the frame, from position to limit; null if the member is lost
   * @throws IndexOutOfBoundsException if there is no such member
   */
  public @Nullable ByteBuffer frame(int member) {
    return frames[member];
  }

  /**
   * Why a member is lost.
   *
   * @param member its index
   * @return the reason; null if the member is not lost
   * @throws IndexOutOfBoundsException if there is no such member
   */
  public @Nullable String loss(int member) {
    return losses[member];
  }
}
