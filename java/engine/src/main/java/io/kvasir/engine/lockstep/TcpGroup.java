package io.kvasir.engine.lockstep;

import java.time.Duration;
import java.util.List;
import java.util.Objects;

/**
 * What all members of a group that meets over TCP must know alike before they meet.
 *
 * <p>Immutable.
 *
 * @param worker names the worker; whoever names another is turned away
 * @param abi version of the code; members of different versions are refused
 * @param configuration a digest of everything else that must be the same in all members
 * @param members who takes part; the first one coordinates
 * @param timeout how long a member may be silent when the others wait for it
 * @param maxFrameBytes longest frame of a member
 */
public record TcpGroup(
    String worker,
    int abi,
    long configuration,
    List<Member> members,
    Duration timeout,
    int maxFrameBytes) {

  /** Longest frame unless another bound is given. */
  public static final int DEFAULT_MAX_FRAME_BYTES = 16 << 20;

  static final int MOST_INSTANCE_CHARACTERS = 128;

  /**
   * Checks the ranges.
   *
   * @throws IllegalArgumentException naming the field that is out of range
   */
  public TcpGroup {
    if (worker.isEmpty() || worker.length() > MOST_INSTANCE_CHARACTERS) {
      throw new IllegalArgumentException(
          "worker must have 1 to " + MOST_INSTANCE_CHARACTERS + " characters");
    }
    members = List.copyOf(members);
    if (members.isEmpty()) {
      throw new IllegalArgumentException("members must not be empty");
    }
    if (Objects.requireNonNull(timeout, "timeout").toMillis() < 1) {
      throw new IllegalArgumentException("timeout must be at least 1 ms, not " + timeout);
    }
    if (maxFrameBytes < 1 || (long) maxFrameBytes * members.size() > Integer.MAX_VALUE / 2) {
      throw new IllegalArgumentException(
          "maxFrameBytes must be at least 1 and, times the members, below 2^30, not "
              + maxFrameBytes);
    }
  }

  /** Bytes that the coordinator sends at most. */
  int maxAnswerBytes() {
    return members.size() * (Integer.BYTES + maxFrameBytes);
  }
}
