package io.kvasir.gateway.openai;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;

/** Random JSON in any spelling: whitespace, escapes, Unicode, forms of numbers. */
final class RandomJson {

  private static final List<String> NUMBERS =
      List.of(
          "0", "-0", "7", "-12", "3.5", "1e5", "2E-3", "-0.0e+1", "123456789012345678901234567");
  private static final List<String> CHARACTERS =
      List.of("a", "Z", " ", "{", "}", "[", ",", ":", "ä", "日", "本", "🦊", "\u007f", "\u2028");
  private static final List<String> ESCAPES =
      List.of("\\n", "\\\"", "\\\\", "\\/", "\\u0041", "\\u00e9", "\\ud83e\\uDD8a", "\\ud800");

  private final Random random;

  RandomJson(Random random) {
    this.random = random;
  }

  /** One member of an object as it is written, without whitespace around it. */
  record Written(String key, String text, String value) {}

  Written member(String key, String value) {
    String text = spelled(key) + blank() + ":" + blank() + value;
    return new Written(key, text, value);
  }

  /** An object of these members, in this order. */
  String object(List<Written> members) {
    StringBuilder json = new StringBuilder(blank()).append('{').append(blank());
    for (int i = 0; i < members.size(); i++) {
      json.append(i == 0 ? "" : "," + blank()).append(members.get(i).text()).append(blank());
    }
    return json.append('}').append(blank()).toString();
  }

  String pick(List<String> values) {
    return values.get(random.nextInt(values.size()));
  }

  /** A key as a JSON string; now and then one of its letters is an escape. */
  String spelled(String key) {
    if (key.isEmpty() || random.nextInt(8) > 0) {
      return JsonText.quoted(key);
    }
    int at = random.nextInt(key.length());
    return "\"%s\\u%04x%s\""
        .formatted(key.substring(0, at), (int) key.charAt(at), key.substring(at + 1));
  }

  String blank() {
    return random.nextInt(4) > 0 ? "" : pick(List.of(" ", "\n", "\t", "\r\n", "   "));
  }

  String string() {
    StringBuilder text = new StringBuilder("\"");
    int length = random.nextInt(10) == 0 ? random.nextInt(100) : random.nextInt(12);
    for (int i = 0; i < length; i++) {
      text.append(
          switch (random.nextInt(10)) {
            case 0 -> pick(ESCAPES);
            case 1, 2 -> pick(CHARACTERS);
            default -> "x";
          });
    }
    return text.append('"').toString();
  }

  String value(int depth) {
    return switch (random.nextInt(depth > 0 ? 6 : 4)) {
      case 0 -> pick(List.of("null", "true", "false"));
      case 1 -> pick(NUMBERS);
      case 2, 3 -> string();
      case 4 -> array(random.nextInt(4), depth - 1);
      default -> {
        List<Written> members = new ArrayList<>();
        for (int i = random.nextInt(4); i > 0; i--) {
          members.add(
              member(pick(List.of("", "a", "b", "model", "usage", "text")), value(depth - 1)));
        }
        yield object(members).strip();
      }
    };
  }

  String array(int size, int depth) {
    List<String> elements = new ArrayList<>();
    for (int i = 0; i < size; i++) {
      elements.add(blank() + value(depth) + blank());
    }
    return "[" + String.join(",", elements) + "]";
  }

  /** A damaged copy: mostly no longer valid. */
  byte[] damaged(byte[] json) {
    int at = random.nextInt(json.length);
    int to = Math.min(json.length, at + random.nextInt(6));
    return switch (random.nextInt(11)) {
      case 0 -> Arrays.copyOf(json, at);
      case 1 -> spliced(json, at, to, new byte[0]);
      case 2 -> spliced(json, at, at, Arrays.copyOfRange(json, at, to));
      case 3 -> spliced(json, at, to, new byte[] {(byte) random.nextInt(256)});
      case 4 -> spliced(json, inString(json, at), inString(json, at), badUtf8());
      case 9, 10 ->
          spliced(
              json,
              beforeDigit(json, at),
              beforeDigit(json, at),
              bytes(pick(List.of("0", "-", ".", "1e"))));
      case 5 ->
          spliced(json, at, at, "[".repeat(random.nextInt(200)).getBytes(StandardCharsets.UTF_8));
      case 6 ->
          spliced(
              json,
              at,
              at,
              pick(List.of(
                      "\\", "\"", "\\u12", "0", "-", ".", "e", ",", "\u0000", "\t", "nul", "}", "]",
                      ":", "{}"))
                  .getBytes(StandardCharsets.UTF_8));
      case 7 -> {
        int other = random.nextInt(json.length);
        yield spliced(
            json, at, at, Arrays.copyOfRange(json, other, Math.min(json.length, other + 20)));
      }
      default -> {
        byte[] flipped = json.clone();
        flipped[at] ^= (byte) (1 << random.nextInt(8));
        yield flipped;
      }
    };
  }

  /** A sequence at an edge of UTF-8: too long, a surrogate, too large, cut, or valid. */
  private byte[] badUtf8() {
    int[] leads = {0x80, 0xbf, 0xc0, 0xc1, 0xc2, 0xdf, 0xe0, 0xed, 0xef, 0xf0, 0xf4, 0xf5, 0xff};
    int[] tails = {0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf};
    int lead = leads[random.nextInt(leads.length)];
    int length = lead < 0xc0 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
    byte[] bytes = new byte[random.nextInt(6) == 0 ? 1 + random.nextInt(4) : length];
    bytes[0] = (byte) lead;
    for (int i = 1; i < bytes.length; i++) {
      bytes[i] = (byte) (random.nextInt(20) == 0 ? 0xc0 : tails[random.nextInt(tails.length)]);
    }
    return bytes;
  }

  /** An index that is probably within a string. */
  private static int inString(byte[] json, int from) {
    for (int i = from; i < json.length; i++) {
      if (json[i] == 'x') {
        return i;
      }
    }
    return from;
  }

  private static int beforeDigit(byte[] json, int from) {
    for (int i = from; i < json.length; i++) {
      if (JsonCursor.isDigit(json[i])) {
        return i;
      }
    }
    return from;
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  private static byte[] spliced(byte[] json, int from, int to, byte[] part) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    out.write(json, 0, from);
    out.writeBytes(part);
    out.write(json, to, json.length - to);
    return out.toByteArray();
  }

  /** JSON without whitespace between its tokens. */
  static String minified(String json) {
    StringBuilder text = new StringBuilder();
    boolean inString = false;
    for (int i = 0; i < json.length(); i++) {
      char c = json.charAt(i);
      if (inString && c == '\\') {
        text.append(c).append(json.charAt(++i));
        continue;
      }
      inString ^= c == '"';
      if (inString || " \n\r\t".indexOf(c) < 0) {
        text.append(c);
      }
    }
    return text.toString();
  }
}
