package io.kvasir.tokens.template.library;

/**
 * Characters that are digits, but of no decimal system: Unicode's Numeric_Type=Digit. Stateless.
 */
final class DigitRanges {

  private static final int[] FIRST_AND_LAST = {
    0xb2, 0xb3, 0xb9, 0xb9, 0x1369, 0x1371, 0x19da, 0x19da, 0x2070, 0x2070, 0x2074, 0x2079, 0x2080,
    0x2089, 0x2460, 0x2468, 0x2474, 0x247c, 0x2488, 0x2490, 0x24ea, 0x24ea, 0x24f5, 0x24fd, 0x24ff,
    0x24ff, 0x2776, 0x277e, 0x2780, 0x2788, 0x278a, 0x2792, 0x10a40, 0x10a43, 0x10e60, 0x10e68,
    0x11052, 0x1105a, 0x1f100, 0x1f10a
  };

  private DigitRanges() {}

  static boolean contains(int c) {
    for (int i = 0; i < FIRST_AND_LAST.length; i += 2) {
      if (c >= FIRST_AND_LAST[i] && c <= FIRST_AND_LAST[i + 1]) {
        return true;
      }
    }
    return false;
  }
}
