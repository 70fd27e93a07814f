package io.kvasir.fleet.router.booking;

import io.kvasir.fleet.index.ApproximateOptions;
import io.kvasir.fleet.load.ActiveSequencesOptions;
import java.util.Objects;

/**
 * Settings of a {@link BookingRouter}. Immutable.
 *
 * @param loads what counts as load
 * @param busyThresholds when ranks are overloaded
 * @param queue whether requests wait
 * @param explain whether placements list the costs that were compared
 * @param readsTokens whether callers should make tokens of prompts that have none
 * @param textTtlMs how long the text of a placed prompt counts as held, for requests without
 *     tokens, in milliseconds, at least 1
 */
public record BookingOptions(
    ActiveSequencesOptions loads,
    BusyThresholds busyThresholds,
    QueueOptions queue,
    boolean explain,
    boolean readsTokens,
    long textTtlMs) {

  /**
   * The default loads, no busy thresholds, no queue, no explanations; tokens, and texts for 600 s.
   */
  public static final BookingOptions DEFAULT =
      new BookingOptions(
          ActiveSequencesOptions.DEFAULT,
          BusyThresholds.NONE,
          QueueOptions.OFF,
          false,
          true,
          ApproximateOptions.TEXTS.ttlMs());

  /** Refuses nulls. */
  public BookingOptions {
    Objects.requireNonNull(loads, "loads");
    Objects.requireNonNull(busyThresholds, "busyThresholds");
    Objects.requireNonNull(queue, "queue");
  }

  /**
   * These options with other loads.
   *
   * @param value what counts as load
   * @return new options
   */
  public BookingOptions withLoads(ActiveSequencesOptions value) {
    return new BookingOptions(value, busyThresholds, queue, explain, readsTokens, textTtlMs);
  }

  /**
   * These options with other thresholds.
   *
   * @param value when ranks are overloaded
   * @return new options
   */
  public BookingOptions withBusyThresholds(BusyThresholds value) {
    return new BookingOptions(loads, value, queue, explain, readsTokens, textTtlMs);
  }

  /**
   * These options with another queue.
   *
   * @param value whether requests wait
   * @return new options
   */
  public BookingOptions withQueue(QueueOptions value) {
    return new BookingOptions(loads, busyThresholds, value, explain, readsTokens, textTtlMs);
  }

  /**
   * These options with or without explanations.
   *
   * @param value whether placements list the costs that were compared
   * @return new options
   */
  public BookingOptions withExplain(boolean value) {
    return new BookingOptions(loads, busyThresholds, queue, value, readsTokens, textTtlMs);
  }

  /**
   * These options for a policy that matches by placements and texts alone: callers make no tokens.
   *
   * @param ttlMs how long a placed prompt counts as held, in milliseconds, at least 1
   * @return new options
   */
  public BookingOptions byText(long ttlMs) {
    return new BookingOptions(loads, busyThresholds, queue, explain, false, ttlMs);
  }
}
