package io.kvasir.gateway.openai;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * Finds a field in {@code application/x-www-form-urlencoded}, or in the query of a target. Pairs
 * end at ampersands and, as some readers have it, at semicolons.
 */
final class UrlEncodedField extends FormField {

  private static final int HEX = 16;

  private final byte[] name;
  private final byte[] kept = new byte[MAX_BYTES];

  /** Bytes of the name or of the value that have arrived. */
  private int length;

  private boolean inValue;

  /** Whether the pair is another field's. */
  private boolean skips;

  /** Digits of an escape that are still missing, and their value so far. */
  private int missing;

  private int escaped;

  /**
   * Begins a search.
   *
   * @param name the field's name
   */
  UrlEncodedField(String name) {
    this.name = name.getBytes(StandardCharsets.US_ASCII);
  }

  @Override
  void read(byte[] bytes, int from, int to) {
    for (int i = from; i < to && !isOver(); i++) {
      next(bytes[i]);
    }
  }

  private void next(byte next) {
    if (next == '&' || next == ';') {
      endPair();
    } else if (skips) {
      return;
    } else if (next == '=' && !inValue) {
      skips = !isNamed();
      inValue = true;
      length = 0;
    } else if (next == '%') {
      missing = 2;
      escaped = 0;
    } else if (missing > 0) {
      escaped = escaped * HEX + Math.max(0, Character.digit(next, HEX));
      missing--;
      if (missing == 0) {
        keep((byte) escaped);
      }
    } else {
      keep(next == '+' ? (byte) ' ' : next);
    }
  }

  private void keep(byte next) {
    if (length == kept.length) {
      skips = true; // too long for the field
      if (inValue) {
        onUnclear();
      }
    } else {
      kept[length++] = next;
    }
  }

  private boolean isNamed() {
    return Arrays.equals(kept, 0, length, name, 0, name.length);
  }

  private void endPair() {
    if (inValue && !skips) {
      found(kept, length);
    }
    inValue = false;
    skips = false;
    missing = 0;
    length = 0;
  }

  @Override
  public void end() {
    if (!isOver()) {
      endPair();
    }
    super.end();
  }
}
