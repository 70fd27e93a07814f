package io.kvasir.cli.option;

import io.kvasir.engine.pool.KvShape;
import java.util.OptionalInt;

/** Options of the size of KV. Names are those of model files and TensorRT-LLM. */
@Heading(value = Heading.DEVICES, block = Block.EMBEDDED)
public final class KvOptions extends DeclaredOptions {

  private static final String FRACTION = "--kv-cache-free-gpu-memory-fraction";
  private static final String MEMORY_BYTES = "--kv-cache-memory-bytes";
  private static final long MAX_MEMORY_BYTES = 1L << 50;
  private static final int MAX_DIMENSION = 1 << 20;
  private static final int MAX_BYTES_PER_TOKEN = 1 << 30;

  enum Dtype {
    BF16(2),
    FP16(2),
    FP8(1),
    INT8(1),
    FP32(4);

    private final int bytes;

    Dtype(int bytes) {
      this.bytes = bytes;
    }
  }

  private final Declared<Integer> layers =
      integer("--num-hidden-layers", null, 1, MAX_DIMENSION)
          .help(60, "Layers of the model; with the next three options, sets the KV of a token.");

  private final Declared<Integer> kvHeads =
      integer("--num-key-value-heads", null, 1, MAX_DIMENSION)
          .help(61, "KV heads of a layer on one rank.");

  private final Declared<Integer> headDim =
      integer("--head-dim", null, 1, MAX_DIMENSION).help(62, "Elements of a head.");

  private final Declared<Dtype> dtype =
      choice("--kv-cache-dtype", "bf16", Dtype.class)
          .candidates(Choices.Dtypes.class)
          .help(63, "Type of an element: ${COMPLETION-CANDIDATES}");

  private final Declared<Integer> bytesPerToken =
      integer("--kv-bytes-per-token", null, 0, MAX_BYTES_PER_TOKEN)
          .help(64, "KV of a token in bytes, instead of the four options above (default: none).");

  private final Declared<String> memoryBytes =
      text(MEMORY_BYTES, "N", null)
          .help(65, "KV memory of each rank's pool in bytes, instead of --pool-tokens.");

  private final Declared<Double> freeMemoryFraction =
      number(FRACTION, null, 0.001, 1)
          .help(66, "Share of a device's free memory for its pools, instead of --pool-tokens.");

  KvOptions() {}

  /**
   * {@return the KV of a token; {@link KvShape#NONE} if no option is given}
   *
   * @throws UsageException if a value is not allowed or a dimension is missing
   */
  public KvShape kv() {
    Dtype type = dtype.value();
    boolean model = layers.isGiven() || kvHeads.isGiven() || headDim.isGiven();
    if (bytesPerToken.isGiven()) {
      if (model) {
        throw new UsageException(
            "--kv-bytes-per-token", "must not be given together with the model's dimensions");
      }
      return new KvShape(bytesPerToken.value());
    }
    if (!model) {
      return KvShape.NONE;
    }
    try {
      return KvShape.of(dimension(layers), dimension(kvHeads), dimension(headDim), type.bytes);
    } catch (IllegalArgumentException e) {
      throw new UsageException("--num-hidden-layers", "is too large: " + e.getMessage());
    }
  }

  /**
   * {@return the size in tokens of a pool of {@code --kv-cache-memory-bytes}; empty if not given}
   *
   * @param kv the KV of a token
   * @param tokensPerBlock tokens in a block
   * @throws UsageException if the size is not allowed or the KV is unknown
   */
  public OptionalInt poolTokens(KvShape kv, int tokensPerBlock) {
    if (!memoryBytes.isGiven()) {
      return OptionalInt.empty();
    }
    if (freeMemoryFraction.isGiven() || kv.bytesPerToken() == 0) {
      throw new UsageException(MEMORY_BYTES, "needs the KV of a token, and excludes " + FRACTION);
    }
    long least = kv.bytesPerBlock(tokensPerBlock);
    long most = Math.min(MAX_MEMORY_BYTES, kv.bytesPerToken() * Integer.MAX_VALUE);
    long bytes = Values.longInteger(MEMORY_BYTES, memoryBytes.value(), least, most);
    return OptionalInt.of((int) (bytes / kv.bytesPerToken()));
  }

  /** {@return the option that sets the size of pools} */
  public String sizeOption() {
    return byFreeMemory() ? FRACTION : memoryBytes.isGiven() ? MEMORY_BYTES : "--pool-tokens";
  }

  /** {@return whether the size of pools is a share of free memory} */
  public boolean byFreeMemory() {
    return freeMemoryFraction.isGiven();
  }

  /**
   * {@return the share of free memory, above 0 and at most 1; to be called only if {@link
   * #byFreeMemory}}
   *
   * @throws UsageException if it is not such a number
   */
  public double freeMemoryFraction() {
    return freeMemoryFraction.value();
  }

  /**
   * Requires that the size of pools is not a share of the free memory of a GPU.
   *
   * @throws UsageException if it is
   */
  public void requireNoFraction() {
    if (byFreeMemory()) {
      throw new UsageException(FRACTION, "needs pools on a GPU: --device cuda");
    }
  }

  private static int dimension(Declared<Integer> dimension) {
    if (!dimension.isGiven()) {
      throw dimension.wrong("must be given together with the model's other dimensions");
    }
    return dimension.value();
  }
}
