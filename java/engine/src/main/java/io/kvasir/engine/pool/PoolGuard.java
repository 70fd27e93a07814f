package io.kvasir.engine.pool;

import io.kvasir.internal.nativelib.NativeHandle;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * Turns use of a pool that its contract forbids into an {@link IllegalStateException}: use after
 * close, and changes by two threads. Close waits for calls that have begun.
 *
 * <p>A pool belongs to the first thread that changes it, until that thread calls {@link #handOver}
 * or ends. All methods may be called by any thread.
 */
public final class PoolGuard {

  private final NativeHandle handle;
  private final AtomicReference<Thread> owner = new AtomicReference<>();

  /**
   * Makes the guard of a pool.
   *
   * @param name what the pool is called in errors, for example {@code block pool}
   * @param address address of the pool, not 0
   */
  public PoolGuard(String name, long address) {
    this.handle = new NativeHandle(name, address);
  }

  /**
   * Begins a call that does not change the pool. The caller calls {@link #leave} in a finally
   * block.
   *
   * @return the pool's address, valid until then
   * @throws IllegalStateException if the pool is closed
   */
  public long enter() {
    return handle.enter();
  }

  /**
   * Begins a call that changes the pool. The caller calls {@link #leave} in a finally block.
   *
   * @return the pool's address, valid until then
   * @throws IllegalStateException if the pool is closed or belongs to another thread
   */
  public long enterAsOwner() {
    requireOwner();
    return handle.enter();
  }

  /** Ends a call. */
  public void leave() {
    handle.leave();
  }

  /**
   * Releases the pool, so that it belongs to the next thread that changes it.
   *
   * @throws IllegalStateException if it belongs to another thread
   */
  public void handOver() {
    requireOwner();
    owner.set(null);
  }

  /** {@return the handle that keeps the pool's memory; only this guard closes it} */
  public NativeHandle handle() {
    return handle;
  }

  /**
   * Refuses further calls and waits for those that have begun.
   *
   * @return the pool's address, or 0 if it was closed before
   */
  public long close() {
    return handle.close();
  }

  private void requireOwner() {
    Thread current = Thread.currentThread();
    Thread bound = owner.get();
    if (bound != current) {
      bind(bound, current);
    }
  }

  private void bind(@Nullable Thread bound, Thread current) {
    if ((bound != null && bound.isAlive()) || !owner.compareAndSet(bound, current)) {
      Thread other = owner.get();
      throw new IllegalStateException(
          "the "
              + handle.name()
              + " belongs to thread '"
              + (other == null ? "?" : other.getName())
              + "' until it calls handOver(), and thread '"
              + current.getName()
              + "' tried to change it");
    }
  }
}
