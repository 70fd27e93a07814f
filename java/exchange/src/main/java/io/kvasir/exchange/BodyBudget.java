package io.kvasir.exchange;

import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;

/**
 * Bounds the bytes that the process holds for requests: their bodies as far as they have arrived,
 * and what is decoded of them. One client's address can have a share of them only, and a share of
 * the places in service for requests whose bodies are still arriving.
 *
 * <p>Thread-safe.
 */
public final class BodyBudget {

  private final long maxBytes;
  private final long maxClientBytes;
  private final int maxClientUploads;
  private final AtomicLong used = new AtomicLong();
  private final ConcurrentHashMap<String, Held> clients = new ConcurrentHashMap<>();

  /** What one client holds. */
  private record Held(long bytes, int uploads) {
    static final Held NOTHING = new Held(0, 0);
  }

  /**
   * Creates an unused budget that one client may use up.
   *
   * @param maxBytes bytes of all requests together, at least 1
   */
  public BodyBudget(long maxBytes) {
    this(maxBytes, maxBytes, Integer.MAX_VALUE);
  }

  /**
   * Creates an unused budget.
   *
   * @param maxBytes bytes of all requests together, at least 1
   * @param maxClientBytes bytes of one client's requests, at least 1
   * @param maxClientUploads requests of one client that are in service while their bodies arrive,
   *     at least 1
   */
  public BodyBudget(long maxBytes, long maxClientBytes, int maxClientUploads) {
    this.maxBytes = maxBytes;
    this.maxClientBytes = maxClientBytes;
    this.maxClientUploads = maxClientUploads;
  }

  /**
   * Begins a request.
   *
   * @param client the client's address
   * @return what the request holds: nothing yet
   */
  public BodyHold open(String client) {
    return new BodyHold(this, ClientAddresses.client(client));
  }

  /** Takes bytes. If there are not as many left, for all or for the client, takes none. */
  boolean take(String client, long bytes) {
    if (bytes == 0) {
      return true;
    }
    if (!addWithin(bytes)) {
      return false;
    }
    if (change(client, bytes, 0)) {
      return true;
    }
    used.addAndGet(-bytes);
    return false;
  }

  private boolean addWithin(long bytes) {
    long before = used.get();
    while (before + bytes <= maxBytes) {
      if (used.compareAndSet(before, before + bytes)) {
        return true;
      }
      before = used.get();
    }
    return false;
  }

  /** Returns bytes of those taken. */
  void release(String client, long bytes) {
    if (bytes > 0) {
      change(client, -bytes, 0);
      used.addAndGet(-bytes);
    }
  }

  /** Takes a place for a body that is still arriving; false if the client has its share. */
  boolean takeUpload(String client) {
    return change(client, 0, 1);
  }

  /** Returns a place. */
  void releaseUpload(String client) {
    change(client, 0, -1);
  }

  private boolean change(String client, long bytes, int uploads) {
    Change change = new Change(bytes, uploads);
    clients.compute(client, change);
    return change.done;
  }

  /** Changes what a client holds, unless that would be too much. */
  private final class Change implements BiFunction<String, @Nullable Held, @Nullable Held> {
    private final long bytes;
    private final int uploads;
    private boolean done;

    Change(long bytes, int uploads) {
      this.bytes = bytes;
      this.uploads = uploads;
    }

    @Override
    public @Nullable Held apply(String client, @Nullable Held before) {
      Held held = before == null ? Held.NOTHING : before;
      Held after = new Held(held.bytes + bytes, held.uploads + uploads);
      boolean fits = after.bytes <= maxClientBytes && after.uploads <= maxClientUploads;
      done = fits || (bytes <= 0 && uploads <= 0);
      return done ? orNull(after) : before;
    }
  }

  private static @Nullable Held orNull(Held held) {
    return held.equals(Held.NOTHING) ? null : held;
  }

  /** {@return the most bytes that one request can hold, when no other one holds any} */
  long mostOfOne() {
    return Math.min(maxBytes, maxClientBytes);
  }

  /** {@return bytes in use} */
  public long used() {
    return used.get();
  }

  /** {@return clients that hold something} */
  int clients() {
    return clients.size();
  }
}
