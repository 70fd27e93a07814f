package io.kvasir.tokens.template.library;

import io.kvasir.tokens.template.python.TemplateFault;
import java.time.Clock;
import java.time.LocalDateTime;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.time.format.TextStyle;
import java.time.temporal.ChronoField;
import java.util.Locale;

/** {@code datetime.now().strftime(format)} with the names of the C locale. Stateless. */
final class StrftimeFormat {

  private StrftimeFormat() {}

  static String format(String format, Clock clock) {
    LocalDateTime now = ZonedDateTime.now(clock).toLocalDateTime();
    StringBuilder text = new StringBuilder();
    int at = 0;
    while (at < format.length()) {
      char c = format.charAt(at++);
      if (c != '%' || at >= format.length()) {
        text.append(c);
        continue;
      }
      char code = format.charAt(at++);
      boolean unpadded = code == '-' && at < format.length();
      text.append(unpadded ? unpadded(format.charAt(at++), now) : part(code, now));
    }
    return text.toString();
  }

  private static String unpadded(char code, LocalDateTime now) {
    if ("dmyHIMSj".indexOf(code) < 0) {
      throw TemplateFault.unsupported("%-" + code + " in strftime_now");
    }
    return String.valueOf(Integer.parseInt(part(code, now)));
  }

  private static String part(char code, LocalDateTime now) {
    return switch (code) {
      case 'Y' -> String.valueOf(now.getYear());
      case 'y' -> padded(now.getYear() % 100, 2);
      case 'm' -> padded(now.getMonthValue(), 2);
      case 'd' -> padded(now.getDayOfMonth(), 2);
      case 'e' -> String.format("%2d", now.getDayOfMonth());
      case 'j' -> padded(now.getDayOfYear(), 3);
      case 'H' -> padded(now.getHour(), 2);
      case 'I' -> padded(now.get(ChronoField.CLOCK_HOUR_OF_AMPM), 2);
      case 'M' -> padded(now.getMinute(), 2);
      case 'S' -> padded(now.getSecond(), 2);
      case 'f' -> padded(now.getNano() / 1000, 6);
      case 'p' -> now.getHour() < 12 ? "AM" : "PM";
      case 'B' -> now.getMonth().getDisplayName(TextStyle.FULL, Locale.ENGLISH);
      case 'b', 'h' -> part('B', now).substring(0, 3);
      case 'A' -> now.getDayOfWeek().getDisplayName(TextStyle.FULL, Locale.ENGLISH);
      case 'a' -> part('A', now).substring(0, 3);
      case 'u' -> String.valueOf(now.getDayOfWeek().getValue());
      case 'w' -> String.valueOf(now.getDayOfWeek().getValue() % 7);
      case 'F' -> DateTimeFormatter.ISO_LOCAL_DATE.format(now);
      case 'T' -> part('H', now) + ":" + part('M', now) + ":" + part('S', now);
      case 'R' -> part('H', now) + ":" + part('M', now);
      case 'D', 'x' -> part('m', now) + "/" + part('d', now) + "/" + part('y', now);
      case 'X' -> part('T', now);
      case 'Z', 'z' -> "";
      case 'n' -> "\n";
      case 't' -> "\t";
      case '%' -> "%";
      default -> throw TemplateFault.unsupported("%" + code + " in strftime_now");
    };
  }

  private static String padded(int number, int digits) {
    return String.format("%0" + digits + "d", number);
  }
}
