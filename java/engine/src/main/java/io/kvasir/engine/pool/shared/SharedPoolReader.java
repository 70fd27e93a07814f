package io.kvasir.engine.pool.shared;

import static java.nio.file.StandardOpenOption.READ;
import static java.nio.file.StandardOpenOption.WRITE;

import io.kvasir.engine.pool.DirectoryMirror;
import io.kvasir.engine.pool.DirectoryProbe;
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
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads a pool of another process through its {@link SharedPoolRegion}: occupancy, matches and
 * whether the owner lives. Nothing of the pool's device is needed.
 *
 * <p>Matches come from a mirror that {@link #poll} feeds with the pool's events. A reader that
 * falls behind by more events than the ring keeps knows nothing until the owner has written it a
 * snapshot, which {@link #poll} asks for, at most once in {@code deadAfter}, and loads. Memory
 * outside the heap: 16 bytes for each of the pool's blocks, twice while a snapshot is loaded.
 *
 * <p>The owner never shortens its file; if somebody else does, reading may end this process.
 *
 * <p>Confined to one thread. Use after close throws {@link IllegalStateException}.
 */
public final class SharedPoolReader implements AutoCloseable {

  /** What a reader knows about the pool's owner. */
  public enum Owner {
    /** Its heart beats. */
    ALIVE,
    /** Its heart has not beaten for too long, or its process is gone. */
    DEAD,
    /** It has closed the region. */
    CLOSED
  }

  private static final Logger LOG = LoggerFactory.getLogger(SharedPoolReader.class);

  /** Looks at a page that is being written; a writer that is not dead needs far fewer. */
  private static final int PAGE_ATTEMPTS = 1000;

  /** How often in {@code deadAfter} a silent owner's process is looked for. */
  private static final int PROCESS_CHECKS = 8;

  private final Path file;
  private final SharedPoolLayout.Header header;
  private final ByteBuffer memory;
  private final long ringAddress;
  private final OccupancyPage page;
  private final DirectoryMirror mirror;
  private final LongSupplier nanoTime;
  private final long deadAfterNs;

  private Occupancy lastOccupancy;
  private long lastBeat;
  private long lastBeatNs;
  private long lastProcessCheckNs;
  private boolean processGone;
  private long awaitedRequest;
  private long askedNs;
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
    this.askedNs = lastBeatNs - deadAfterNs;
    this.mirror = DirectoryMirror.create(header.shape().capacityBlocks());
  }

  /**
   * Opens a pool that another process shares.
   *
   * @param file the region's file
   * @param deadAfter how long the owner's heart may be silent
   * @return the reader; the caller closes it
   * @throws IOException if there is no such file, or it is not a shared pool that this version can
   *     read; the message says which
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
    try (FileChannel channel = FileChannel.open(file, READ, WRITE)) {
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

  /**
   * Whose pool it is.
   *
   * @return the rank
   */
  public RankId rank() {
    return header.rank();
  }

  /**
   * The pool's sizes.
   *
   * @return its shape
   */
  public PoolShape shape() {
    return header.shape();
  }

  /**
   * Bytes of KV memory of each block; with {@link #occupancy} they give the bytes that are free,
   * cached and active.
   *
   * @return at least 0; 0 when the pool has none
   */
  public long kvBytesPerBlock() {
    return header.kvBytesPerBlock();
  }

  /**
   * Whether the owner lives, as far as can be told now. Costs a load while its heart beats, and now
   * and then the reading of a small file while it does not. An owner that was only stopped comes
   * back to life with its next beat.
   *
   * @return what is known about the owner
   */
  public Owner owner() {
    if (SharedPoolLayout.load(memory, SharedPoolLayout.CLOSED) != 0) {
      return Owner.CLOSED;
    }
    if (processGone) {
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
      processGone = header.owner().gone();
    }
    return processGone || now - lastBeatNs >= deadAfterNs ? Owner.DEAD : Owner.ALIVE;
  }

  /**
   * The pool's occupancy. Never waits for the owner: when the page is not to be had, because the
   * owner died while it wrote, this is the latest that was.
   *
   * @return a consistent snapshot, or null if the owner has not made its pool yet
   */
  public Occupancy occupancy() {
    mirror.nextEvent(); // a closed reader's
    Occupancy read = page.tryRead(PAGE_ATTEMPTS);
    if (read != null && read.capacityBlocks() > 0) {
      lastOccupancy = read;
    }
    return lastOccupancy;
  }

  /**
   * Applies the events that are new, and asks for a snapshot or loads it if some were lost.
   *
   * @return whether the pool's names are known; if not, nothing matches
   */
  public boolean poll() {
    try {
      mirror.follow(ringAddress, header.shape().eventCapacity());
      if (!mirror.known()) {
        catchUp();
      }
      return mirror.known();
    } finally {
      Reference.reachabilityFence(this); // else the mapping might end under the native call
    }
  }

  private void catchUp() {
    long answered = SharedPoolLayout.load(memory, SharedPoolLayout.ANSWERED);
    if (awaitedRequest != 0 && answered >= awaitedRequest) {
      loadSnapshot();
    } else if (nanoTime.getAsLong() - askedNs >= deadAfterNs) {
      awaitedRequest = SharedPoolLayout.increment(memory, SharedPoolLayout.REQUESTED) + 1;
      askedNs = nanoTime.getAsLong();
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
        LOG.warn("No snapshot of rank {}: {}", header.rank(), e.getMessage());
      }
    }
  }

  /**
   * Looks prompts up in what the events told; {@link #poll} first. Compares names only.
   *
   * @param batch the prompts
   * @param matchedBlocks receives, from {@code offset} on, the leading blocks held of each prompt
   * @param offset first index written
   * @throws IndexOutOfBoundsException if the answers do not fit
   */
  public void probe(ProbeBatch batch, int[] matchedBlocks, int offset) {
    mirror.probe(batch, matchedBlocks, offset);
  }

  /**
   * Number of the event that is awaited.
   *
   * @return events so far, those lost included
   */
  public long nextEvent() {
    return mirror.nextEvent();
  }

  /**
   * How often events were lost.
   *
   * @return gaps seen
   */
  public long gaps() {
    return mirror.gaps();
  }

  /**
   * How often a gap was closed by a snapshot of the owner's.
   *
   * @return snapshots loaded
   */
  public long snapshots() {
    return snapshots;
  }

  /**
   * How often a snapshot was promised but could not be loaded.
   *
   * @return failures
   */
  public long failedSnapshots() {
    return failedSnapshots;
  }

  /** Where the mirror's directory lies, for {@link DirectoryProbe}; valid until {@link #close}. */
  long directoryAddress() {
    return mirror.directoryAddress();
  }

  @Override
  public void close() {
    mirror.close();
  }
}
