package io.kvasir.engine.lockstep;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import java.util.Objects;

/**
 * The settings that all members of a group of processes must share. Members compare them before
 * they gather anything else.
 *
 * <p>Immutable.
 *
 * @param worker name of the worker; members of another worker are refused
 * @param abi version of the code; a member of another version ends the run
 * @param configuration digest of all other settings that must be equal in all members
 * @param members the members; over TCP, the first one coordinates
 * @param timeout how long a member may be silent while the others wait for it
 * @param maxFrameBytes maximum size of a member's frame
 * @param spin how long this member polls a TCP connection before it blocks, at most 1 s; not
 *     compared
 */
public record GroupSettings(
    String worker,
    int abi,
    long configuration,
    List<Member> members,
    Duration timeout,
    int maxFrameBytes,
    Duration spin) {

  /** Default of {@code maxFrameBytes}. */
  public static final int DEFAULT_MAX_FRAME_BYTES = 16 << 20;

  /**
   * Default of {@code spin}: members that step together send at nearly the same time, and waking a
   * blocked thread takes longer than a gather.
   */
  public static final Duration DEFAULT_SPIN = Duration.ofNanos(50_000);

  /** Maximum length of a worker's name. */
  public static final int MAX_WORKER_CHARACTERS = 128;

  /** Maximum number of members. */
  public static final int MAX_MEMBERS = 1 << 12;

  /**
   * Checks the ranges.
   *
   * @throws IllegalArgumentException naming the field that is out of range
   */
  public GroupSettings {
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
    if (spin.isNegative() || spin.toSeconds() >= 1) {
      throw new IllegalArgumentException("spin must be 0 to 1 s, not " + spin);
    }
    if (maxFrameBytes < 1 || (long) maxFrameBytes * members.size() > Integer.MAX_VALUE / 2) {
      throw new IllegalArgumentException(
          "maxFrameBytes must be at least 1 and, times the members, below 2^30, not "
              + maxFrameBytes);
    }
  }

  /**
   * Settings with the default of {@code spin}.
   *
   * @param worker name of the worker
   * @param abi version of the code
   * @param configuration digest of all other settings
   * @param members the members
   * @param timeout how long a member may be silent
   * @param maxFrameBytes maximum size of a frame
   */
  public GroupSettings(
      String worker,
      int abi,
      long configuration,
      List<Member> members,
      Duration timeout,
      int maxFrameBytes) {
    this(worker, abi, configuration, members, timeout, maxFrameBytes, DEFAULT_SPIN);
  }

  /**
   * Checks a frame.
   *
   * @param frame what a member wants to send, from position to limit
   * @throws LockstepException if it is too long
   */
  public void requireBounded(ByteBuffer frame) {
    if (frame.remaining() > maxFrameBytes) {
      throw new LockstepException(
          "a frame of "
              + frame.remaining()
              + " bytes is too long; maxFrameBytes is "
              + maxFrameBytes);
    }
  }
}
