package io.kvasir.fleet.record;

import io.kvasir.model.Errors;
import io.kvasir.model.Threads;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Writes events to a file as JSON lines: {@code {"timestamp":12,"event":{...}}}, the timestamp in
 * milliseconds since the recorder started.
 *
 * <p>A dedicated thread writes, so recording never waits for the disk: an event that finds the
 * queue full is dropped and counted. Where a time to the next flush is set, the thread sleeps until
 * then or until many events wait, because waking it for each one would cost more than writing. If
 * writing fails, the recording ends: the reason is logged, unwritten events count as lost, and
 * later events are refused. Only whole lines are written. A torn last line of a crashed process is
 * cut off when the recording is continued; a last event that only lacks its line end is kept. A
 * recording has one recorder at a time, in any process, until that is closed.
 *
 * <p>Thread-safe.
 */
public final class EventRecorder implements AutoCloseable {

  private static final long NS_PER_MS = 1_000_000;
  private static final int BATCH_EVENTS = 256;
  private static final long BATCH_BYTES = 1 << 20;

  /** Bytes that waiting events may take; a single one waits whatever its size. */
  static final long MAX_QUEUED_BYTES = 32 << 20;

  private final Path path;
  private final RecorderOptions options;
  private final LongSupplier nanoTime;
  private final long startNs;
  private final RecordingFile file;
  private final Thread writer;
  private final int fullBatch;

  private final ReentrantLock lock = new ReentrantLock();
  private final Condition work = lock.newCondition();
  private final Condition room = lock.newCondition();

  // Guarded by `lock`.
  private final ArrayDeque<Taken> queue = new ArrayDeque<>();
  private long queuedBytes;
  private int wakeEvents = 1; // wake the writer when so many wait
  private long taken;
  private long written;
  private long dropped;
  private long refused;
  private boolean full;
  private boolean closing;
  private boolean closed;
  private @Nullable IOException failure;

  private record Taken(long timestampMs, JsonEvent event) {}

  private EventRecorder(Path path, RecorderOptions options, LongSupplier nanoTime)
      throws IOException {
    this.path = path;
    this.options = options;
    this.nanoTime = nanoTime;
    this.startNs = nanoTime.getAsLong();
    this.file = new RecordingFile(path, options.rotateLines(), options.append());
    this.fullBatch = Math.min(BATCH_EVENTS, Math.max(1, options.queueEvents() / 2));
    this.writer = new Thread(this::write, "kvasir-recorder");
    writer.setDaemon(true);
  }

  /**
   * Starts a recording.
   *
   * @param path the file; when lines are rotated, the first of {@code events.jsonl}, {@code
   *     events-1.jsonl} and so on
   * @param options queue size, rotation and limits
   * @return the recorder; the caller closes it
   * @throws RecordingInUseException if the file is being recorded or repaired; it is not changed
   * @throws IOException if the file cannot be opened
   */
  public static EventRecorder open(Path path, RecorderOptions options) throws IOException {
    return open(path, options, System::nanoTime);
  }

  /**
   * Starts a recording with a custom clock for timestamps and the time limit.
   *
   * @param path the file
   * @param options queue size, rotation and limits
   * @param nanoTime the time in nanoseconds, from any origin
   * @return the recorder; the caller closes it
   * @throws RecordingInUseException if the file is being recorded or repaired; it is not changed
   * @throws IOException if the file cannot be opened
   */
  public static EventRecorder open(Path path, RecorderOptions options, LongSupplier nanoTime)
      throws IOException {
    EventRecorder recorder = new EventRecorder(path, options, nanoTime);
    recorder.writer.start();
    return recorder;
  }

  /**
   * Queues an event unless the queue is full or the recording has ended. Never waits for the disk;
   * O(1).
   *
   * @param event the event to write
   * @return whether it was queued
   */
  public boolean record(JsonEvent event) {
    lock.lock();
    try {
      if (hasEnded()) {
        refused++;
        return false;
      }
      if (!hasRoomFor(event)) {
        dropped++;
        return false;
      }
      take(event);
      return true;
    } finally {
      lock.unlock();
    }
  }

  /**
   * Queues an event, waiting for room if the queue is full.
   *
   * @param event the event to write
   * @return whether it was queued; if not, the recording has ended
   * @throws InterruptedException if the thread is interrupted while it waits
   */
  public boolean recordWaiting(JsonEvent event) throws InterruptedException {
    lock.lockInterruptibly();
    try {
      while (!hasEnded() && !hasRoomFor(event)) {
        room.await();
      }
      if (hasEnded()) {
        refused++;
        return false;
      }
      take(event);
      return true;
    } finally {
      lock.unlock();
    }
  }

  private boolean hasRoomFor(JsonEvent event) {
    return queue.isEmpty()
        || (queue.size() < options.queueEvents()
            && queuedBytes + event.queuedBytes() <= MAX_QUEUED_BYTES);
  }

  private void take(JsonEvent event) {
    queuedBytes += event.queuedBytes();
    queue.add(new Taken((nanoTime.getAsLong() - startNs) / NS_PER_MS, event));
    taken++;
    if (queue.size() >= wakeEvents || queuedBytes >= BATCH_BYTES) {
      work.signal();
    }
  }

