package io.kvasir.event;

/** Takes the numbered events of one rank. */
@FunctionalInterface
public interface BlockEventSink {

  /**
   * Takes an event.
   *
   * @param eventId its number in the rank's stream
   * @param event what changed
   */
  void onEvent(long eventId, BlockEvent event);
}
