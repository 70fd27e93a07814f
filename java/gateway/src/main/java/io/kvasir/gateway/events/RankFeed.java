package io.kvasir.gateway.events;

import io.kvasir.fleet.index.RecoverySource;
import io.kvasir.gateway.zmtp.ZmtpLoop;
import java.io.IOException;

/**
 * The event stream of one rank: its sockets, the numbers of its batches ({@link LiveStream}), and
 * the questions about missing ones ({@link ReplayRounds}). The first of these states that applies
 * is the stream's ({@link FeedState#FAILED} is that of an index):
 *
 * <pre>
 * state         holds while                                          ends with
 * disconnected  for ten seconds neither a batch nor a heartbeat nor  any of these
 *               an answer of the replay socket has come; the sink
 *               is notified
 * silent        the replay socket has not answered the last round,   a round with an answer, or the
 *               or something failed on this side                     next live batch without a gap
 * replaying     batches are missing and were asked for               the end of the round
 * live          a batch has arrived, or a round has shown that       a restart of the engine
 *               there is none
 * connecting    nothing has arrived                                  the first batch or round
 * </pre>
 *
 * <p>A restart of the engine forgets all numbers and questions, whichever of the two parts notices
 * it.
 *
 * <p>Confined to the thread of the {@link EventPump}, except for {@link #status}.
 */
final class RankFeed implements BatchSink.Feed {

  private final FeedSpec spec;
  private final BatchSink sink;
  private final long proofNs;
  private final LiveClient live;
  private final LiveStream stream;
  private final ReplayRounds rounds;

  /** Whether the proof that the rank's events go on is too old. */
  private boolean gone;

  private long invalidMessages;
  private volatile FeedStatus status = FeedStatus.NONE;

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
    String endpoint = spec.replay();
    ReplayClient replay = endpoint == null ? null : new ReplayClient(loop, names, endpoint);
    this.stream = new LiveStream(sink, replay != null);
    this.rounds = new ReplayRounds(replay, stream, this::startOver, nowNs);
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
    return rounds.isReadable();
  }

  /** A snapshot. Any thread. */
  FeedStatus status() {
    return status;
  }

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
    if (stream.startsOver(number)) {
      startOver();
    }
    boolean reconnected = live.socket().wasDisconnected();
    if (stream.doubts(number, reconnected)) {
      rounds.disprove();
    }
    if (stream.onLive(number, payload, reconnected)) {
      rounds.prove(nowNs);
    }
  }

  /**
   * Takes one message of the replay socket, or a part of one.
   *
   * @return false if there is nothing now
   */
  boolean receiveReplay(long nowNs) {
    return rounds.receive(nowNs);
  }

  @Override
  public void recover(long first, RecoverySource.Answer answer) {
    rounds.recover(first, answer);
  }

  /** Forgets everything received: the engine has restarted, or a batch could not be applied. */
  void startOver() {
    stream.startOver();
    rounds.forget();
    sink.onRestart();
  }

  /** Connects where needed. Starts a round if one is due, and ends one that takes too long. */
  void tick(long nowNs) {
    live.tick(nowNs);
    rounds.tick(nowNs);
    publish(nowNs);
  }

  /** Asks nothing for a while, because something failed on this side. */
  void pause(long nowNs) {
    rounds.pause(nowNs);
    publish(nowNs);
  }

  private void publish(long nowNs) {
    long sinceNs = nowNs - proofNs;
    boolean known = rounds.replied() || live.socket().wasConnected();
    boolean nowGone = known && !live.socket().isProven(sinceNs) && !rounds.repliedSince(sinceNs);
    if (nowGone != gone) {
      gone = nowGone;
      sink.onProven(!gone);
    }
    status =
        new FeedStatus(
            state(),
            stream.last(),
            stream.batches(),
            rounds.ended(),
            stream.replayedBatches(),
            stream.restarts(),
            invalidMessages + stream.unreadable() + rounds.invalidMessages(),
            live.socket().dropped());
  }

  private FeedState state() {
    if (gone) {
      return FeedState.DISCONNECTED;
    }
    if (rounds.silent()) {
      return FeedState.SILENT;
    }
    if (rounds.asked()) {
      return FeedState.REPLAYING;
    }
    return rounds.proven() || stream.last() >= 0 ? FeedState.LIVE : FeedState.CONNECTING;
  }

  /** Closes the sockets. */
  void close() {
    live.close();
    rounds.close();
  }
}
