package io.kvasir.fleet.load;

import java.util.ArrayList;
import java.util.List;

/** What a router sends to the others. Immutable. */
public sealed interface ReplicaFrame permits LoadFrame, LoadStatement, LoadRequest {

  /** Most blocks of a part, unless one message has more: so many are booked in milliseconds. */
  int MAX_PART_BLOCKS = 1 << 14;

  /**
   * Reads a frame, without any lock. A {@link LoadFrame} of many blocks is cut into several, so
   * that no other work waits for all of them.
   *
   * @param bytes a whole frame and nothing else
   * @return its parts, to be applied in order
   * @throws IllegalArgumentException if the bytes are no frame
   */
  static List<ReplicaFrame> parts(byte[] bytes) {
    return switch (FrameBytes.mark(bytes)) {
      case LoadStatement.MARK -> List.of(LoadStatement.decode(bytes));
      case LoadRequest.MARK -> List.of(LoadRequest.decode(bytes));
      default -> cut(LoadFrame.decode(bytes));
    };
  }

  /**
   * The router that a frame names as its sender, without a look at the rest of it.
   *
   * @param bytes a frame
   * @return the router's id
   * @throws IllegalArgumentException if it is too short
   */
  static long routerId(byte[] bytes) {
    return FrameBytes.routerId(bytes);
  }

  private static List<ReplicaFrame> cut(LoadFrame frame) {
    List<ReplicaFrame> parts = new ArrayList<>(1);
    List<LoadMessage> messages = frame.messages();
    int from = 0;
    long blocks = 0;
    for (int i = 0; i < messages.size(); i++) {
      int more =
          messages.get(i).change() instanceof LoadMessage.Added added ? added.load().blocks() : 0;
      if (i > from && blocks + more > MAX_PART_BLOCKS) {
        parts.add(new LoadFrame(frame.routerId(), messages.subList(from, i)));
        from = i;
        blocks = 0;
      }
      blocks += more;
    }
    parts.add(new LoadFrame(frame.routerId(), messages.subList(from, messages.size())));
    return parts;
  }
}
