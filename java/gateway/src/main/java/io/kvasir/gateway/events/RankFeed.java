package io.kvasir.gateway.events;

import io.kvasir.fleet.index.RecoverySource;
import io.kvasir.gateway.zmtp.ZmtpLoop;
import io.kvasir.gateway.zmtp.ZmtpSocket;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The event stream of one rank: its live batches, and rounds of replay that recover missing ones,
 * fetch what was published before, and prove that an idle rank has published nothing.
 *
 * <p>A round asks for the batches from a number on, the last one received at the latest. If the
 * engine no longer has that one, or has other bytes under its number, it has started over. The same
 * follows from a live number that is not above the last live one. A gap in the live numbers, or a
 * lost connection, leaves open whether the batches after it come from the same process, even if
 * their numbers continue: the next round asks for the batch before it. A round that ends without
 * error may still lack batches: vLLM's replay socket drops what exceeds its send limit. The next
 * question asks for those.
 *
 * <p>A rank is proven to be there by anything that its publisher sends, heartbeats among them, or
 * by an answer of its replay socket. Without a proof for ten seconds its events may have stopped:
 * the sink is notified.
 *
 * <p>Confined to the thread of the {@link EventPump}, except for {@link #status}.
 */
final class RankFeed implements BatchSink.Feed {

  private static final long NONE = -1;
  private static final long IDLE_LIMIT_NS = TimeUnit.SECONDS.toNanos(2);
  private static final long TOTAL_LIMIT_NS = TimeUnit.MINUTES.toNanos(2);
  private static final long PROOF_INTERVAL_NS = TimeUnit.SECONDS.toNanos(1);
  private static final long MAX_PAUSE_NS = TimeUnit.SECONDS.toNanos(2);

  /** A round that had more batches may have lost some to the engine's send limit. */
  private static final int SEND_LIMIT = 1_000;

  /** Rounds in a row without an answer after which missing batches count as gone. */
  private static final int MAX_FAILURES = 5;

  private final FeedSpec spec;
  private final BatchSink sink;
  private final long proofNs;
  private final LiveClient live;
  private final @Nullable ReplayClient replay;

  private long last = NONE;
  private long lastDigest;
  private long lastLive = NONE;

  /** The batch before a gap or a lost connection, until a replay has confirmed it; or none. */
  private long unconfirmed = NONE;

  private long unconfirmedDigest;

  /** The highest number that a replay delivered. Live batches up to it have been taken already. */
  private long covered = NONE;

  private long provenNs;
  private boolean proven;
  private boolean silent;

  /** When something came from the replay socket, if anything ever did. */
  private long repliedNs;

  private boolean replied;

  /** Whether the proof that the rank's events go on is too old. */
  private boolean gone;

  /** Whether the engine has ever replayed the last batch: it keeps at least that one. */
  private boolean keepsLast;

  private @Nullable Round round;
  private long firstWanted;
  private RecoverySource.@Nullable Answer wanted;
  private int failures;
  private long notBeforeNs;
  private long pauseNs = PROOF_INTERVAL_NS / 4;

  private long batches;
  private long replays;
  private long replayedBatches;
  private long restarts;
  private long invalidMessages;
  private volatile FeedStatus status = FeedStatus.NONE;

  /** One question to the replay socket. */
  private static final class Round {
    final long from;
    final long lastBefore;
    final long confirms;
    final long startNs;
    long repliedNs;
    long lowest = NONE;
    long highest = NONE;
    int replies;

    Round(long from, long lastBefore, long confirms, long startNs) {
      this.from = from;
      this.lastBefore = lastBefore;
      this.confirms = confirms;
      this.startNs = startNs;
      this.repliedNs = startNs;
    }
  }

  /**
   * Opens the sockets of a rank.
   *
   * @param proofNs how long the rank counts as proven after the last sign of it
   * @throws IOException if the rank's endpoint is to be bound and cannot be
   */
  RankFeed(FeedSpec spec, BatchSink sink, ZmtpLoop loop, HostNames names, long nowNs, long proofNs)
      throws IOException {
    this.spec = spec;
    this.sink = sink;
    this.proofNs = proofNs;
    this.live = new LiveClient(spec, loop, names);
    this.replay = spec.replay() == null ? null : new ReplayClient(loop, names, spec.replay());
    this.notBeforeNs = nowNs;
    sink.recoverFrom(this);
    sink.onProven(true);
  }

  FeedSpec spec() {
    return spec;
  }

  /** Whether {@link #receiveLive} may find something now. */
  boolean isLiveReadable() {
    return live.socket().isReadable();
  }

  /** Whether {@link #receiveReplay} may find something now. */
  boolean isReplayReadable() {
    ZmtpSocket socket = replay == null ? null : replay.socket();
    return socket != null && socket.isReadable();
  }

  /** A snapshot. Any thread. */
  FeedStatus status() {
    return status;
  }

  // ---- live batches -------------------------------------------------------------------------

  /**
   * Takes one live message, or a part of one.
   *
   * @return false if there is nothing now
   */
  boolean receiveLive(long nowNs) {
    switch (live.receive()) {
      case NONE -> {
        return false;
      }
      case OTHER -> {}
      case BATCH -> onLive(live.number(), live.takePayload(), nowNs);
      case INVALID -> invalidMessages++;
    }
    return true;
  }

  private void onLive(long number, byte[] payload, long nowNs) {
    if (number <= lastLive) {
      startOver();
    }
    boolean reconnected = live.socket().wasDisconnected();
    boolean next = number == Math.max(last, lastLive) + 1 && !reconnected;
    if (last >= 0 && (reconnected || number > last + 1)) {
      doubt();
    }
    lastLive = number;
    if (number > covered) {
      take(number, payload);
      if (next) {
        prove(nowNs);
      }
    }
  }

  /** Has the last batch confirmed by a replay, before others count as its continuation. */
  private void doubt() {
    if (unconfirmed == NONE && replay != null) {
      unconfirmed = last;
      unconfirmedDigest = lastDigest;
      proven = false;
    }
  }

  private void take(long number, byte[] payload) {
    if (sink.onBatch(number, payload, replay == null)) {
      taken(number, payload);
    } else {
      invalidMessages++; // the replay has another copy
    }
  }

  private void taken(long number, byte[] payload) {
    batches++;
    if (number > last) {
      last = number;
      lastDigest = digest(payload);
    }
  }

  /** Forgets everything received: the engine has restarted, or a batch could not be applied. */
  void startOver() {
    restarts++;
    last = NONE;
    lastLive = NONE;
    unconfirmed = NONE;
    covered = NONE;
    keepsLast = false;
    wanted = null;
    proven = false;
    endRound();
    sink.onRestart();
  }

  private void endRound() {
    if (round != null && replay != null) {
      round = null;
      replay.reset(); // replies to the old question must not be taken for the next one's
    }
  }

  private void prove(long nowNs) {
    proven = true;
    silent = false;
    provenNs = nowNs;
  }

  // ---- replay -------------------------------------------------------------------------------

  @Override
  public void recover(long first, RecoverySource.Answer answer) {
    if (replay == null) {
      answer.gone();
      return;
    }
    firstWanted = first;
    wanted = answer;
  }

  /** Connects where needed. Starts a round if one is due, and ends one that takes too long. */
  void tick(long nowNs) {
    live.tick(nowNs);
    Round running = round;
    if (replay != null) {
      replay.tick(nowNs);
    }
    if (replay == null) {
      silent = false;
    } else if (running != null) {
      if (nowNs - running.repliedNs > IDLE_LIMIT_NS || nowNs - running.startNs > TOTAL_LIMIT_NS) {
        fail(nowNs);
      }
    } else if (nowNs - notBeforeNs >= 0
        && (wanted != null || !proven || nowNs - provenNs >= PROOF_INTERVAL_NS)) {
      begin(nowNs);
    }
    publish(nowNs);
  }

  /** Asks nothing for a while, because something failed on this side. */
  void pause(long nowNs) {
    endRound();
    silent = true;
    notBeforeNs = nowNs + MAX_PAUSE_NS;
    publish(nowNs);
  }

  private void begin(long nowNs) {
    ReplayClient client = replay;
    if (client == null) {
      return;
    }
    long from = wanted == null ? Math.max(last, 0) : firstWanted;
    if (last >= 0) {
      from = Math.min(from, unconfirmed == NONE ? last : unconfirmed);
    }
    if (client.ask(from, nowNs)) {
      round = new Round(from, last, unconfirmed, nowNs);
    } else {
      client.reset();
      notBeforeNs = nowNs + pauseNs;
    }
  }

  private void fail(long nowNs) {
    endRound();
    silent = true;
    pauseNs = Math.min(2 * pauseNs, MAX_PAUSE_NS);
    notBeforeNs = nowNs + pauseNs;
    failures++;
    RecoverySource.Answer asked = wanted;
    wanted = null;
    if (asked == null) {
      return;
    }
    if (failures >= MAX_FAILURES && lastLive == last) { // only the replay socket is dead
      asked.gone();
    } else {
      asked.failed();
    }
  }

  /**
   * Takes one message of the replay socket, or a part of one.
   *
   * @return false if there is nothing now
   */
  boolean receiveReplay(long nowNs) {
    if (replay == null) {
      return false;
    }
    ReplayClient.Reply reply = replay.receive();
    if (reply == ReplayClient.Reply.NONE || reply == ReplayClient.Reply.OTHER) {
      return reply == ReplayClient.Reply.OTHER;
    }
    repliedNs = nowNs;
    replied = true;
    Round running = round;
    if (reply == ReplayClient.Reply.PART) {
      if (running != null) {
        running.repliedNs = nowNs;
      }
      return true;
    }
    if (reply == ReplayClient.Reply.INVALID || running == null) {
      invalidMessages++;
      return true;
    }
    running.repliedNs = nowNs;
    if (reply == ReplayClient.Reply.BATCH) {
      onReplayed(running, replay.number(), replay.takePayload());
    } else {
      onEnd(running, nowNs);
    }
    return true;
  }

  private void onReplayed(Round running, long number, byte[] payload) {
    if (number < running.from || number <= running.highest) {
      invalidMessages++;
      return;
    }
    boolean differs =
        (number == last && digest(payload) != lastDigest)
            || (number == unconfirmed && digest(payload) != unconfirmedDigest);
    if (differs) {
      startOver();
      return;
    }
    keepsLast |= number >= last;
    running.replies++;
    running.highest = number;
    if (number == unconfirmed) {
      unconfirmed = NONE;
      return; // it has been taken
    }
    running.lowest = running.lowest == NONE ? number : running.lowest;
    if (number > covered) {
      covered = number;
    }
    if (number != running.lastBefore || wanted != null) {
      replayedBatches++;
      sink.onBatch(number, payload, true);
      taken(number, payload);
    }
  }

  private void onEnd(Round ended, long nowNs) {
    round = null;
    replays++;
    failures = 0;
    pauseNs = PROOF_INTERVAL_NS / 4;
    RecoverySource.Answer asked = wanted;
    boolean lacksLast = ended.highest < ended.lastBefore && ended.replies < SEND_LIMIT;
    boolean unknown = // the engine no longer keeps the batch that would tell
        ended.confirms != NONE && ended.confirms == unconfirmed && ended.replies < SEND_LIMIT;
    if ((lacksLast || (unknown && asked == null)) && (ended.replies > 0 || keepsLast)) {
      startOver();
      begin(nowNs);
      return;
    }
    if (unknown) {
      unconfirmed = NONE;
    }
    if (unconfirmed == NONE) {
      prove(nowNs);
    }
    if (asked == null) {
      return;
    }
    if (ended.from > firstWanted) { // it began before the question
      begin(nowNs);
      return;
    }
    wanted = null;
    if (!unknown && ended.lowest >= 0 && ended.lowest <= firstWanted) {
      asked.delivered();
    } else { // the send limit never costs the first batches, so the engine no longer has them
      asked.gone();
    }
  }

  private static long digest(byte[] payload) {
    long hash = payload.length;
    int at = 0;
    ByteBuffer words = ByteBuffer.wrap(payload);
    for (; at + Long.BYTES <= payload.length; at += Long.BYTES) {
      hash = (hash ^ words.getLong(at)) * 0x9E3779B97F4A7C15L;
      hash ^= hash >>> 29;
    }
    for (; at < payload.length; at++) {
      hash = (hash ^ payload[at]) * 0x9E3779B97F4A7C15L;
    }
    return hash ^ hash >>> 32;
  }

  private void publish(long nowNs) {
    long sinceNs = nowNs - proofNs;
    boolean known = replied || live.socket().wasConnected();
    boolean nowGone =
        known && !live.socket().isProven(sinceNs) && !(replied && repliedNs - sinceNs >= 0);
    if (nowGone != gone) {
      gone = nowGone;
      sink.onProven(!gone);
    }
    status =
        new FeedStatus(
            state(),
            last,
            batches,
            replays,
            replayedBatches,
            restarts,
            invalidMessages,
            live.socket().dropped());
  }

  private FeedState state() {
    if (gone) {
      return FeedState.DISCONNECTED;
    }
    if (silent) {
      return FeedState.SILENT;
    }
    if (wanted != null) {
      return FeedState.REPLAYING;
    }
    return proven || last >= 0 ? FeedState.LIVE : FeedState.CONNECTING;
  }

  /** Closes the sockets. */
  void close() {
    live.close();
    if (replay != null) {
      replay.reset();
    }
  }
}
