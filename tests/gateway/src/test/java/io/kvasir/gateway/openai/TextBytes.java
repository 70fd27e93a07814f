package io.kvasir.gateway.openai;

import io.kvasir.fleet.router.TextSink;
import java.io.ByteArrayOutputStream;

/** The UTF-8 of texts that a line feed joins; a surrogate without its pair has three bytes. */
final class TextBytes implements TextSink {

  private final ByteArrayOutputStream all = new ByteArrayOutputStream();

  static byte[] of(ScannedPrompt prompt) {
    TextBytes bytes = new TextBytes();
    prompt.forEachText(bytes);
    return bytes.all.toByteArray();
  }

  /** By the definition of UTF-8. */
  static byte[] of(String text) {
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    text.codePoints()
        .forEach(
            c -> {
              if (c < 0x80) {
                all.write(c);
              } else if (c < 0x800) {
                all.write(0xc0 | (c >> 6));
                all.write(0x80 | (c & 0x3f));
              } else {
                if (c < 0x10000) {
                  all.write(0xe0 | (c >> 12));
                } else {
                  all.write(0xf0 | (c >> 18));
                  all.write(0x80 | ((c >> 12) & 0x3f));
                }
                all.write(0x80 | ((c >> 6) & 0x3f));
                all.write(0x80 | (c & 0x3f));
              }
            });
    return all.toByteArray();
  }

  @Override
  public void accept(byte[] utf8, int from, int to) {
    all.write(utf8, from, to - from);
  }

  @Override
  public void next() {
    all.write('\n');
  }
}
