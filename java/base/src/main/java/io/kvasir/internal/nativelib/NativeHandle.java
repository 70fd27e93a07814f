package io.kvasir.internal.nativelib;

import java.lang.ref.Cleaner;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.locks.LockSupport;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The lifetime of an object in native memory: an address that any thread may use until {@link
 * #close}, which waits for the threads that use it.
 *
 * <p>A use costs two atomic additions to a counter that few threads share. A handle that becomes
 * unreachable without being closed is logged as a leak.
 */
public final class NativeHandle {

  private static final Logger LOG = LoggerFactory.getLogger(NativeHandle.class);
  private static final Cleaner LEAKS = Cleaner.create();

  /** Counters of threads inside, each on cache lines of its own. */
  private static final int COUNTERS = 16;

  private static final int COUNTER_INTS = 32;
  private static final long WAIT_NS = 50_000;

  private final State state;
  private final long address;
  private final AtomicIntegerArray users = new AtomicIntegerArray(COUNTERS * COUNTER_INTS);

  /** Outlives the handle, for its cleaner. */
  private static final class State implements Runnable {
    private final String name;
    private volatile boolean closed;

    State(String name) {
      this.name = name;
    }

    @Override
    public void run() {
      if (!closed) {
        LOG.warn("A {} was never closed", name);
      }
    }
  }

  /**
   * Makes a handle.
   *
   * @param name what the object is, for errors and the log: for example {@code block pool}
   * @param address its address, not 0
   */
  public NativeHandle(String name, long address) {
    this.state = new State(name);
    this.address = address;
    LEAKS.register(this, state);
  }

  /**
   * Begins to use the object. The caller calls {@link #leave} on the same thread, in a finally
   * block.
   *
   * @return the object's address, valid until then
   * @throws IllegalStateException if the object is closed
   */
  public long enter() {
    int counter = counter();
    users.getAndIncrement(counter);
    if (state.closed) {
      users.getAndDecrement(counter);
      throw new IllegalStateException("the " + state.name + " is closed");
    }
    return address;
  }

  /** Ends one use of the object. */
  public void leave() {
    users.getAndDecrement(counter());
  }

  /** {@return the name given at construction: what the object is} */
  public String name() {
    return state.name;
  }

  /**
   * Refuses further uses and waits for those that have begun. A thread that uses the object must
   * not call this.
   *
   * @return the address of the object, which no thread uses any more, or 0 if it was closed before
   */
  public synchronized long close() {
    if (state.closed) {
      return 0;
    }
    state.closed = true;
    for (int i = 0; i < users.length(); i += COUNTER_INTS) {
      while (users.get(i) != 0) {
        LockSupport.parkNanos(WAIT_NS);
      }
    }
    return address;
  }

  private static int counter() {
    return ((int) Thread.currentThread().getId() & COUNTERS - 1) * COUNTER_INTS;
  }
}
