package io.kvasir.testing.llama;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;

/**
 * Writes a GGUF file of 437 KB: a llama model of two layers with random weights. Equal seeds give
 * equal files.
 *
 * <p>A printable ASCII character is one token, any other byte of UTF-8 is one token, and a prompt
 * begins with one more. Answers are printable, so that they keep their tokens when they become part
 * of the next prompt, and never end by themselves.
 */
public final class GgufWriter {

  /** Tokens of context that the model was made for. */
  public static final int CONTEXT = 8192;

  /** Number of tokens that the model knows. */
  public static final int VOCABULARY = 354;

  private static final int WIDTH = 64;
  private static final int LAYERS = 2;
  private static final int HEADS = 4;
  private static final int FEED_FORWARD = 80;
  private static final int FIRST_PRINTABLE = 3 + 256;
  private static final int ALIGNMENT = 32;

  private static final int INT = 4;
  private static final int SIGNED = 5;
  private static final int FLOAT = 6;
  private static final int BOOL = 7;
  private static final int TEXT = 8;
  private static final int ARRAY = 9;

  private static final int NORMAL = 1;
  private static final int UNKNOWN = 2;
  private static final int CONTROL = 3;
  private static final int BYTE = 6;

  /** Little-endian bytes. */
  private static final class Bytes {
    private final ByteArrayOutputStream out = new ByteArrayOutputStream();

    Bytes integer(int value) {
      out.writeBytes(buffer(4).putInt(value).array());
      return this;
    }

    Bytes number(float value) {
      return integer(Float.floatToIntBits(value));
    }

    Bytes size(long value) {
      out.writeBytes(buffer(8).putLong(value).array());
      return this;
    }

    Bytes text(String value) {
      byte[] bytes = value.getBytes(StandardCharsets.UTF_8);
      size(bytes.length);
      out.writeBytes(bytes);
      return this;
    }

    Bytes raw(byte[] bytes) {
      out.writeBytes(bytes);
      return this;
    }

    void align() {
      while (out.size() % ALIGNMENT != 0) {
        out.write(0);
      }
    }

    private static ByteBuffer buffer(int bytes) {
      return ByteBuffer.allocate(bytes).order(ByteOrder.LITTLE_ENDIAN);
    }
  }

  @SuppressWarnings("ArrayRecordComponent") // value semantics of the arrays are never used
  private record Tensor(String name, int[] sizes, float[] weights) {}

  private final SplittableRandom random;
  private final Bytes metadata = new Bytes();
  private final List<Tensor> tensors = new ArrayList<>();
  private int entries;

  private GgufWriter(long seed) {
    this.random = new SplittableRandom(seed);
  }

  /**
   * Writes a model.
   *
   * @param file the file, which is replaced
   * @param seed seed of the weights
   * @return the file
   * @throws IOException if the file cannot be written
   */
  public static Path write(Path file, long seed) throws IOException {
    GgufWriter writer = new GgufWriter(seed);
    writer.architecture();
    writer.tokenizer();
    writer.weights();
    return Files.write(file, writer.bytes());
  }

  private void architecture() {
    entry("general.architecture", TEXT).text("llama");
    entry("general.name", TEXT).text("random");
    entry("llama.context_length", INT).integer(CONTEXT);
    entry("llama.embedding_length", INT).integer(WIDTH);
    entry("llama.block_count", INT).integer(LAYERS);
    entry("llama.feed_forward_length", INT).integer(FEED_FORWARD);
    entry("llama.attention.head_count", INT).integer(HEADS);
    entry("llama.attention.head_count_kv", INT).integer(HEADS);
    entry("llama.attention.layer_norm_rms_epsilon", FLOAT).number(1e-5f);
    entry("llama.rope.dimension_count", INT).integer(WIDTH / HEADS);
    entry("llama.vocab_size", INT).integer(VOCABULARY);
  }

