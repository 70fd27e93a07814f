package io.kvasir.engine.lockstep;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/**
 * What a member says first: who it is, and what it takes for granted of the others. The frame is
 * magic number, version, ABI, configuration, its index, the ranks of all members, and the worker's
 * name.
 *
 * <p>Immutable.
 */
record TcpHello(
    int version, int abi, long configuration, int member, List<Integer> ranks, String worker) {

  static final int VERSION = 1;
  static final int MOST_MEMBERS = 1 << 12;
  static final int MOST_BYTES = 64 + 4 * MOST_MEMBERS + 4 * TcpGroup.MOST_INSTANCE_CHARACTERS;

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

  /** Reads a hello; null if the frame is none at all. One of another version is only half read. */
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

  /** Why whoever says this cannot take part, or null. */
  String refusal(TcpGroup group) {
    TcpHello own = of(group, member);
    if (version != VERSION) {
      return "it speaks version " + version + " of the protocol, the coordinator " + VERSION;
    }
    if (abi != own.abi) {
      return "it has version " + abi + " of the code, the coordinator " + own.abi;
    }
    if (!ranks.equals(own.ranks)) {
      return "it takes the members' ranks for " + ranks + ", the coordinator for " + own.ranks;
    }
    if (configuration != own.configuration) {
      return "its settings or its workload are not those of the coordinator";
    }
    return member >= 1 && member < ranks.size() ? null : "there is no member " + member + " to be";
  }
}