  private boolean hasEnded() {
    return closing
        || failure != null
        || full
        || (options.maxEvents() > 0 && taken >= options.maxEvents())
        || (options.maxNs() > 0 && nanoTime.getAsLong() - startNs >= options.maxNs());
  }

  /**
   * {@return whether the recording has ended and events are refused: a limit was reached, writing
   * failed, or the recorder was closed}
   */
  public boolean ended() {
    lock.lock();
    try {
      return hasEnded();
    } finally {
      lock.unlock();
    }
  }

  /**
   * {@return the bytes of a torn last line that were cut off when the recording was continued, at
   * least 0}
   */
  public long cutBytes() {
    return file.cutBytes();
  }

  /** {@return a snapshot of the counts of the events so far} */
  public RecorderStats stats() {
    lock.lock();
    try {
      long pending = taken - written;
      return new RecorderStats(
          written,
          failure == null ? pending : 0,
          dropped,
          refused,
          failure == null ? 0 : pending,
          Optional.ofNullable(failure).map(IOException::getMessage));
    } finally {
      lock.unlock();
    }
  }

  private void write() {
    List<Taken> batch = new ArrayList<>();
    try {
      long flushedNs = System.nanoTime();
      while (nextBatch(batch, flushedNs)) {
        for (Taken event : batch) {
          file.append(event.timestampMs(), event.event());
        }
        if (flushDue(flushedNs)) {
          file.flush();
          flushedNs = System.nanoTime();
        }
        noteWritten();
      }
      file.close();
    } catch (IOException | RuntimeException | InterruptedException e) {
      fail(e);
    } finally {
      noteWritten();
    }
  }

  private boolean flushDue(long flushedNs) {
    return options.flushNs() > 0 && System.nanoTime() - flushedNs >= options.flushNs();
  }

  /** Waits for a batch of events, or until a flush is due; false when no more will come. */
  private boolean nextBatch(List<Taken> batch, long flushedNs) throws InterruptedException {
    batch.clear();
    lock.lock();
    try {
      while (!closing && !batchWaits()) {
        if (queue.isEmpty() && (options.flushNs() == 0 || !file.hasBuffered())) {
          wakeEvents = 1;
          work.await();
        } else if (flushDue(flushedNs)) {
          break;
        } else {
          wakeEvents = fullBatch;
          work.awaitNanos(flushedNs + options.flushNs() - System.nanoTime());
        }
      }
      if (closing && queue.isEmpty()) {
        return false;
      }
      while (!queue.isEmpty() && batch.size() < BATCH_EVENTS) {
        Taken next = queue.remove();
        queuedBytes -= next.event().queuedBytes();
        batch.add(next);
      }
      room.signalAll();
      return true;
    } finally {
      lock.unlock();
    }
  }

  private boolean batchWaits() {
    return options.flushNs() == 0
        ? !queue.isEmpty()
        : queue.size() >= fullBatch || queuedBytes >= BATCH_BYTES;
  }

  private void noteWritten() {
    lock.lock();
    try {
      written = file.writtenLines();
      full = options.maxBytes() > 0 && file.writtenBytes() >= options.maxBytes();
      if (full) {
        room.signalAll();
      }
    } finally {
      lock.unlock();
    }
  }

  private void fail(Exception e) {
    try {
      file.close();
    } catch (IOException again) {
      e.addSuppressed(again);
    }
    lock.lock();
    try {
      written = file.writtenLines();
      queue.clear();
      queuedBytes = 0;
      failure =
          new IOException(
              path
                  + ": cannot be written: "
                  + (e instanceof InterruptedException ? "interrupted" : Errors.reason(e))
                  + "; events lost: "
                  + (taken - written),
              e);
      room.signalAll();
    } finally {
      lock.unlock();
    }
  }

  /**
   * Writes the queued events, waits for them to reach the file, and ends the recording. Later calls
   * do nothing.
   *
   * @throws IOException if a queued event could not be written
   */
  @Override
  public void close() throws IOException {
    if (end()) {
      Threads.join(writer);
      throwFailure();
    }
  }

  /**
   * Ends the recording as {@link #close} does, but waits for a time at most. Events that are not in
   * the file by then may still reach it while the process lives.
   *
   * @param millis the time in milliseconds, at least 1
   * @throws IOException if a queued event could not be written, or the file has not taken all of
   *     them by then
   */
  public void closeWithin(long millis) throws IOException {
    if (end()) {
      if (!Threads.join(writer, millis)) {
        throw new IOException(
            path + ": the disk has not taken the last events within " + millis + " ms");
      }
      throwFailure();
    }
  }

  /** {@return whether this call ends the recording} */
  private boolean end() {
    lock.lock();
    try {
      if (closed) {
        return false;
      }
      closed = true;
      closing = true;
      work.signal();
      room.signalAll();
      return true;
    } finally {
      lock.unlock();
    }
  }

  private void throwFailure() throws IOException {
    if (failure != null) {
      throw failure;
    }
  }
}