  private void tokenizer() {
    List<String> tokens = new ArrayList<>(List.of("<unk>", "<s>", "</s>"));
    List<Integer> types = new ArrayList<>(List.of(UNKNOWN, CONTROL, CONTROL));
    for (int value = 0; value < 256; value++) {
      tokens.add(String.format("<0x%02X>", value));
      types.add(BYTE);
    }
    tokens.add("\u2581"); // a space
    types.add(NORMAL);
    for (char printable = '!'; printable <= '~'; printable++) {
      tokens.add(String.valueOf(printable));
      types.add(NORMAL);
    }
    entry("tokenizer.ggml.model", TEXT).text("llama");
    array("tokenizer.ggml.tokens", TEXT);
    tokens.forEach(metadata::text);
    array("tokenizer.ggml.scores", FLOAT);
    tokens.forEach(token -> metadata.number(0));
    array("tokenizer.ggml.token_type", SIGNED);
    types.forEach(metadata::integer);
    entry("tokenizer.ggml.unknown_token_id", INT).integer(0);
    entry("tokenizer.ggml.bos_token_id", INT).integer(1);
    entry("tokenizer.ggml.eos_token_id", INT).integer(2);
    entry("tokenizer.ggml.add_bos_token", BOOL).raw(new byte[] {1});
    entry("tokenizer.ggml.add_space_prefix", BOOL).raw(new byte[] {0});
  }

  private Bytes entry(String key, int type) {
    entries++;
    return metadata.text(key).integer(type);
  }

  private void array(String key, int type) {
    entry(key, ARRAY).integer(type).size(VOCABULARY);
  }

  private void weights() {
    float scale = (float) Math.sqrt(3.0 / WIDTH);
    tensor("token_embd.weight", 0.3f, WIDTH, VOCABULARY);
    ones("output_norm.weight");
    tensor("output.weight", 3 * scale, WIDTH, VOCABULARY);
    // Tokens that cannot be printed get logits of 0, which are never the likeliest.
    Arrays.fill(tensors.get(tensors.size() - 1).weights(), 0, FIRST_PRINTABLE * WIDTH, 0);
    for (int layer = 0; layer < LAYERS; layer++) {
      String block = "blk." + layer + ".";
      ones(block + "attn_norm.weight");
      for (String part : List.of("attn_q", "attn_k", "attn_v", "attn_output")) {
        tensor(block + part + ".weight", 2 * scale, WIDTH, WIDTH);
      }
      ones(block + "ffn_norm.weight");
      tensor(block + "ffn_gate.weight", 2 * scale, WIDTH, FEED_FORWARD);
      tensor(block + "ffn_up.weight", 2 * scale, WIDTH, FEED_FORWARD);
      tensor(block + "ffn_down.weight", 2 * scale, FEED_FORWARD, WIDTH);
    }
  }

  private void tensor(String name, float scale, int... sizes) {
    float[] weights = new float[Arrays.stream(sizes).reduce(1, Math::multiplyExact)];
    for (int i = 0; i < weights.length; i++) {
      weights[i] = (float) (random.nextDouble() * 2 - 1) * scale;
    }
    tensors.add(new Tensor(name, sizes, weights));
  }

  private void ones(String name) {
    float[] weights = new float[WIDTH];
    Arrays.fill(weights, 1);
    tensors.add(new Tensor(name, new int[] {WIDTH}, weights));
  }

  private byte[] bytes() {
    Bytes file = new Bytes();
    file.raw("GGUF".getBytes(StandardCharsets.US_ASCII)).integer(3);
    file.size(tensors.size()).size(entries).raw(metadata.out.toByteArray());
    Bytes data = new Bytes();
    for (Tensor tensor : tensors) {
      file.text(tensor.name()).integer(tensor.sizes().length);
      for (int size : tensor.sizes()) {
        file.size(size);
      }
      file.integer(0).size(data.out.size()); // 32-bit floats, at this place of the data
      for (float weight : tensor.weights()) {
        data.number(weight);
      }
      data.align();
    }
    file.align();
    return file.raw(data.out.toByteArray()).out.toByteArray();
  }
}
