package io.kvasir.fleet.router.projected;

import io.kvasir.fleet.router.FleetRequest;
import io.kvasir.timing.TransferTime;
import it.unimi.dsi.fastutil.longs.Long2ObjectOpenHashMap;
import java.util.Comparator;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The times in which the KV of prompts moves, learned for each pair of a worker that computes
 * prompts and one that answers. A pair without observations is expected to be like the other pairs
 * of its prefill worker, or like all pairs if there are none.
 *
 * <p>The observation is the time from the placement of the answer, which follows the end of the
 * prompt, to its first token. The queue time and the first step that were forecast at the placement
 * are subtracted.
 *
 * <p>Holds one state for each pair that was observed, of ranks that are there. Not thread-safe.
 */
final class TransferTimes {

  private static final Logger LOG = LoggerFactory.getLogger(TransferTimes.class);

  /** Before any observation: 70,272 bytes a token over a link of 400 Gb/s. */
  static final double PRIOR_MS_PER_TOKEN = 70_272 / 50e6;

  /** Prefill workers whose times are kept; this router does not see their removal. */
  static final int MOST_PREFILL_WORKERS = 1_024;

  /** A pair that was not observed for so long is expected to be more like the others. */
  static final long UNSEEN_NS = 60_000_000_000L;

  private static final int MOST_RELAXED = 8;

  private final TransferTime common = new TransferTime(PRIOR_MS_PER_TOKEN);
  private final Long2ObjectOpenHashMap<Sender> senders = new Long2ObjectOpenHashMap<>();

  /** The times of one prefill worker. */
  private static final class Sender {
    private final long worker;
    private final TransferTime time;
    private final Long2ObjectOpenHashMap<Link> links = new Long2ObjectOpenHashMap<>();
    private long seenNs;

    Sender(long worker, TransferTime others) {
      this.worker = worker;
      this.time = new TransferTime(others);
    }

    long seenNs() {
      return seenNs;
    }
  }

  /** The times of one pair. */
  private static final class Link {
    private final TransferTime time;
    private long seenNs;

    Link(TransferTime others, long nowNs) {
      this.time = new TransferTime(others);
      this.seenNs = nowNs;
    }

    void relaxUnseen(TransferTime others, long nowNs) {
      for (int times = 0; times < MOST_RELAXED && nowNs - seenNs > UNSEEN_NS; times++) {
        time.relax(others);
        seenNs += UNSEEN_NS;
      }
    }
  }

  /**
   * The expected time of a transfer. O(1).
   *
   * @param prefillWorker the worker that has computed the prompt; {@link FleetRequest#NO_WORKER} if
   *     it is unknown
   * @param decodeWorker the worker that would answer
   * @param tokens the tokens whose KV it lacks
   * @param nowNs the time
   * @return milliseconds
   */
  double ms(long prefillWorker, long decodeWorker, long tokens, long nowNs) {
    Sender sender = senders.get(prefillWorker);
    if (sender == null) {
      return common.ms(tokens);
    }
    Link link = sender.links.get(decodeWorker);
    if (link == null) {
      return sender.time.ms(tokens);
    }
    link.relaxUnseen(sender.time, nowNs);
    return link.time.ms(tokens);
  }

  /**
   * Learns from a transfer.
   *
   * @param moved the transfer
   * @param ms the time from placement to first token
   * @param nowNs the time
   */
  void learn(Moved moved, double ms, long nowNs) {
    boolean sound = common.learn(moved.tokens(), moved.otherMs(), ms);
    if (moved.prefillWorker() != FleetRequest.NO_WORKER) {
      Sender sender = sender(moved.prefillWorker());
      sender.seenNs = nowNs;
      Link link = sender.links.get(moved.decodeWorker());
      if (link == null) {
        link = new Link(sender.time, nowNs);
        sender.links.put(moved.decodeWorker(), link);
      }
      link.relaxUnseen(sender.time, nowNs);
      link.seenNs = nowNs;
      sound &= link.time.learn(moved.tokens(), moved.otherMs(), ms);
      sound &= sender.time.learn(moved.tokens(), moved.otherMs(), ms);
    }
    if (!sound) {
      LOG.warn("learned times of transfers were not finite and begin again");
    }
  }

  private Sender sender(long worker) {
    Sender known = senders.get(worker);
    if (known == null) {
      if (senders.size() >= MOST_PREFILL_WORKERS) {
        dropOldest();
      }
      known = new Sender(worker, common);
      senders.put(worker, known);
    }
    return known;
  }

  private void dropOldest() {
    @Nullable Sender oldest =
        senders.values().stream().min(Comparator.comparingLong(Sender::seenNs)).orElse(null);
    if (oldest != null) {
      senders.remove(oldest.worker);
    }
  }

  /** A worker that answers is gone. O(prefill workers). */
  void forget(long decodeWorker) {
    senders.values().forEach(sender -> sender.links.remove(decodeWorker));
  }

  /** The number of pairs whose times are kept. */
  int pairs() {
    return senders.values().stream().mapToInt(sender -> sender.links.size()).sum();
  }

  /**
   * A prompt's KV that moves.
   *
   * @param prefillWorker the worker that has computed the prompt; {@link FleetRequest#NO_WORKER} if
   *     it is unknown
   * @param decodeWorker the worker that answers
   * @param tokens the tokens whose KV moves
   * @param otherMs what is expected to happen besides until the first token
   */
  record Moved(long prefillWorker, long decodeWorker, long tokens, double otherMs) {}
}
