package io.kvasir.cli.top;

import java.util.Locale;

/** Numbers as the screen shows them; {@code -} for what is not known. Stateless. */
final class Amounts {

  static final String UNKNOWN = "-";

  private static final long MOST_DIGITS = 100_000;
  private static final double THOUSAND = 1e3;
  private static final double MILLION = 1e6;
  private static final double PERCENT = 100;
  private static final double EXACT = 9.95;
  private static final double LONG_MS = 1e4;
  private static final long MINUTE_S = 60;
  private static final long HOUR_S = 3_600;
  private static final long DAY_S = 86_400;

  private Amounts() {}

  /** A number of at least 0, in at most six characters up to a billion. */
  static String count(long value) {
    if (value < MOST_DIGITS) {
      return text("%,d", value);
    }
    return value < MILLION ? text("%.0fk", value / THOUSAND) : text("%.1fM", value / MILLION);
  }

  static String rate(double perSecond) {
    return Double.isNaN(perSecond) ? UNKNOWN : text("%.1f", perSecond);
  }

  static String share(double share) {
    double percent = share * PERCENT;
    return Double.isNaN(share)
        ? UNKNOWN
        : text(percent > 0 && percent < EXACT ? "%.1f %%" : "%.0f %%", percent);
  }

  static String ms(double ms) {
    if (Double.isNaN(ms)) {
      return UNKNOWN;
    }
    return ms >= LONG_MS
        ? text("%.1f s", ms / THOUSAND)
        : text(ms < EXACT ? "%.1f ms" : "%,.0f ms", ms);
  }

  /** How long something has lasted. */
  static String time(long seconds) {
    if (seconds < MINUTE_S) {
      return seconds + " s";
    }
    if (seconds < HOUR_S) {
      return seconds / MINUTE_S + " min " + seconds % MINUTE_S + " s";
    }
    return seconds < DAY_S
        ? seconds / HOUR_S + " h " + seconds % HOUR_S / MINUTE_S + " min"
        : seconds / DAY_S + " d " + seconds % DAY_S / HOUR_S + " h";
  }

  private static String text(String format, Object value) {
    return String.format(Locale.ROOT, format, value);
  }
}
