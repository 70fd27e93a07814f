package io.kvasir.tokens.tokenizer;

import java.util.List;
import java.util.Random;

/** Random texts of code, languages, marks, broken UTF-16 and look-alikes of added tokens. */
final class MixedText {

  private static final List<String> PARTS =
      List.of(
          "<|im_start|>",
          "<|im_end|>",
          "<|im_start",
          "|im_end|>",
          "<|im_",
          "<|",
          "|>",
          "<",
          ">",
          "< |im_end|>",
          "<|im_end|>\n<|im_start|>user\n",
          "<|im_start|>assistant\n",
          "</s>",
          "<s>",
          "<mark>",
          " <mark> ",
          "\n\n",
          "\n",
          "\r\n",
          "\t",
          " ",
          "  ",
          "        ",
          "\n \n",
          " \n",
          "\u00a0",
          "\u2028",
          "\u3000",
          "\u0085",
          "\u200b",
          "\u0000",
          "\u0007",
          "\u001f",
          "the quick brown fox",
          " doesn't",
          "'LL",
          "'\u017f",
          " it's",
          "you're",
          "I'VE",
          "naïve café",
          "public static void main(String[] args) {\n    return x.y(z) != null ? 0x1F : -1;\n}",
          "def f(a, b=None):\n\treturn {k: v for k, v in a.items()}\n",
          "http://example.org/a?b=c#d",
          "你好，世界！",
          "これはテストです。",
          "안녕하세요",
          "Привет, мир",
          "مرحبا بالعالم",
          "שלום",
          "नमस्ते",
          "ไทย",
          "e\u0301",
          "a\u030a\u0323",
          "\u0301",
          "\u212b",
          "\u1100\u1161",
          "ﬁ",
          "Ǆ",
          "ß",
          "İ",
          "😀",
          "👩‍👩‍👧‍👦",
          "🇩🇪",
          "👍🏽",
          "\ud83d",
          "\ude00",
          "\ude00\ud83d",
          "𝒳𝒴",
          "𠮷",
          "1",
          "12",
          "1234567",
          "٣٤",
          "½",
          "Ⅷ",
          "²",
          "...",
          "!!!",
          "=>",
          "/*",
          "*/",
          "//",
          "%%",
          "_",
          "-",
          "\"",
          "'",
          "''",
          "▁",
          "▁▁a",
          "Ġthe",
          "##ing",
          "[MASK]",
          "[UNK]",
          "<unk>",
          "<0x41>");

  private MixedText() {}

  /** A text of at least so many UTF-16 units. */
  static String of(Random random, int chars) {
    StringBuilder text = new StringBuilder(chars + 128);
    while (text.length() < chars) {
      if (random.nextInt(8) == 0) {
        text.appendCodePoint(random.nextInt(random.nextBoolean() ? 0x80 : 0x3000));
      } else {
        text.append(PARTS.get(random.nextInt(PARTS.size())));
      }
    }
    return text.toString();
  }
}
