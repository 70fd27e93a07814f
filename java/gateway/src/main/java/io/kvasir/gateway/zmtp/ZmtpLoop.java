package io.kvasir.gateway.zmtp;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectableChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Waits for the sockets of one thread, and owns what they share: the buffer for reads, and the
 * bound on unfinished messages of all connections together. If they exceed {@value #MAX_HELD_BYTES}
 * bytes, the connection with the most is dropped.
 *
 * <p>Confined to one thread, except for {@link #wakeUp}.
 */
public final class ZmtpLoop implements AutoCloseable {

  private static final int READ_BYTES = 64 << 10;
  private static final long MAX_HELD_BYTES = 256 << 20;

  /** More between two looks at the clock is a pause. */
  private static final long PAUSE_NS = TimeUnit.MILLISECONDS.toNanos(500);

  private final Selector selector;
  private final ByteBuffer shared = ByteBuffer.allocateDirect(READ_BYTES).limit(0);
  private final Set<ZmtpConnection> connections = new HashSet<>();
  private final PeerFaults faults = new PeerFaults();
  private final long maxHeldBytes;
  private final LongSupplier clockNs;
  private long readNs;
  private long pausedNs;
  private @Nullable ZmtpConnection reader;
  private long heldBytes;

  /** What a key of the selector belongs to. */
  @FunctionalInterface
  interface Selected {

    /** The channel is ready for something. */
    void onSelected();
  }

  /**
   * Opens a selector.
   *
   * @throws UncheckedIOException if the process has too many open files
   */
  public ZmtpLoop() {
    this(MAX_HELD_BYTES, System::nanoTime);
  }

  /** The same with another bound on unfinished messages, and another clock in nanoseconds. */
  ZmtpLoop(long maxHeldBytes, LongSupplier clockNs) {
    this.maxHeldBytes = maxHeldBytes;
    this.clockNs = clockNs;
    this.readNs = clockNs.getAsLong();
    try {
      selector = Selector.open();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * The time by which peers are judged. It stands still while this thread does: while the process
   * is suspended, or all threads wait for the garbage collector, peers cannot show that they are
   * there. To be read several times a second.
   *
   * @return nanoseconds since some moment
   */
  public long nowNs() {
    long nowNs = clockNs.getAsLong();
    if (nowNs - readNs > PAUSE_NS) {
      pausedNs += nowNs - readNs;
    }
    readNs = nowNs;
    return nowNs - pausedNs;
  }

  /** Logs what peers do wrong. */
  PeerFaults faults() {
    return faults;
  }

  /**
   * Waits until a socket is ready or {@link #wakeUp} is called.
   *
   * @param waitMs the longest time; 0 for not at all
   * @throws IOException if the selector fails
   */
  public void select(long waitMs) throws IOException {
    if (waitMs > 0) {
      selector.select(waitMs);
    } else {
      selector.selectNow();
    }
    for (SelectionKey key : selector.selectedKeys()) {
      if (key.isValid() && key.attachment() instanceof Selected selected) {
        selected.onSelected();
      }
    }
    selector.selectedKeys().clear();
  }

  /** Ends the current or the next wait. Any thread. */
  public void wakeUp() {
    selector.wakeup();
  }

  SelectionKey register(SelectableChannel channel, int interest, Selected selected)
      throws IOException {
    channel.configureBlocking(false);
    return channel.register(selector, interest, selected);
  }

  void add(ZmtpConnection connection) {
    connections.add(connection);
  }

  void remove(ZmtpConnection connection) {
    if (connections.remove(connection)) {
      heldBytes -= connection.heldBytes();
    }
    if (reader == connection) {
      reader = null;
      shared.limit(0);
    }
  }

  /** The buffer for reads; its remaining bytes belong to this connection. */
  ByteBuffer buffer(ZmtpConnection connection) {
    ZmtpConnection before = reader;
    if (before != connection) {
      if (before != null && shared.hasRemaining()) {
        before.keep(shared);
      }
      shared.limit(0);
      reader = connection;
    }
    return shared;
  }

  /**
   * The unfinished message of a connection has grown or is complete.
   *
   * @param grownBytes the difference
   * @throws ZmtpException if this connection is to be dropped, because it holds the most
   */
  void onHeld(ZmtpConnection connection, int grownBytes) throws ZmtpException {
    heldBytes += grownBytes;
    while (heldBytes > maxHeldBytes) {
      ZmtpConnection largest = connection;
      for (ZmtpConnection other : connections) {
        largest = other.heldBytes() > largest.heldBytes() ? other : largest;
      }
      ZmtpException cause =
          new ZmtpException(
              "has the largest unfinished message, and all together exceed "
                  + maxHeldBytes
                  + " bytes");
      if (largest == connection) {
        throw cause;
      }
      largest.drop(cause);
    }
  }

  /** Bytes of the unfinished messages of all connections. */
  long heldBytes() {
    return heldBytes;
  }

  /** Bytes of the buffers that the connections have of their own. */
  long bufferBytes() {
    return connections.stream().mapToLong(ZmtpConnection::bufferBytes).sum();
  }

  /** Closes the selector. Sockets are closed by their owners. */
  @Override
  public void close() {
    try {
      selector.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
