package io.kvasir.fleet.router;

import java.util.function.IntConsumer;

/**
 * Passes on the code points of texts, with a line feed between two texts.
 *
 * @param each receives one code point
 */
record CodePoints(IntConsumer each) implements TextSink {

  @Override
  public void accept(byte[] utf8, int from, int to) {
    int i = from;
    while (i < to) {
      int lead = utf8[i++];
      if (lead >= 0) {
        each.accept(lead);
        continue;
      }
      int tails = (lead & 0xff) < 0xe0 ? 1 : (lead & 0xff) < 0xf0 ? 2 : 3;
      int codePoint = lead & (0x3f >>> tails);
      for (int end = i + tails; i < end; i++) {
        codePoint = (codePoint << 6) | (utf8[i] & 0x3f);
      }
      each.accept(codePoint);
    }
  }

  @Override
  public void next() {
    each.accept('\n');
  }
}
