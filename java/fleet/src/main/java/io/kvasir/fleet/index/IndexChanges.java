package io.kvasir.fleet.index;

import io.kvasir.internal.nativelib.NativeHandle;
import io.kvasir.internal.nativelib.NativeStatus;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Admits the changes of a native index one at a time. A change that fails halfway is the last one:
 * the index then only matches. Thread-safe.
 */
final class IndexChanges {

  private static final String WHAT = "a prefix index";

  private final NativeHandle handle;
  private final ReentrantLock lock = new ReentrantLock();

  /** Guarded by {@link #lock}. */
  private boolean failed;

  IndexChanges(NativeHandle handle) {
    this.handle = handle;
  }

  /**
   * Waits for other changes, and begins one.
   *
   * @return the address of the index
   * @throws IllegalStateException if the index is closed, or a change has failed
   */
  long begin() {
    lock.lock();
    try {
      if (failed) {
        throw new IllegalStateException(
            "the prefix index ran out of memory during a change; close it and build it again");
      }
      return handle.enter();
    } catch (IllegalStateException e) {
      lock.unlock();
      throw e;
    }
  }

  /** Ends the change that has begun. */
  void end() {
    handle.leave();
    lock.unlock();
  }

  /** Keeps changes off. */
  void lock() {
    lock.lock();
  }

  /** Lets changes begin again. */
  void unlock() {
    lock.unlock();
  }

  /** {@return whether a change has failed; asked under {@link #lock()}} */
  boolean failed() {
    return failed;
  }

  /**
   * {@return the result of a native call of the change that has begun}
   *
   * @throws OutOfMemoryError if the call has failed, after which no change begins
   */
  int require(long result) {
    failed |= result < 0;
    return (int) NativeStatus.require(result, WHAT);
  }
}
