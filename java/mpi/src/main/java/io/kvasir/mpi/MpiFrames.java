package io.kvasir.mpi;

import io.kvasir.internal.nativelib.MpiLibrary;
import io.kvasir.internal.nativelib.NativeMemory;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Gathers of frames of any length over MPI. A gather exchanges slots of one size: a frame's length
 * and, if it fits, the frame. Longer frames follow in a second exchange. The size of the next slots
 * follows from the longest of the last frames, which all members know.
 *
 * <p>Confined to one thread, which MPI's calls are too, except for {@link #stop}.
 */
final class MpiFrames {

  /** In place of a length: the member leaves its group. */
  static final int LEAVES = -1;

  /** In place of a length: the process has come to its end. */
  static final int ENDS = -2;

  private static final int HEAD_BYTES = Integer.BYTES;

  /** Slots are multiples of this. */
  private static final int SLOT_STEP_BYTES = 16;

  private static final int MAX_SLOT_BYTES = 1 << 16;

  /** Gathers after which a long frame no longer counts. */
  private static final int REMEMBERED = 8;

  private final int members;
  private final int self;
  private final int[] longest = new int[REMEMBERED];
  private final Memory present;
  private final Memory longLengths; // by member; 0 for those that fit into slots
  private final ByteBuffer[] frames;
  private final int[] lengths;
  private final Memory sent = Memory.of(MAX_SLOT_BYTES);
  private Memory received;
  private Memory longReceived = Memory.of(SLOT_STEP_BYTES);
  private Memory longSent = Memory.of(SLOT_STEP_BYTES);
  private long gathers;

  /** Memory whose address MPI gets. */
  private record Memory(ByteBuffer buffer, long address) {

    static Memory of(int bytes) {
      ByteBuffer buffer = NativeMemory.allocate(bytes);
      return new Memory(buffer, NativeMemory.address(buffer));
    }

    /** This memory, or a larger one. */
    Memory atLeast(int bytes) {
      return buffer.capacity() < bytes ? of(bytes) : this;
    }
  }

  /** For a member of a group. */
  MpiFrames(int self, int members) {
    this.self = self;
    this.members = members;
    this.present = Memory.of(members);
    this.longLengths = Memory.of(Integer.BYTES * members);
    this.received = Memory.of(SLOT_STEP_BYTES * members);
    this.frames = new ByteBuffer[members];
    this.lengths = new int[members];
  }

  /**
   * Gathers a frame of each member.
   *
   * @return a result of {@link MpiLibrary}; after all but {@link MpiLibrary#DONE} nothing more can
   *     be gathered
   */
  int gather(ByteBuffer frame, Duration timeout) {
    return exchange(frame.remaining(), frame, timeout);
  }

  /** Takes part in a gather with a mark instead of a frame. */
  int mark(int mark, Duration timeout) {
    return exchange(mark, null, timeout);
  }

  private int exchange(int length, @Nullable ByteBuffer frame, Duration timeout) {
    int slot = slotBytes();
    received = received.atLeast(slot * members);
    ByteBuffer slots = received.buffer();
    sent.buffer().clear().putInt(length);
    boolean fits = length <= slot - HEAD_BYTES;
    if (frame != null && fits) {
      sent.buffer().put(frame.duplicate());
    }
    long timeoutNs = timeout.toNanos();
    int result =
        MpiLibrary.kvasir_mpi_gather(
            sent.address(), slot, received.address(), timeoutNs, present.address());
    if (result != MpiLibrary.DONE) {
      return result;
    }
    int max = 0;
    long longBytes = 0;
    for (int member = 0; member < members; member++) {
      int theirs = slots.getInt(slot * member);
      lengths[member] = theirs;
      max = Math.max(max, theirs);
      boolean isLong = theirs > slot - HEAD_BYTES;
      longLengths.buffer().putInt(Integer.BYTES * member, isLong ? theirs : 0);
      longBytes += isLong ? theirs : 0;
      frames[member] =
          isLong || theirs < 0
              ? null
              : slots.slice(slot * member + HEAD_BYTES, theirs).order(ByteOrder.BIG_ENDIAN);
    }
    longest[(int) (gathers++ % REMEMBERED)] = max;
    return longBytes == 0 ? result : exchangeLong(fits ? null : frame, longBytes, timeoutNs);
  }

  private int exchangeLong(@Nullable ByteBuffer own, long bytes, long timeoutNs) {
    longReceived = longReceived.atLeast(Math.toIntExact(bytes));
    if (own != null) {
      longSent = longSent.atLeast(own.remaining());
      longSent.buffer().clear().put(own.duplicate());
    }
    int result =
        MpiLibrary.kvasir_mpi_gather_lengths(
            longSent.address(),
            longLengths.address(),
            longReceived.address(),
            timeoutNs,
            present.address());
    int offset = 0;
    for (int member = 0; member < members; member++) {
      int length = longLengths.buffer().getInt(Integer.BYTES * member);
      if (length > 0) {
        frames[member] = longReceived.buffer().slice(offset, length).order(ByteOrder.BIG_ENDIAN);
        offset += length;
      }
    }
    return result;
  }

  private int slotBytes() {
    int bytes = HEAD_BYTES;
    for (int length : longest) {
      bytes = Math.max(bytes, HEAD_BYTES + length);
    }
    int steps = (bytes + SLOT_STEP_BYTES - 1) / SLOT_STEP_BYTES;
    return Math.min(MAX_SLOT_BYTES, steps * SLOT_STEP_BYTES);
  }

  /** The length of a member's frame, or its mark. */
  int length(int member) {
    return lengths[member];
  }

  /** A member's frame; valid until the next gather. */
  ByteBuffer frame(int member) {
    return frames[member];
  }

  /** After a timeout: whether a member waited too. */
  boolean isPresent(int member) {
    return member == self || present.buffer().get(member) != 0;
  }

  /** Ends the wait of the thread that gathers. Any thread. */
  static void stop() {
    MpiLibrary.kvasir_mpi_stop();
  }
}
