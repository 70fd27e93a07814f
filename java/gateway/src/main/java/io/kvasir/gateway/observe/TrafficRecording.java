package io.kvasir.gateway.observe;

import io.kvasir.event.BlockEvent;
import io.kvasir.fleet.index.ChangeStatus;
import io.kvasir.fleet.index.ForwardingIndex;
import io.kvasir.fleet.index.PrefixIndex;
import io.kvasir.fleet.record.EventRecorder;
import io.kvasir.fleet.record.RankChange;
import io.kvasir.fleet.record.RecorderOptions;
import io.kvasir.fleet.record.RecorderStats;
import io.kvasir.fleet.record.ServedRequest;
import io.kvasir.model.RankId;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Records the traffic of a gateway to a file, for {@code kvasir replay --recording}: the requests
 * that were served, by the names of their blocks, and the block events of the engines. It has no
 * text and no tokens. A slow disk delays no request: events that find the queue full are counted
 * instead of written.
 *
 * <p>Thread-safe.
 */
public final class TrafficRecording implements AutoCloseable {

  /** Records nothing. */
  public static final TrafficRecording NONE = new TrafficRecording(null, Path.of(""));

  private static final Logger LOG = LoggerFactory.getLogger(TrafficRecording.class);
  private static final int QUEUED_EVENTS = 1 << 14;

  /** A killed process loses the lines of this time at most. */
  private static final long FLUSH_NS = TimeUnit.MILLISECONDS.toNanos(500);

  /** How long a stop waits for the disk. */
  private static final long CLOSE_MS = 5_000;

  private final @Nullable EventRecorder recorder;
  private final Path file;
  private final RecordedBlocks recorded = new RecordedBlocks();

  /** Numbers of the ranks' next events, also of indexes that replace others. */
  private final Map<RankId, Long> numbers = new ConcurrentHashMap<>();

  private volatile boolean saidEnd;

  private TrafficRecording(@Nullable EventRecorder recorder, Path file) {
    this.recorder = recorder;
    this.file = file;
  }

  /**
   * Starts a recording.
   *
   * @param file the file, which is replaced if it exists
   * @param maxBytes its size at which the recording ends, give or take what is queued then
   * @return the recording; the caller closes it, after the gateway that records to it
   * @throws IOException if the file cannot be opened, or another process records to it
   */
  public static TrafficRecording open(Path file, long maxBytes) throws IOException {
    RecorderOptions options =
        new RecorderOptions(QUEUED_EVENTS, 0, FLUSH_NS, 0, 0, maxBytes, false);
    return new TrafficRecording(EventRecorder.open(file, options), file);
  }

  /** {@return whether there is a file} */
  public boolean records() {
    return recorder != null;
  }

  /**
   * Records a request. O(1).
   *
   * @param request the request, none of whose blocks counts as known
   */
  public void request(ServedRequest request) {
    if (recorder != null && !recorder.record(recorded.event(request)) && !saidEnd) {
      sayEnd(recorder);
    }
  }

  /**
   * {@return an index that records the block events that it gets; the same one where nothing is
   * recorded}
   *
   * @param index receives the events
   */
  public PrefixIndex following(PrefixIndex index) {
    return recorder == null ? index : new RecordedIndex(index, recorder, numbers);
  }

  /**
   * {@return events that were counted instead of written, since the queue was full or the recording
   * has ended}
   */
  public long dropped() {
    if (recorder == null) {
      return 0;
    }
    RecorderStats stats = recorder.stats();
    return stats.dropped() + stats.refused() + stats.lost();
  }

  private synchronized void sayEnd(EventRecorder of) {
    if (!saidEnd && of.ended()) {
      saidEnd = true;
      LOG.warn(
          "{}: the recording ends: {}",
          file,
          of.stats().failure().orElse("it has reached its largest size"));
    }
  }

  @Override
  public void close() {
    if (recorder != null) {
      try {
        recorder.closeWithin(CLOSE_MS);
      } catch (IOException e) {
        LOG.warn("{}", e.getMessage());
      }
    }
  }

  /** Numbers and records the events of each rank. */
  private static final class RecordedIndex extends ForwardingIndex {

    private final EventRecorder recorder;
    private final Map<RankId, Long> numbers;

    RecordedIndex(PrefixIndex index, EventRecorder recorder, Map<RankId, Long> numbers) {
      super(index);
      this.recorder = recorder;
      this.numbers = numbers;
    }

    /** An engine that restarts has lost its blocks. */
    @Override
    public void removeRank(RankId rank) {
      record(rank, new BlockEvent.Cleared());
      super.removeRank(rank);
    }

    @Override
    public ChangeStatus apply(RankId rank, BlockEvent event) {
      boolean recordable =
          !(event instanceof BlockEvent.Aliased)
              && !(event instanceof BlockEvent.GroupStored)
              && !(event instanceof BlockEvent.GroupRemoved)
              && !(event instanceof BlockEvent.Stored stored && stored.localHashes() == null);
      if (recordable) {
        record(rank, event);
      }
      return super.apply(rank, event);
    }

    private void record(RankId rank, BlockEvent event) {
      long number = numbers.merge(rank, 1L, Long::sum) - 1;
      boolean unused = recorder.record(new RankChange(rank, number, event));
    }
  }
}
