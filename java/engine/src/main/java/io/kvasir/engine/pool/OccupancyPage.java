package io.kvasir.engine.pool;

import io.kvasir.internal.nativelib.NativeMemory;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * Reads a pool's occupancy page: a sequence-locked line of counts that the pool writes after each
 * mutation. The layout and the ordering argument are in {@code occupancy_page.hpp}.
 *
 * <p>Thread-safe; reading never waits for an operation of the pool, at most for one page write.
 */
public final class OccupancyPage {

  /** Size of the page: the sequence and eight counts. */
  public static final int BYTES = 9 * Long.BYTES;

  private static final VarHandle WORDS =
      MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.nativeOrder());

  private final ByteBuffer page;

  public OccupancyPage(long address) {
    this.page = NativeMemory.view(address, BYTES);
  }

  public Occupancy read() {
    while (true) {
      Occupancy occupancy = tryRead(1);
      if (occupancy != null) {
        return occupancy;
      }
    }
  }

  /** The counts, or null if the page was being written at every attempt: its writer may be dead. */
  public Occupancy tryRead(int attempts) {
    for (int attempt = 0; attempt < attempts; attempt++) {
      long before = word(0);
      Occupancy occupancy =
          new Occupancy(word(1), word(2), word(3), word(4), word(5), word(6), word(7), word(8));
      if ((before & 1) == 0 && word(0) == before) {
        return occupancy;
      }
      Thread.onSpinWait();
    }
    return null;
  }

  private long word(int index) {
    return (long) WORDS.getAcquire(page, index * Long.BYTES);
  }
}
