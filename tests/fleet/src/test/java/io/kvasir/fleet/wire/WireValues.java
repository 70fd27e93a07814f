package io.kvasir.fleet.wire;

import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;

/** The single values of a batch by the rules of the decoder, slow and plain. */
final class WireValues {

  private static final int MAX_DEPTH = 16;

  private WireValues() {}

  static final class Refusal extends Exception {
    private static final long serialVersionUID = 1;

    final SkipCause skipCause;

    Refusal(SkipCause skipCause) {
      super(skipCause.name());
      this.skipCause = skipCause;
    }
  }

  static Refusal wrongType() {
    return new Refusal(SkipCause.WRONG_TYPE);
  }

  static String lowerCase(String text) {
    StringBuilder lower = new StringBuilder(text);
    for (int i = 0; i < text.length(); i++) {
      if (text.charAt(i) >= 'A' && text.charAt(i) <= 'Z') {
        lower.setCharAt(i, (char) (text.charAt(i) + 'a' - 'A'));
      }
    }
    return lower.toString();
  }

  /** Texts are kept byte by byte; shown as the bytes say. */
  static String shown(String text) {
    return new String(text.getBytes(StandardCharsets.ISO_8859_1), StandardCharsets.UTF_8);
  }

  static WireTree.Node ignore(WireTree.Node node) throws Refusal {
    if (node.height() > MAX_DEPTH) {
      throw new Refusal(SkipCause.NESTED);
    }
    return node;
  }

  static List<WireTree.Node> list(WireTree.Node node, int most, boolean optional) throws Refusal {
    if (!node.isArray() && !(optional && node.isNil())) {
      throw wrongType();
    }
    if (node.count > most) {
      throw new Refusal(SkipCause.TOO_LARGE);
    }
    return node.children;
  }

  static int small(WireTree.Node node, int most) throws Refusal {
    if (node.isNil()) {
      return -1;
    }
    if (!(node.value instanceof BigInteger number)
        || number.signum() < 0
        || number.compareTo(BigInteger.valueOf(most)) > 0) {
      throw wrongType();
    }
    return number.intValueExact();
  }

  static String text(WireTree.Node node) throws Refusal {
    if (node.isNil()) {
      return "";
    }
    if (!(node.value instanceof String text)) {
      throw wrongType();
    }
    if (text.length() > WireDecoder.MAX_TEXT_BYTES) {
      throw new Refusal(SkipCause.TOO_LARGE);
    }
    return text;
  }

  static long hash(WireTree.Node node) throws Refusal {
    if (node.value instanceof BigInteger number) {
      return number.longValue();
    }
    if (node.value instanceof String text && text.matches("(?s).*[0-9a-fA-F]{16}")) {
      return HexFormat.fromHexDigitsToLong(text, text.length() - 16, text.length());
    }
    byte[] bytes =
        node.value instanceof String text
            ? text.getBytes(StandardCharsets.ISO_8859_1)
            : node.value instanceof byte[] given ? given : new byte[0];
    if (bytes.length == 0) {
      throw wrongType();
    }
    return new BigInteger(1, Arrays.copyOfRange(bytes, Math.max(0, bytes.length - 8), bytes.length))
        .longValue();
  }
}
