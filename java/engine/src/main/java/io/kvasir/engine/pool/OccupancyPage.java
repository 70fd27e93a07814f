package io.kvasir.engine.pool;

import io.kvasir.internal.nativelib.NativeMemory;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.jspecify.annotations.Nullable;

/**
 * Reads a pool's occupancy page: counts under a sequence lock, which the pool updates after each
 * mutation. {@code occupancy_page.hpp} documents the layout and the memory ordering.
 *
 * <p>Thread-safe. A read never waits for an operation of the pool, at most for one page write.
 */
public final class OccupancyPage {

  /** Size of the page: the sequence and eight counts. */
  public static final int BYTES = 9 * Long.BYTES;

  private static final VarHandle WORDS =
      MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.nativeOrder());

  private final ByteBuffer page;

  /**
   * Makes a reader.
   *
   * @param address address of the page, which must stay valid as long as this is used
   */
  public OccupancyPage(long address) {
    this.page = NativeMemory.view(address, BYTES);
  }

  /**
   * Reads the counts; retries while the page is being written. Never returns if the writer has died
   * during a write; see {@link #tryRead}.
   *
   * @return a consistent snapshot
   */
  public Occupancy read() {
    while (true) {
      Occupancy occupancy = tryRead(1);
      if (occupancy != null) {
        return occupancy;
      }
    }
  }

  /**
   * Reads the counts with a limited number of attempts.
   *
   * @param attempts maximum number of attempts, at least 1
   * @return a consistent snapshot; null if the page was being written at every attempt, possibly
   *     because its writer has died
   */
  public @Nullable Occupancy tryRead(int attempts) {
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

  /**
   * Twice the number of writes since the pool was initialised, and 1 more during a write.
   *
   * @return the sequence; what was written before the page is visible with it
   */
  public long sequence() {
    return word(0);
  }

  private long word(int index) {
    return (long) WORDS.getAcquire(page, index * Long.BYTES);
  }
}
