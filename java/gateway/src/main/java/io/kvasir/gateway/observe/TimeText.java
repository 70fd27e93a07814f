package io.kvasir.gateway.observe;

import java.time.Instant;

/**
 * Times as ISO 8601 has them, with six digits behind the second. What two times of one second share
 * is made once. Used by one thread.
 */
final class TimeText {

  private static final int NANOS_PER_MICRO = 1_000;
  private static final int DIGITS = 6;

  private long second = Long.MIN_VALUE;
  private String head = "";

  /** {@return a time in UTC, such as {@code 2026-03-01T12:00:00.004711Z}} */
  String text(Instant time) {
    if (time.getEpochSecond() != second) {
      second = time.getEpochSecond();
      String whole = Instant.ofEpochSecond(second).toString();
      head = whole.substring(0, whole.length() - 1) + '.';
    }
    String micros = Integer.toString(time.getNano() / NANOS_PER_MICRO);
    return head + "0".repeat(DIGITS - micros.length()) + micros + 'Z';
  }
}
