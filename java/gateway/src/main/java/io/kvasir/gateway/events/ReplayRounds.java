package io.kvasir.gateway.events;

import io.kvasir.fleet.index.RecoverySource;
import io.kvasir.gateway.zmtp.ZmtpSocket;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Rounds of replay of one rank: questions that recover missing batches, fetch those that were
 * published before, and prove that an idle rank has published nothing.
 *
 * <p>A round asks for the batches from a number on, the last one received at the latest. If the
 * engine no longer has that one, it has started over. A round that ends without error may still
 * lack batches: vLLM's replay socket drops what exceeds its send limit. The next question asks for
 * those.
 *
 * <p>A round begins when batches are missing, when something is in doubt, or a second after the
 * last proof. After a round without an answer the next one waits, up to two seconds. A rank without
 * a replay socket has no rounds.
 *
 * <p>Confined to the thread of the {@link EventPump}.
 */
final class ReplayRounds {

  private static final long NONE = LiveStream.NONE;
  private static final long IDLE_LIMIT_NS = TimeUnit.SECONDS.toNanos(2);
  private static final long TOTAL_LIMIT_NS = TimeUnit.MINUTES.toNanos(2);
  private static final long PROOF_INTERVAL_NS = TimeUnit.SECONDS.toNanos(1);
  private static final long MAX_PAUSE_NS = TimeUnit.SECONDS.toNanos(2);

  /** A round that had more batches may have lost some to the engine's send limit. */
  private static final int SEND_LIMIT = 1_000;

  /** Rounds in a row without an answer after which missing batches count as gone. */
  private static final int MAX_FAILURES = 5;

  private final @Nullable ReplayClient client;
  private final LiveStream stream;
  private final Runnable startOver;

  private long provenNs;
  private boolean proven;
  private boolean silent;

  /** When something came from the replay socket, if anything ever did. */
  private long repliedNs;

  private boolean replied;

  /** Whether the engine has ever replayed the last batch: it keeps at least that one. */
  private boolean keepsLast;

