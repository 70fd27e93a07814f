package io.kvasir.engine.lockstep;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/**
 * The first frame of a member: its identity and the settings it requires. The fields are magic
 * number, version, ABI, configuration, the member's index, the ranks of all members, and the
 * worker's name.
 *
 * <p>Immutable.
 */
record TcpHello(
    int version, int abi, long configuration, int member, List<Integer> ranks, String worker) {

  static final int VERSION = 1;
  static final int MAX_MEMBERS = 1 << 12;
  static final int MAX_BYTES = 64 + 4 * MAX_MEMBERS + 4 * TcpGroup.MAX_WORKER_CHARACTERS;

  private static final int MAGIC = 0x4b56_4c53; // KVLS

  static TcpHello of(TcpGroup group, int member) {
    return new TcpHello(
        VERSION,
        group.abi(),
        group.configuration(),
        member,
        group.members().stream().map(Member::ranks).toList(),
        group.worker());
  }

  ByteBuffer encode() {
    byte[] name = worker.getBytes(UTF_8);
    ByteBuffer frame = ByteBuffer.allocate(28 + Integer.BYTES * ranks.size() + name.length);
    frame.putInt(MAGIC).putInt(version).putInt(abi).putLong(configuration).putInt(member);
    frame.putInt(ranks.size());
    ranks.forEach(frame::putInt);
    return frame.put(name).flip();
  }

  /**
   * Reads a hello; null if the frame is not a hello. For another version only the version is read.
   */
  static TcpHello decode(ByteBuffer frame) {
    if (frame.remaining() < 2 * Integer.BYTES || frame.getInt() != MAGIC) {
      return null;
    }
    int version = frame.getInt();
    if (version != VERSION) {
      return new TcpHello(version, 0, 0, -1, List.of(), "");
    }
    if (frame.remaining() < 20) {
      return null;
    }
    int abi = frame.getInt();
    long configuration = frame.getLong();
    int member = frame.getInt();
    int members = frame.getInt();
    if (members < 0 || members > frame.remaining() / Integer.BYTES) {
      return null;
    }
    List<Integer> ranks = new ArrayList<>(members);
    for (int i = 0; i < members; i++) {
      ranks.add(frame.getInt());
    }
    String worker = UTF_8.decode(frame).toString();
    return new TcpHello(version, abi, configuration, member, ranks, worker);
  }

  /** Why the sender cannot join the group, or null. */
  String refusal(TcpGroup group) {
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
