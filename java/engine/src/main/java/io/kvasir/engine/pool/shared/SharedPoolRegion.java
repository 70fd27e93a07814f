package io.kvasir.engine.pool.shared;

import io.kvasir.engine.pool.PoolRegion;
import io.kvasir.engine.pool.PoolShape;
import io.kvasir.internal.nativelib.NativeMemory;
import io.kvasir.model.RankId;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The owner's side of a pool that other processes read: a mapped file that holds the pool's
 * occupancy page and event ring, the owner's identity and its heartbeat. {@link SharedPoolReader}
 * is the other side.
 *
 * <p>The file may lie in any folder; in {@link #DEFAULT_FOLDER} it never reaches a disk. It takes
 * about 8 KiB and 32 bytes for each event that is kept. Only its user can open it. One living
 * process owns a file: the lock on {@code FILE.lock} says so, and the system drops it when the
 * owner dies, so that the next owner replaces what a dead one left behind. The memory stays mapped
 * until the region is unreachable; whoever writes through its addresses keeps it reachable.
 *
 * <p>{@link #beat} may be called by any thread. Snapshots belong to the thread that changes the
 * pool; everything else to the one that made the region.
 */
public final class SharedPoolRegion implements PoolRegion, AutoCloseable {

  /** A folder in memory. */
  public static final Path DEFAULT_FOLDER = Path.of("/dev/shm");

  private static final Logger LOG = LoggerFactory.getLogger(SharedPoolRegion.class);
  private static final SecureRandom REGIONS = new SecureRandom();

  /** A process may not even try to lock a file twice: closing the second try drops the lock. */
  private static final Set<Path> OWNED_HERE = ConcurrentHashMap.newKeySet();

  private final Path file;
  private final SharedPoolLayout.Header header;
  private final FileChannel lock;
  private final ByteBuffer memory;
  private final long address;
  private final AtomicBoolean claimed = new AtomicBoolean();
  private long failedSnapshots;
  private volatile boolean closed;
  private Thread heart;

  private SharedPoolRegion(
      Path file, SharedPoolLayout.Header header, FileChannel lock, MappedByteBuffer memory) {
    this.file = file;
    this.header = header;
    this.lock = lock;
    this.memory = memory;
    this.address = NativeMemory.address(memory);
  }

  /**
   * The file that owners and readers use if they are told none.
   *
   * @param rank whose pool it is
   * @return a path in {@link #DEFAULT_FOLDER}
   */
  public static Path defaultFile(RankId rank) {
    return DEFAULT_FOLDER.resolve(
        "kvasir-" + Long.toUnsignedString(rank.workerId()) + "-" + rank.dpRank());
  }

  /**
   * Makes the file, or replaces one whose owner is dead.
   *
   * @param file its path
   * @param shape sizes of the pool that will write to it; at least one event
   * @param rank whose pool it is
   * @param kvBytesPerBlock bytes of KV memory of a block; 0 when there is none
   * @return the region; the caller closes it
   * @throws IllegalArgumentException naming the field that is out of range
   * @throws IOException if a living owner has it, a foreign file is in its place, or there is no
   *     room; what was there is unchanged then
   */
  public static SharedPoolRegion create(
      Path file, PoolShape shape, RankId rank, long kvBytesPerBlock) throws IOException {
    int bytes = SharedPoolLayout.bytes(shape);
    if (kvBytesPerBlock < 0) {
      throw new IllegalArgumentException(
          "kvBytesPerBlock must be at least 0, not " + kvBytesPerBlock);
    }
    Path path = file.toAbsolutePath().normalize();
    if (!OWNED_HERE.add(path)) {
      throw new IOException(path + " belongs to another pool of this process");
    }
    FileChannel lock = null;
    SharedPoolRegion region = null;
    try {
      lock = SharedPoolFiles.openLock(SharedPoolFiles.lockOf(path));
      FileLock held = lock.tryLock();
      if (held == null) {
        throw new IOException(path + " belongs to a pool of another process that lives");
      }
      requireReplaceable(path);
      Files.deleteIfExists(SharedPoolFiles.snapshotOf(path));
      SharedPoolLayout.Header header =
          new SharedPoolLayout.Header(
              shape, rank, kvBytesPerBlock, REGIONS.nextLong(), OwnerProcess.current());
      region = publish(path, header, bytes, lock);
      return region;
    } finally {
      if (region == null) {
        if (lock != null) {
          lock.close();
        }
        OWNED_HERE.remove(path);
      }
    }
  }

  private static SharedPoolRegion publish(
      Path path, SharedPoolLayout.Header header, int bytes, FileChannel lock) throws IOException {
    MappedByteBuffer[] mapped = new MappedByteBuffer[1];
    SharedPoolFiles.publish(
        path,
        draft -> {
          SharedPoolFiles.takeRoom(path, draft, bytes);
          mapped[0] = draft.map(FileChannel.MapMode.READ_WRITE, 0, bytes);
          mapped[0].order(ByteOrder.nativeOrder());
          header.write(mapped[0]);
        });
    return new SharedPoolRegion(path, header, lock, mapped[0]);
  }

  private static void requireReplaceable(Path path) throws IOException {
    if (Files.exists(path)) {
      try (FileChannel channel = FileChannel.open(path)) {
        SharedPoolLayout.requireMagic(path, SharedPoolFiles.readHead(path, channel, Long.BYTES));
      } catch (IOException e) {
        throw new IOException("will not replace a foreign file: " + e.getMessage(), e);
      }
    }
  }

  /**
   * Sizes of the pool that writes here.
   *
   * @return the shape given at construction
   */
  @Override
  public PoolShape shape() {
    return header.shape();
  }

  /**
   * Bytes of KV memory of each block.
   *
   * @return at least 0; 0 when there is none
   */
  @Override
  public long kvBytesPerBlock() {
    return header.kvBytesPerBlock();
  }

  /**
   * Where others find the pool.
   *
   * @return the file's absolute path
   */
  public Path file() {
    return file;
  }

  /**
   * Starts a daemon thread that calls {@link #beat} until {@link #close}.
   *
   * @param every how often; a reader's patience should be several times as long
   * @throws IllegalStateException if it was started before or the region is closed
   * @throws IllegalArgumentException if {@code every} is not positive
   */
  public void startHeartbeat(Duration every) {
    requireOpen();
    if (heart != null) {
      throw new IllegalStateException("the heartbeat was started before");
    }
    long everyNs = every.toNanos();
    if (everyNs <= 0) {
      throw new IllegalArgumentException("every must be positive, not " + every);
    }
    heart =
        new Thread(
            () -> {
              while (!closed) {
                beat();
                LockSupport.parkNanos(everyNs);
              }
            },
            "kvasir-heartbeat-" + header.rank());
    heart.setDaemon(true);
    heart.start();
  }

  /** Shows readers that the owner lives. Any thread. */
  public void beat() {
    SharedPoolLayout.increment(memory, SharedPoolLayout.HEARTBEAT);
  }

  @Override
  public void claim() {
    requireOpen();
    if (!claimed.compareAndSet(false, true)) {
      throw new IllegalStateException("a region serves one pool; make another for the next");
    }
  }

  @Override
  public long address() {
    requireOpen();
    return address;
  }

  @Override
  public int bytes() {
    return memory.capacity();
  }

  @Override
  public long pageAddress() {
    return address() + SharedPoolLayout.PAGE;
  }

  @Override
  public long ringAddress() {
    return address() + SharedPoolLayout.RING;
  }

  @Override
  public boolean snapshotWanted() {
    return !closed
        && SharedPoolLayout.load(memory, SharedPoolLayout.REQUESTED)
            != SharedPoolLayout.load(memory, SharedPoolLayout.ANSWERED);
  }

  @Override
  public long nextEvent() {
    return SharedPoolLayout.load(memory, SharedPoolLayout.RING);
  }

  @Override
  public void answerSnapshots(long bucketsAddress, long nextEvent) {
    requireOpen();
    long request = SharedPoolLayout.load(memory, SharedPoolLayout.REQUESTED);
    try {
      SharedPoolSnapshot.write(file, header, request, bucketsAddress, nextEvent);
    } catch (IOException e) {
      if (failedSnapshots++ == 0) {
        LOG.warn(
            "Rank {} cannot write a snapshot for its readers: {}", header.rank(), e.getMessage());
      }
    }
    SharedPoolLayout.store(memory, SharedPoolLayout.ANSWERED, request);
  }

  private void requireOpen() {
    if (closed) {
      throw new IllegalStateException("the region is closed");
    }
  }

  /**
   * Tells readers that the owner is done, and removes the files. Whoever writes to the region stops
   * before.
   */
  @Override
  public void close() {
    if (closed) {
      return;
    }
    closed = true;
    if (heart != null) {
      LockSupport.unpark(heart);
    }
    SharedPoolLayout.store(memory, SharedPoolLayout.CLOSED, 1);
    try (lock) {
      Files.deleteIfExists(SharedPoolFiles.snapshotOf(file));
      Files.deleteIfExists(file);
    } catch (IOException e) {
      LOG.warn("Cannot remove the files of {}: {}", file, e.getMessage());
    } finally {
      OWNED_HERE.remove(file);
    }
  }
}
