package io.kvasir.fleet.wire;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import org.junit.jupiter.api.Test;
import org.msgpack.core.MessageBufferPacker;
import org.msgpack.core.MessagePack;

/**
 * The engines' own hashes of tokens 1 to 8 in blocks of 4, computed here by their rules. Handles
 * are opaque to Kvasir, but a handle must be the same whether an engine sends bytes or a number.
 */
class EngineHashesTest {

  private static final HexFormat HEX = HexFormat.of();
  private static final byte[] NO_EXTRA_KEYS = {(byte) 0xf6}; // null in CBOR

  private static byte[] sha256(byte[]... parts) {
    try {
      MessageDigest sum = MessageDigest.getInstance("SHA-256");
      for (byte[] part : parts) {
        sum.update(part);
      }
      return sum.digest();
    } catch (NoSuchAlgorithmException e) {
      throw new AssertionError(e);
    }
  }

  /** vLLM's sha256_cbor: of the array of parent, tokens and extra keys. */
  private static byte[] vllm(byte[] parent, int firstToken, byte[] extraKeys) {
    ByteArrayOutputStream cbor = new ByteArrayOutputStream();
    cbor.writeBytes(new byte[] {(byte) 0x83, 0x58, 0x20});
    cbor.writeBytes(parent);
    cbor.write(0x84);
    for (int token = firstToken; token < firstToken + 4; token++) {
      cbor.write(token); // below 24 a number is its own code
    }
    cbor.writeBytes(extraKeys);
    return sha256(cbor.toByteArray());
  }

  private static byte[] sglang(byte[] parent, int firstToken) {
    ByteBuffer tokens = ByteBuffer.allocate(16).order(ByteOrder.LITTLE_ENDIAN);
    for (int token = firstToken; token < firstToken + 4; token++) {
      tokens.putInt(token);
    }
    return sha256(parent, tokens.array());
  }

  /** A text of fewer than 24 bytes in CBOR. */
  private static byte[] cborText(String text) {
    return ByteBuffer.allocate(1 + text.length())
        .put((byte) (0x60 + text.length()))
        .put(text.getBytes(UTF_8))
        .array();
  }

  /** The handle that a stored block of this digest has, sent as bytes. */
  private static String handleOfBytes(byte[] digest) throws IOException {
    try (MessageBufferPacker out = MessagePack.newDefaultBufferPacker()) {
      begin(out);
      out.packBinaryHeader(digest.length).writePayload(digest);
      return transcript(out);
    }
  }

  private static String handleOfNumber(String number) throws IOException {
    try (MessageBufferPacker out = MessagePack.newDefaultBufferPacker()) {
      begin(out);
      out.packBigInteger(new BigInteger(number));
      return transcript(out);
    }
  }

  private static void begin(MessageBufferPacker out) throws IOException {
    out.packArrayHeader(2).packDouble(1).packArrayHeader(1);
    out.packArrayHeader(6).packString("BlockStored").packArrayHeader(1);
  }

  private static String transcript(MessageBufferPacker out) throws IOException {
    out.packNil().packArrayHeader(4).packInt(1).packInt(2).packInt(3).packInt(4);
    out.packInt(4).packNil();
    return String.join("\n", Transcript.of(out.toByteArray(), false));
  }

  private static void assertVllm(byte[] digest, String number) throws IOException {
    assertThat(Long.toUnsignedString(WireHashes.ofHash(digest, 0, digest.length)))
        .isEqualTo(number);
    assertThat(handleOfBytes(digest)).isEqualTo(handleOfNumber(number));
  }

  @Test
  void vllmWithASeed() throws IOException {
    byte[] none = sha256(cborText("0"));
    assertThat(HEX.formatHex(none))
        .isEqualTo("4e1195df020de59e0d65a33a4279f1183e7ae4e5d980e309f8b55adff2e61c3e");
    byte[] first = vllm(none, 1, NO_EXTRA_KEYS);
    assertThat(first)
        .isEqualTo(
            HEX.parseHex("c9d58ba695280d69b243e1e0df813136ca9196b286fb1a021e0b2e028ef071cb"));
    assertVllm(first, "2164874634404590027");
    byte[] second = vllm(first, 5, NO_EXTRA_KEYS);
    assertThat(second)
        .isEqualTo(
            HEX.parseHex("24125b23e68883b5c2141db2959d48433fe6bde2f26bd914efad121d154ab2d6"));
    assertVllm(second, "17270480062156288726");
    byte[] adapter = ByteBuffer.allocate(13).put((byte) 0x81).put(cborText("sql-adapter")).array();
    assertVllm(vllm(none, 1, adapter), "6107444497143650307");
  }

  @Test
  void vllmWithoutASeed() throws IOException {
    byte[] none = HEX.parseHex("9bd96a485ad84efdafb72ee48a1d7a69bcead0f8f0433173941b276b9581eef0");
    byte[] first = vllm(none, 1, NO_EXTRA_KEYS);
    assertVllm(first, "9561501211280363793");
    assertVllm(vllm(first, 5, NO_EXTRA_KEYS), "15292913576410714033");
  }

  @Test
  void vllmOf128Bits() throws IOException {
    assertVllm(HEX.parseHex("0a8577df5ee3430515a8cc1f6e3ac52e"), "1560721706249274670");
  }

  @Test
  void sglangSendsTheFirstEightBytesAsASignedNumber() throws IOException {
    byte[] first = sglang(new byte[0], 1);
    byte[] salted = sglang(sha256("sglang-cache-salt-v1\0tenant-a".getBytes(UTF_8)), 1);
    assertThat(ByteBuffer.wrap(first).getLong()).isEqualTo(-3488128144981237669L);
    assertThat(ByteBuffer.wrap(sglang(first, 5)).getLong()).isEqualTo(5674439469042975057L);
    assertThat(ByteBuffer.wrap(salted).getLong()).isEqualTo(3718046898735569995L);
    assertThat(handleOfNumber("-3488128144981237669"))
        .contains(Long.toHexString(-3488128144981237669L));
  }
}
