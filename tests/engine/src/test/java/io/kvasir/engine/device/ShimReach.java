package io.kvasir.engine.device;

import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * The memory that work may use: what its arguments point into, and what words in that memory point
 * into, and so on. Every word that could be an address is taken for one.
 */
final class ShimReach {

  /** Finds the memory around an address. */
  interface Memory {

    /** The address at which the memory around this one begins; 0 if there is none. */
    long startOf(long address);

    /** The memory that begins there. */
    ByteBuffer at(long start);
  }

  private final Memory memory;
  private final Set<Long> starts = new HashSet<>();
  private final ArrayDeque<Long> unread = new ArrayDeque<>();

  ShimReach(Memory memory) {
    this.memory = memory;
  }

  /** Adds what these words point into. */
  void add(List<Long> words) {
    for (long word : words) {
      add(word);
    }
    while (!unread.isEmpty()) {
      ByteBuffer piece = memory.at(unread.remove());
      for (int i = 0; i + Long.BYTES <= piece.capacity(); i += Long.BYTES) {
        add(piece.getLong(i));
      }
    }
  }

  private void add(long word) {
    long start = memory.startOf(word);
    if (start != 0 && starts.add(start)) {
      unread.add(start);
    }
  }

  /** Whether the memory that begins there is reached. */
  boolean contains(long start) {
    return starts.contains(start);
  }
}