  private @Nullable Round round;
  private long firstWanted;
  private RecoverySource.@Nullable Answer wanted;
  private int failures;
  private long notBeforeNs;
  private long pauseNs = PROOF_INTERVAL_NS / 4;
  private long ended;
  private long invalidMessages;

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
   * Begins without a question.
   *
   * @param client asks the engine; null if the rank has no replay socket
   * @param stream takes what is replayed
   * @param startOver forgets everything received, and calls {@link #forget}
   */
  ReplayRounds(@Nullable ReplayClient client, LiveStream stream, Runnable startOver, long nowNs) {
    this.client = client;
    this.stream = stream;
    this.startOver = startOver;
    this.notBeforeNs = nowNs;
  }

  /** Whether {@link #receive} may find something now. */
  boolean isReadable() {
    ZmtpSocket socket = client == null ? null : client.socket();
    return socket != null && socket.isReadable();
  }

  /** Whether nothing is missing, as far as is known. */
  boolean proven() {
    return proven;
  }

  /** Whether the engine does not answer. */
  boolean silent() {
    return silent;
  }

  /** Whether batches are missing. */
  boolean asked() {
    return wanted != null;
  }

  /** Whether the engine has ever answered. */
  boolean replied() {
    return replied;
  }

  /** Whether the engine has answered since a time. */
  boolean repliedSince(long ns) {
    return replied && repliedNs - ns >= 0;
  }

  /** Rounds that ended with an answer. */
  long ended() {
    return ended;
  }

  /** Messages of the replay socket that were no answers. */
  long invalidMessages() {
    return invalidMessages;
  }

  /** Nothing is missing now. */
  void prove(long nowNs) {
    proven = true;
    silent = false;
    provenNs = nowNs;
  }

  /** There is a new doubt. */
  void disprove() {
    proven = false;
  }

  /** Recovers batches, from the first missing one on. */
  void recover(long first, RecoverySource.Answer answer) {
    if (client == null) {
      answer.gone();
      return;
    }
    firstWanted = first;
    wanted = answer;
  }

  /** Forgets questions and proofs: the engine has started over. */
  void forget() {
    keepsLast = false;
    wanted = null;
    proven = false;
    endRound();
  }

  private void endRound() {
    if (round != null && client != null) {
      round = null;
      client.reset(); // replies to the old question must not be taken for the next one's
    }
  }

  /** Starts a round if one is due, and ends one that takes too long. */
  void tick(long nowNs) {
    if (client == null) {
      silent = false;
      return;
    }
    Round running = round;
    client.tick(nowNs);
    if (running != null) {
      if (nowNs - running.repliedNs > IDLE_LIMIT_NS || nowNs - running.startNs > TOTAL_LIMIT_NS) {
        fail(nowNs);
      }
    } else if (nowNs - notBeforeNs >= 0
        && (wanted != null || !proven || nowNs - provenNs >= PROOF_INTERVAL_NS)) {
      begin(client, nowNs);
    }
  }

  /** Asks nothing for a while, because something failed on this side. */
  void pause(long nowNs) {
    endRound();
    silent = true;
    notBeforeNs = nowNs + MAX_PAUSE_NS;
  }

  private void begin(ReplayClient to, long nowNs) {
    long last = stream.last();
    long unconfirmed = stream.unconfirmed();
    long from = wanted == null ? Math.max(last, 0) : firstWanted;
    if (last >= 0) {
      from = Math.min(from, unconfirmed == NONE ? last : unconfirmed);
    }
    if (to.ask(from, nowNs)) {
      round = new Round(from, last, unconfirmed, nowNs);
    } else {
      to.reset();
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
    if (failures >= MAX_FAILURES && stream.lastIsLive()) { // only the replay socket is dead
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
  boolean receive(long nowNs) {
    if (client == null) {
      return false;
    }
    ReplayClient.Reply reply = client.receive();
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
      onReplayed(running, client.number(), client.takePayload());
    } else {
      onEnd(client, running, nowNs);
    }
    return true;
  }

  private void onReplayed(Round running, long number, byte[] payload) {
    if (number < running.from || number <= running.highest) {
      invalidMessages++;
      return;
    }
    if (stream.differs(number, payload)) {
      startOver.run();
      return;
    }
    keepsLast |= number >= stream.last();
    running.replies++;
    running.highest = number;
    if (stream.confirms(number)) {
      return;
    }
    running.lowest = running.lowest == NONE ? number : running.lowest;
    stream.cover(number);
    if (number != running.lastBefore || wanted != null) {
      stream.onReplayed(number, payload);
    }
  }

  private void onEnd(ReplayClient to, Round over, long nowNs) {
    round = null;
    ended++;
    failures = 0;
    pauseNs = PROOF_INTERVAL_NS / 4;
    RecoverySource.Answer asked = wanted;
    boolean lacksLast = over.highest < over.lastBefore && over.replies < SEND_LIMIT;
    boolean unknown = // the engine no longer keeps the batch that would settle it
        over.confirms != NONE && over.confirms == stream.unconfirmed() && over.replies < SEND_LIMIT;
    if ((lacksLast || (unknown && asked == null)) && (over.replies > 0 || keepsLast)) {
      startOver.run();
      begin(to, nowNs);
      return;
    }
    if (unknown) {
      stream.endDoubt();
    }
    if (stream.unconfirmed() == NONE) {
      prove(nowNs);
    }
    if (asked == null) {
      return;
    }
    if (over.from > firstWanted) { // it began before the question
      begin(to, nowNs);
      return;
    }
    wanted = null;
    if (!unknown && over.lowest >= 0 && over.lowest <= firstWanted) {
      asked.delivered();
    } else { // the send limit never costs the first batches, so the engine no longer has them
      asked.gone();
    }
  }

  /** Closes the socket. */
  void close() {
    if (client != null) {
      client.reset();
    }
  }
}
