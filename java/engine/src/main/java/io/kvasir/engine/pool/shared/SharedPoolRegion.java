package io.kvasir.engine.pool.shared;

import io.kvasir.engine.pool.PoolRegion;
import io.kvasir.engine.pool.PoolShape;
import io.kvasir.internal.nativelib.NativeMemory;
import io.kvasir.model.Checks;
import io.kvasir.model.RankId;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The owner's side of a shared pool: a mapped file with the pool's occupancy page and event ring,
 * the owner's identity and its heartbeat. {@link SharedPoolReader} is the other side.
 *
 * <p>The file may be in any folder; {@link #defaultFile} names one in a folder of this user alone.
 * Its size is about 8 KiB plus 32 bytes for each event of the ring. Only its user can open it, and
 * owner and readers refuse files of other users. At most one live process owns a file: it locks
 * {@code FILE.lock}, and the system releases the lock when the process ends, so that the next owner
 * can replace the file. The memory stays mapped while the region is reachable. Callers that write
 * through its addresses must keep it reachable.
 *
 * <p>Any thread may call {@link #beat}. {@link #answerSnapshots} is confined to the thread that
 * changes the pool, and everything else to the thread that created the region.
 */
public final class SharedPoolRegion implements PoolRegion, AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(SharedPoolRegion.class);
  private static final SecureRandom REGIONS = new SecureRandom();

  /**
   * Files owned by this process. Closing a second channel of a lock file would release its lock.
   */
  private static final Set<Path> OWNED_HERE = ConcurrentHashMap.newKeySet();

  private final Path file;
  private final SharedPoolLayout.Header header;
  private final FileChannel lock;
  private final ByteBuffer memory;
  private final long address;
  private final AtomicBoolean claimed = new AtomicBoolean();
  private long failedSnapshots;
  private volatile boolean closed;
  private @Nullable Thread heartbeatThread;

  private SharedPoolRegion(
      Path file, SharedPoolLayout.Header header, FileChannel lock, MappedByteBuffer memory) {
    this.file = file;
    this.header = header;
    this.lock = lock;
    this.memory = memory;
    this.address = NativeMemory.address(memory);
  }

  /**
   * The default file of owners and readers, which is never written to a disk. Its folder is {@code
   * $XDG_RUNTIME_DIR/kvasir} if that variable names a folder of this user, else {@code
   * /dev/shm/kvasir-UID}; it is created if missing.
   *
   * @param rank the pool's rank
   * @return a path in a folder of this user alone
   * @throws IOException if the folder is a symbolic link, belongs to another user or is open to
   *     others; the message states which
   */
  public static Path defaultFile(RankId rank) throws IOException {
    return SharedPoolFolder.create()
        .resolve("pool-" + Long.toUnsignedString(rank.workerId()) + "-" + rank.dpRank());
  }

  /**
   * Creates the file, or replaces one whose owner has ended.
   *
   * @param file its path
   * @param shape sizes of the pool that will write to it, with an event capacity of at least 1
   * @param rank the pool's rank
   * @param kvBytesPerBlock bytes of KV memory of a block; 0 when there is none
   * @return the region; the caller closes it
   * @throws IllegalArgumentException naming the field that is out of range
   * @throws IOException if the file has a live owner or is not a shared pool, if it or a file next
   *     to it is not a regular file of this user alone, or if there is no space; an existing file
   *     is unchanged then
   */
  public static SharedPoolRegion create(
      Path file, PoolShape shape, RankId rank, long kvBytesPerBlock) throws IOException {
    int bytes = SharedPoolLayout.bytes(shape);
    Checks.atLeast("kvBytesPerBlock", kvBytesPerBlock, 0);
    Path path = file.toAbsolutePath().normalize();
    if (!OWNED_HERE.add(path)) {
      throw new IOException(path + " belongs to another pool of this process");
    }
    FileChannel lock = null;
    SharedPoolRegion region = null;
    try {
      lock = SharedPoolFiles.openLock(SharedPoolFiles.lockOf(path));
      FileLock acquired = lock.tryLock();
      if (acquired == null) {
        throw new IOException(path + " belongs to a pool of another live process");
      }
      requireReplaceable(path);
      PrivateFiles.delete(SharedPoolFiles.snapshotOf(path));
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
    AtomicReference<MappedByteBuffer> region = new AtomicReference<>();
    SharedPoolFiles.publish(
        path,
        draft -> {
          SharedPoolFiles.allocateSpace(path, draft, bytes);
          MappedByteBuffer mapped = draft.map(FileChannel.MapMode.READ_WRITE, 0, bytes);
          mapped.order(ByteOrder.nativeOrder());
          header.write(mapped);
          region.set(mapped);
        });
    return new SharedPoolRegion(path, header, lock, Objects.requireNonNull(region.get()));
  }

  private static void requireReplaceable(Path path) throws IOException {
    try (FileChannel channel = PrivateFiles.open(path, StandardOpenOption.READ)) {
      SharedPoolLayout.requireMagic(path, SharedPoolFiles.readHead(path, channel, Long.BYTES));
    } catch (NoSuchFileException e) {
      // There is nothing to replace.
    } catch (IOException e) {
      throw new IOException("cannot replace an existing file: " + e.getMessage(), e);
    }
  }

  /** {@return the sizes of the pool that writes to this region} */
  @Override
  public PoolShape shape() {
    return header.shape();
  }

  /** {@return the bytes of KV memory of each block; at least 0; 0 when there is none} */
  @Override
  public long kvBytesPerBlock() {
    return header.kvBytesPerBlock();
  }

  /** {@return the absolute path of the region's file} */
  public Path file() {
    return file;
  }

  /**
   * Starts a daemon thread that calls {@link #beat} until {@link #close}.
   *
   * @param every the period; {@code deadAfter} of readers should be several times as long
   * @throws IllegalStateException if it is already started or the region is closed
   * @throws IllegalArgumentException if {@code every} is not positive
   */
  public void startHeartbeat(Duration every) {
    requireOpen();
    if (heartbeatThread != null) {
      throw new IllegalStateException("the heartbeat is already started");
    }
    long everyNs = every.toNanos();
    if (everyNs <= 0) {
      throw new IllegalArgumentException("every must be positive, not " + every);
    }
    heartbeatThread =
        new Thread(
            () -> {
              while (!closed) {
                beat();
                LockSupport.parkNanos(everyNs);
              }
            },
            "kvasir-heartbeat-" + header.rank());
    heartbeatThread.setDaemon(true);
    heartbeatThread.start();
  }

  /** Advances the heartbeat that readers observe. Any thread. */
  public void beat() {
    SharedPoolLayout.increment(memory, SharedPoolLayout.HEARTBEAT);
  }

  @Override
  public void claim() {
    requireOpen();
    if (!claimed.compareAndSet(false, true)) {
      throw new IllegalStateException("a region can serve only one pool");
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
            "Cannot write a snapshot of rank {} for its readers: {}",
            header.rank(),
            e.getMessage());
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
   * Marks the region as closed for readers and removes the files. All writers must have stopped.
   */
  @Override
  public void close() {
    if (closed) {
      return;
    }
    closed = true;
    if (heartbeatThread != null) {
      LockSupport.unpark(heartbeatThread);
    }
    SharedPoolLayout.store(memory, SharedPoolLayout.CLOSED, 1);
    try (lock) {
      PrivateFiles.delete(SharedPoolFiles.snapshotOf(file));
      PrivateFiles.delete(file);
    } catch (IOException e) {
      LOG.warn("Cannot remove the files of {}: {}", file, e.getMessage());
    } finally {
      OWNED_HERE.remove(file);
    }
  }
}
