package io.kvasir.engine.lockstep;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A member's identity and the settings that it requires, which the members of a group compare
 * before they gather anything else. The fields are version and the member's index, in all versions,
 * then ABI, configuration, timeout, maximum frame, the ranks of all members, and the worker's name.
 *
 * <p>Immutable.
 *
 * @param version version of this layout
 * @param member the member's index
 * @param abi version of the code
 * @param configuration digest of all other settings that must be equal
 * @param timeoutMs how long a member may be silent, in milliseconds
 * @param maxFrameBytes maximum size of a frame
 * @param ranks number of ranks of each member
 * @param worker the worker's name
 */
public record MemberHello(
    int version,
    int member,
    int abi,
    long configuration,
    long timeoutMs,
    int maxFrameBytes,
    List<Integer> ranks,
    String worker) {

  /** Version of the layout that this code writes. */
  public static final int VERSION = 3;

  private static final int FIXED_BYTES = 36;

  /** Maximum size of an encoded hello. */
  public static final int MAX_BYTES =
      FIXED_BYTES
          + Integer.BYTES * GroupSettings.MAX_MEMBERS
          + 4 * GroupSettings.MAX_WORKER_CHARACTERS;

  /** Copies the list. */
  public MemberHello {
    ranks = List.copyOf(ranks);
  }

  /**
   * {@return the hello of a member}
   *
   * @param settings the settings that it requires
   * @param member its index
   */
  public static MemberHello of(GroupSettings settings, int member) {
    return new MemberHello(
        VERSION,
        member,
        settings.abi(),
        settings.configuration(),
        settings.timeout().toMillis(),
        settings.maxFrameBytes(),
        settings.members().stream().map(Member::ranks).toList(),
        settings.worker());
  }

  /** {@return the encoded hello, from position to limit} */
  public ByteBuffer encode() {
    byte[] name = worker.getBytes(UTF_8);
    ByteBuffer body = ByteBuffer.allocate(FIXED_BYTES + Integer.BYTES * ranks.size() + name.length);
    body.putInt(version).putInt(member).putInt(abi).putLong(configuration);
    body.putLong(timeoutMs).putInt(maxFrameBytes).putInt(ranks.size());
    ranks.forEach(body::putInt);
    return body.put(name).flip();
  }

  /**
   * Reads a hello. For another version only version and member are read.
   *
   * @param body the encoded hello, from position to limit
   * @return the hello; null if it is malformed
   */
  public static @Nullable MemberHello decode(ByteBuffer body) {
    if (body.remaining() < 2 * Integer.BYTES) {
      return null;
    }
    int version = body.getInt();
    int member = body.getInt();
    if (version != VERSION) {
      return new MemberHello(version, member, 0, 0, 0, 0, List.of(), "");
    }
    if (body.remaining() < FIXED_BYTES - 2 * Integer.BYTES) {
      return null;
    }
    int abi = body.getInt();
    long configuration = body.getLong();
    long timeoutMs = body.getLong();
    int maxFrameBytes = body.getInt();
    int members = body.getInt();
    if (members < 0 || members > body.remaining() / Integer.BYTES) {
      return null;
    }
    List<Integer> ranks = new ArrayList<>(members);
    for (int i = 0; i < members; i++) {
      ranks.add(body.getInt());
    }
    String worker = UTF_8.decode(body).toString();
    return new MemberHello(
        version, member, abi, configuration, timeoutMs, maxFrameBytes, ranks, worker);
  }

  /**
   * {@return whether the sender belongs to another worker; false if its version is not understood}
   *
   * @param group the settings of the own group
   */
  public boolean isOfAnotherWorker(GroupSettings group) {
    return version == VERSION && !worker.equals(group.worker());
  }

  /**
   * Compares the sender's settings with those of a group.
   *
   * @param group the settings of member 0
   * @return why the sender cannot be a member; null if it can
   */
  public @Nullable String refusal(GroupSettings group) {
    MemberHello first = of(group, 0);
    if (version != VERSION) {
      return difference("protocol version", version, VERSION);
    }
    if (abi != first.abi) {
      return difference("code version", abi, first.abi);
    }
    if (!ranks.equals(first.ranks)) {
      return "its ranks by member are " + ranks + ", those of member 0 are " + first.ranks;
    }
    if (timeoutMs != first.timeoutMs) {
      return difference("timeout in ms", timeoutMs, first.timeoutMs);
    }
    if (maxFrameBytes != first.maxFrameBytes) {
      return difference("maxFrameBytes", maxFrameBytes, first.maxFrameBytes);
    }
    if (configuration != first.configuration) {
      return "its settings or its workload differ from those of member 0";
    }
    return member >= 0 && member < ranks.size() ? null : "the group has no member " + member;
  }

  private static String difference(String field, long theirs, long ofFirst) {
    return "its " + field + " is " + theirs + ", that of member 0 is " + ofFirst;
  }
}
