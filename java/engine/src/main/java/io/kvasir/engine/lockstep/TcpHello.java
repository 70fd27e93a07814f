package io.kvasir.engine.lockstep;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A member's identity and the settings it requires, the body of the hello in {@link TcpHandshake}.
 * The fields are version and the member's index, in all versions, then ABI, configuration, the
 * ranks of all members, and the worker's name.
 *
 * <p>Immutable.
 */
record TcpHello(
    int version, int member, int abi, long configuration, List<Integer> ranks, String worker) {

  static final int VERSION = 2;
  static final int MAX_BYTES = 24 + 4 * TcpGroup.MAX_MEMBERS + 4 * TcpGroup.MAX_WORKER_CHARACTERS;

  static TcpHello of(TcpGroup group, int member) {
    return new TcpHello(
        VERSION,
        member,
        group.abi(),
        group.configuration(),
        group.members().stream().map(Member::ranks).toList(),
        group.worker());
  }

  ByteBuffer encode() {
    byte[] name = worker.getBytes(UTF_8);
    ByteBuffer body = ByteBuffer.allocate(24 + Integer.BYTES * ranks.size() + name.length);
    body.putInt(version).putInt(member).putInt(abi).putLong(configuration).putInt(ranks.size());
    ranks.forEach(body::putInt);
    return body.put(name).flip();
  }

  /**
   * Reads a hello; null if it is malformed. For another version only version and member are read.
   */
  static @Nullable TcpHello decode(ByteBuffer body) {
    if (body.remaining() < 2 * Integer.BYTES) {
      return null;
    }
    int version = body.getInt();
    int member = body.getInt();
    if (version != VERSION) {
      return new TcpHello(version, member, 0, 0, List.of(), "");
    }
    if (body.remaining() < 16) {
      return null;
    }
    int abi = body.getInt();
    long configuration = body.getLong();
    int members = body.getInt();
    if (members < 0 || members > body.remaining() / Integer.BYTES) {
      return null;
    }
    List<Integer> ranks = new ArrayList<>(members);
    for (int i = 0; i < members; i++) {
      ranks.add(body.getInt());
    }
    return new TcpHello(version, member, abi, configuration, ranks, UTF_8.decode(body).toString());
  }

  /** Whether the sender belongs elsewhere; false if its version is not understood. */
  boolean isOfAnotherWorker(TcpGroup group) {
    return version == VERSION && !worker.equals(group.worker());
  }

  /** Why the sender cannot join the group, or null. */
  @Nullable String refusal(TcpGroup group) {
    TcpHello own = of(group, member);
    if (version != VERSION) {
      return "its protocol version is " + version + ", the coordinator's is " + VERSION;
    }
    if (abi != own.abi) {
      return "its code version is " + abi + ", the coordinator's is " + own.abi;
    }
    if (!ranks.equals(own.ranks)) {
      return "its ranks by member are " + ranks + ", the coordinator's are " + own.ranks;
    }
    if (configuration != own.configuration) {
      return "its settings or its workload differ from the coordinator's";
    }
    return member >= 1 && member < ranks.size() ? null : "the group has no member " + member;
  }
}
