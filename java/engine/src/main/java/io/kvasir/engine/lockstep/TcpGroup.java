package io.kvasir.engine.lockstep;

import java.time.Duration;
import java.util.List;
import java.util.Objects;

/**
 * The settings that all members of a TCP group must share before they connect.
 *
 * <p>Immutable.
 *
 * @param worker name of the worker; members of another worker are turned away
 * @param abi version of the code; a member of another version ends the run
 * @param configuration digest of all other settings that must be equal in all members
 * @param members the members; the first one coordinates
 * @param timeout how long a member may be silent while the others wait for it
 * @param maxFrameBytes maximum size of a member's frame
 */
public record TcpGroup(
    String worker,
    int abi,
    long configuration,
    List<Member> members,
    Duration timeout,
    int maxFrameBytes) {

  /** Default of {@code maxFrameBytes}. */
  public static final int DEFAULT_MAX_FRAME_BYTES = 16 << 20;

  static final int MAX_WORKER_CHARACTERS = 128;
  static final int MAX_MEMBERS = 1 << 12;

  /**
   * Checks the ranges.
   *
   * @throws IllegalArgumentException naming the field that is out of range
   */
  public TcpGroup {
    if (worker.isEmpty() || worker.length() > MAX_WORKER_CHARACTERS) {
      throw new IllegalArgumentException(
          "worker must have 1 to " + MAX_WORKER_CHARACTERS + " characters");
    }
    members = List.copyOf(members);
    if (members.isEmpty() || members.size() > MAX_MEMBERS) {
      throw new IllegalArgumentException(
          "members must be 1 to " + MAX_MEMBERS + ", not " + members.size());
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

  /** Maximum bytes of the coordinator's answer. */
  int maxAnswerBytes() {
    return members.size() * (Integer.BYTES + maxFrameBytes);
  }
}
