package io.kvasir.gateway.events;

/**
 * The event stream of a rank at one time. Immutable.
 *
 * @param state how much is certain
 * @param lastNumber the highest number received; -1 if none was
 * @param batches batches taken, replayed ones included
 * @param replays rounds of replay that ended
 * @param replayedBatches batches that came by replay first
 * @param restarts times that the engine started over
 * @param invalidMessages messages that were no batches
 * @param droppedConnections connections that ended because the publisher exceeded a bound or broke
 *     the protocol
 */
public record FeedStatus(
    FeedState state,
    long lastNumber,
    long batches,
    long replays,
    long replayedBatches,
    long restarts,
    long invalidMessages,
    long droppedConnections) {

  /** Nothing has been received yet. */
  static final FeedStatus NONE = new FeedStatus(FeedState.CONNECTING, -1, 0, 0, 0, 0, 0, 0);

  /** The same with another state. */
  FeedStatus in(FeedState other) {
    return new FeedStatus(
        other,
        lastNumber,
        batches,
        replays,
        replayedBatches,
        restarts,
        invalidMessages,
        droppedConnections);
  }
}
