package io.kvasir.cli.option;

import io.kvasir.engine.pool.KvShape;
import java.util.Objects;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Options of the size of KV. Names are those of model files and TensorRT-LLM. */
@Heading(Heading.DEVICES)
public final class KvOptions {

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

  @Option(
      names = "--num-hidden-layers",
      paramLabel = "N",
      order = 60,
      description = "Layers of the model; with the next three options, sets the KV of a token.")
  private @Nullable String layers;

  @Option(
      names = "--num-key-value-heads",
      paramLabel = "N",
      order = 61,
      description = "KV heads of a layer on one rank.")
  private @Nullable String kvHeads;

  @Option(names = "--head-dim", paramLabel = "N", order = 62, description = "Elements of a head.")
  private @Nullable String headDim;

  @Option(
      names = "--kv-cache-dtype",
      paramLabel = "NAME",
      completionCandidates = Choices.Dtypes.class,
      defaultValue = "bf16",
      order = 63,
      description = "Type of an element: ${COMPLETION-CANDIDATES} (default: ${DEFAULT-VALUE}).")
  private String dtype;

  @Option(
      names = "--kv-bytes-per-token",
      paramLabel = "N",
      order = 64,
      description = "KV of a token in bytes, instead of the four options above (default: none).")
  private @Nullable String bytesPerToken;

  @Option(
      names = MEMORY_BYTES,
      paramLabel = "N",
      order = 65,
      description = "KV memory of each rank's pool in bytes, instead of --pool-tokens.")
  private @Nullable String memoryBytes;

  @Option(
      names = FRACTION,
      paramLabel = "X",
      order = 66,
      description = "Share of a device's free memory for its pools, instead of --pool-tokens.")
  private @Nullable String freeMemoryFraction;

  KvOptions() {}

  /**
   * {@return the KV of a token; {@link KvShape#NONE} if no option is given}
   *
   * @throws UsageException if a value is not allowed or a dimension is missing
   */
  public KvShape kv() {
    Dtype type = Values.choice("--kv-cache-dtype", dtype, Dtype.class);
    boolean model = layers != null || kvHeads != null || headDim != null;
    if (bytesPerToken != null) {
      if (model) {
        throw new UsageException(
            "--kv-bytes-per-token", "must not be given together with the model's dimensions");
      }
      return new KvShape(
          Values.integer("--kv-bytes-per-token", bytesPerToken, 0, MAX_BYTES_PER_TOKEN));
    }
    if (!model) {
      return KvShape.NONE;
    }
    try {
      return KvShape.of(
          dimension("--num-hidden-layers", layers),
          dimension("--num-key-value-heads", kvHeads),
          dimension("--head-dim", headDim),
          type.bytes);
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
    if (memoryBytes == null) {
      return OptionalInt.empty();
    }
    if (freeMemoryFraction != null || kv.bytesPerToken() == 0) {
      throw new UsageException(MEMORY_BYTES, "needs the KV of a token, and excludes " + FRACTION);
    }
    long least = kv.bytesPerBlock(tokensPerBlock);
    long most = Math.min(MAX_MEMORY_BYTES, kv.bytesPerToken() * Integer.MAX_VALUE);
    long bytes = Values.longInteger(MEMORY_BYTES, memoryBytes, least, most);
    return OptionalInt.of((int) (bytes / kv.bytesPerToken()));
  }

  /** {@return the option that sets the size of pools} */
  public String sizeOption() {
    return byFreeMemory() ? FRACTION : memoryBytes != null ? MEMORY_BYTES : "--pool-tokens";
  }

  /** {@return whether the size of pools is a share of free memory} */
  public boolean byFreeMemory() {
    return freeMemoryFraction != null;
  }

  /**
   * {@return the share of free memory, above 0 and at most 1; to be called only if {@link
   * #byFreeMemory}}
   *
   * @throws UsageException if it is not such a number
   */
  public double freeMemoryFraction() {
    return Values.number(FRACTION, Objects.requireNonNull(freeMemoryFraction), 0.001, 1);
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

  private static int dimension(String option, @Nullable String text) {
    if (text == null) {
      throw new UsageException(option, "must be given together with the model's other dimensions");
    }
    return Values.integer(option, text, 1, MAX_DIMENSION);
  }
}
