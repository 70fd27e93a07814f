package io.kvasir.engine.pool.shared;

import static java.nio.file.StandardOpenOption.READ;
import static java.nio.file.StandardOpenOption.WRITE;

import io.kvasir.engine.pool.DirectoryMirror;
import io.kvasir.engine.pool.DirectoryProbe;
import io.kvasir.engine.pool.DirectoryView;
import io.kvasir.engine.pool.Occupancy;
import io.kvasir.engine.pool.OccupancyPage;
import io.kvasir.engine.pool.PoolShape;
import io.kvasir.engine.pool.ProbeBatch;
import io.kvasir.internal.nativelib.NativeMemory;
import io.kvasir.model.RankId;
import java.io.IOException;
import java.lang.ref.Reference;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.time.Duration;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads a pool of another process through its {@link SharedPoolRegion}: occupancy, matches and the
 * liveness of the owner. Does not use the pool's device.
 *
 * <p>Matches come from a mirror to which {@link #poll} applies the pool's events. A reader that
 * falls behind by more events than the ring keeps matches nothing until it has loaded a snapshot
 * from the owner. {@link #poll} requests the snapshot, at most once in {@code deadAfter}, and loads
 * it. Memory outside the heap: 16 bytes for each of the pool's blocks, twice that while a snapshot
 * is loaded.
 *
 * <p>Processes of other users can neither crash nor hang a reader: files that are not regular files
 * of this user alone are refused. Any bytes in the files are safe: a call does a limited amount of
 * work, and damage that it detects is treated as missed events. The owner never truncates its file;
 * if another process of this user does, reading may crash this process.
 *
 * <p>Confined to one thread. Use after close throws {@link IllegalStateException}.
 */
public final class SharedPoolReader implements AutoCloseable {

  /** The state of the pool's owner, as seen by a reader. */
  public enum Owner {
    /** Its heartbeat advances. */
    ALIVE,
    /** Its heartbeat has not advanced for too long, or its process has ended. */
    DEAD,
    /** It has closed the region. */
    CLOSED
  }

  private static final Logger LOG = LoggerFactory.getLogger(SharedPoolReader.class);

  /** Attempts to read a page that is being written; a live writer needs far fewer. */
  private static final int PAGE_ATTEMPTS = 1000;

  /** Number of checks of a silent owner's process in {@code deadAfter}. */
  private static final int PROCESS_CHECKS = 8;

  private final Path file;
  private final SharedPoolLayout.Header header;
  private final ByteBuffer memory;
  private final long ringAddress;
  private final OccupancyPage page;
  private final DirectoryMirror mirror;
  private final LongSupplier nanoTime;
  private final long deadAfterNs;

  private @Nullable Occupancy lastOccupancy;
  private long lastBeat;
  private long lastBeatNs;
  private long lastProcessCheckNs;
  private boolean processEnded;
  private long awaitedRequest;
  private long requestedNs;
  private long snapshots;
  private long failedSnapshots;

  private SharedPoolReader(
      Path file,
      SharedPoolLayout.Header header,
      ByteBuffer memory,
      Duration deadAfter,
      LongSupplier nanoTime) {
    this.file = file;
    this.header = header;
    this.memory = memory;
    this.nanoTime = nanoTime;
    this.deadAfterNs = deadAfter.toNanos();
    long address = NativeMemory.address(memory);
    this.ringAddress = address + SharedPoolLayout.RING;
    this.page = new OccupancyPage(address + SharedPoolLayout.PAGE);
    this.lastBeat = SharedPoolLayout.load(memory, SharedPoolLayout.HEARTBEAT);
    this.lastBeatNs = nanoTime.getAsLong();
    this.lastProcessCheckNs = lastBeatNs - deadAfterNs;
    this.requestedNs = lastBeatNs - deadAfterNs;
    this.mirror = DirectoryMirror.create(header.shape().capacityBlocks());
  }

  /**
   * Opens a pool that another process shares.
   *
   * @param file the region's file
   * @param deadAfter how long the owner's heartbeat may pause before the owner counts as dead
   * @return the reader; the caller closes it
   * @throws IOException if the file is missing, is not a regular file of this user alone, or is not
   *     a shared pool that this version can read; the message states the reason
   * @throws IllegalArgumentException if {@code deadAfter} is not positive
   */
  public static SharedPoolReader open(Path file, Duration deadAfter) throws IOException {
    return open(file, deadAfter, System::nanoTime);
  }

  static SharedPoolReader open(Path file, Duration deadAfter, LongSupplier nanoTime)
      throws IOException {
    if (deadAfter.isNegative() || deadAfter.isZero()) {
      throw new IllegalArgumentException("deadAfter must be positive, not " + deadAfter);
    }
    try (FileChannel channel = PrivateFiles.open(file, READ, WRITE)) {
      SharedPoolLayout.requireMagic(file, SharedPoolFiles.readHead(file, channel, Long.BYTES));
      ByteBuffer head = SharedPoolFiles.readHead(file, channel, SharedPoolLayout.PAGE);
      SharedPoolLayout.Header header = SharedPoolLayout.Header.read(file, head, channel.size());
      ByteBuffer memory =
          channel
              .map(FileChannel.MapMode.READ_WRITE, 0, SharedPoolLayout.bytes(header.shape()))
              .order(ByteOrder.nativeOrder());
      return new SharedPoolReader(file, header, memory, deadAfter, nanoTime);
    }
  }

  /** {@return the pool's rank} */
  public RankId rank() {
    return header.rank();
  }

  /** {@return the pool's sizes} */
  public PoolShape shape() {
    return header.shape();
  }

  /**
   * Bytes of KV memory of each block. Multiplied by the counts of {@link #occupancy}, it gives the
   * bytes that are free, cached and active.
   *
   * @return at least 0; 0 if the pool has no KV memory
   */
  public long kvBytesPerBlock() {
    return header.kvBytesPerBlock();
  }

  /**
   * The owner's state as it appears now. One load while the heartbeat advances; otherwise it
   * periodically reads a small file. An owner that was only paused is alive again at its next
   * heartbeat.
   *
   * @return the owner's state
   */
  public Owner owner() {
    if (SharedPoolLayout.load(memory, SharedPoolLayout.CLOSED) != 0) {
      return Owner.CLOSED;
    }
    if (processEnded) {
      return Owner.DEAD;
    }
    long now = nanoTime.getAsLong();
    long beat = SharedPoolLayout.load(memory, SharedPoolLayout.HEARTBEAT);
    if (beat != lastBeat) {
      lastBeat = beat;
      lastBeatNs = now;
      return Owner.ALIVE;
    }
    if (now - lastProcessCheckNs >= deadAfterNs / PROCESS_CHECKS) {
      lastProcessCheckNs = now;
      processEnded = header.owner().hasEnded();
    }
    return processEnded || now - lastBeatNs >= deadAfterNs ? Owner.DEAD : Owner.ALIVE;
  }

  /**
   * The pool's occupancy. Never waits for the owner. If the page cannot be read because the owner
   * died during a write, or its counts contradict the pool's shape, this is the last occupancy that
   * was read.
   *
   * @return a consistent snapshot; null if none was read so far, for example because the owner has
   *     not created its pool yet
   */
  public @Nullable Occupancy occupancy() {
    mirror.nextEvent(); // throws if this is closed
    Occupancy read = page.tryRead(PAGE_ATTEMPTS);
    if (read != null && isPossible(read)) {
      lastOccupancy = read;
    }
    return lastOccupancy;
  }

  private boolean isPossible(Occupancy read) {
    long capacity = header.shape().capacityBlocks();
    return read.capacityBlocks() == capacity
        && isCount(read.freeBlocks(), capacity)
        && isCount(read.cachedBlocks(), capacity)
        && isCount(read.activeBlocks(), capacity)
        && read.freeBlocks() + read.cachedBlocks() + read.activeBlocks() == capacity
        && isCount(read.reservedBlocks(), read.freeBlocks() + read.cachedBlocks());
  }

  private static boolean isCount(long blocks, long limit) {
    return blocks >= 0 && blocks <= limit;
  }

  /**
   * Applies new events, at most as many as the ring keeps. If events were missed or the ring is
   * damaged, requests or loads a snapshot.
   *
   * @return whether the mirror is in sync with the pool; if not, nothing matches
   */
  public boolean poll() {
    try {
      mirror.follow(ringAddress, header.shape().eventCapacity());
      if (!mirror.inSync()) {
        catchUp();
      }
      return mirror.inSync();
    } finally {
      Reference.reachabilityFence(this); // keeps the mapping during the native call
    }
  }

  private void catchUp() {
    long answered = SharedPoolLayout.load(memory, SharedPoolLayout.ANSWERED);
    if (awaitedRequest != 0 && answered >= awaitedRequest) {
      loadSnapshot();
    } else if (nanoTime.getAsLong() - requestedNs >= deadAfterNs) {
      awaitedRequest = SharedPoolLayout.increment(memory, SharedPoolLayout.REQUESTED) + 1;
      requestedNs = nanoTime.getAsLong();
    }
  }

  private void loadSnapshot() {
    long request = awaitedRequest;
    awaitedRequest = 0;
    try {
      SharedPoolSnapshot.load(file, header, request, mirror);
      snapshots++;
      mirror.follow(ringAddress, header.shape().eventCapacity());
    } catch (IOException e) {
      if (failedSnapshots++ == 0) {
        LOG.warn("Cannot load a snapshot of rank {}: {}", header.rank(), e.getMessage());
      }
    }
  }

  /**
   * Matches prompts as of the last {@link #poll}. Compares sequence hashes only.
   *
   * @param batch the prompts
   * @param matchedBlocks receives, from {@code offset} on, the matched blocks of each prompt
   * @param offset first index written
   * @throws IndexOutOfBoundsException if the answers do not fit
   */
  public void probe(ProbeBatch batch, int[] matchedBlocks, int offset) {
    mirror.probe(batch, matchedBlocks, offset);
  }

  /** {@return the number of the next event: the number of events so far, missed events included} */
  public long nextEvent() {
    return mirror.nextEvent();
  }

  /** {@return the number of gaps in the events, at least 0} */
  public long gaps() {
    return mirror.gaps();
  }

  /** {@return the number of snapshots that were loaded, at least 0} */
  public long snapshots() {
    return snapshots;
  }

  /**
   * {@return the number of answered snapshot requests whose snapshot could not be loaded, at least
   * 0}
   */
  public long failedSnapshots() {
    return failedSnapshots;
  }

  /** The mirror's directory, for {@link DirectoryProbe}. */
  DirectoryView directory() {
    return mirror.directory();
  }

  @Override
  public void close() {
    mirror.close();
  }
}
