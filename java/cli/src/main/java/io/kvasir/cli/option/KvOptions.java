package io.kvasir.cli.option;

import io.kvasir.engine.pool.KvShape;
import java.util.List;
import java.util.Locale;
import java.util.OptionalInt;
import picocli.CommandLine.Option;

/** How much KV memory pools on a device take. Names are those of model files and TensorRT-LLM. */
public final class KvOptions {

  private static final String FRACTION = "--kv-cache-free-gpu-memory-fraction";
  private static final String MEMORY_BYTES = "--kv-cache-memory-bytes";
  private static final long MOST_MEMORY_BYTES = 1L << 50;
  private static final int MOST = 1 << 20;
  private static final int MOST_BYTES_PER_TOKEN = 1 << 30;

  private enum Dtype {
    BF16(2),
    FP16(2),
    FP8(1),
    INT8(1),
    FP32(4);

    private final int bytes;

    Dtype(int bytes) {
      this.bytes = bytes;
    }

    String id() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  @Option(
      names = "--num-hidden-layers",
      paramLabel = "N",
      order = 60,
      description = "Layers of the model; with the next three, the KV that a token takes.")
  private String layers;

  @Option(
      names = "--num-key-value-heads",
      paramLabel = "N",
      order = 61,
      description = "Key and value heads of a layer on one rank.")
  private String kvHeads;

  @Option(names = "--head-dim", paramLabel = "N", order = 62, description = "Elements of a head.")
  private String headDim;

  @Option(
      names = "--kv-cache-dtype",
      paramLabel = "NAME",
      defaultValue = "bf16",
      order = 63,
      description = "Type of an element: bf16, fp16, fp8, int8, fp32 (default: ${DEFAULT-VALUE}).")
  private String dtype;

  @Option(
      names = "--kv-bytes-per-token",
      paramLabel = "N",
      order = 64,
      description = "The KV that a token takes, instead of the four above (default: none).")
  private String bytesPerToken;

  @Option(
      names = MEMORY_BYTES,
      paramLabel = "N",
      order = 65,
      description = "KV memory of each rank's pool in bytes, instead of --pool-tokens.")
  private String memoryBytes;

  @Option(
      names = FRACTION,
      paramLabel = "X",
      order = 66,
      description =
          "Let the pools of a device take this share of its free memory, instead of --pool-tokens.")
  private String freeMemoryFraction;

  /** The KV of a token; none if nothing was said. */
  public KvShape kv() {
    Dtype type = Values.choice("--kv-cache-dtype", dtype, List.of(Dtype.values()), Dtype::id);
    boolean model = layers != null || kvHeads != null || headDim != null;
    if (bytesPerToken != null) {
      if (model) {
        throw new UsageException(
            "--kv-bytes-per-token", "must not be given together with the model's dimensions");
      }
      return new KvShape(
          Values.integer("--kv-bytes-per-token", bytesPerToken, 0, MOST_BYTES_PER_TOKEN));
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
      throw new UsageException("--num-hidden-layers", "asks for too much KV: " + e.getMessage());
    }
  }

  /** Tokens of a pool of the size that was asked for; empty if none was. */
  public OptionalInt poolTokens(KvShape kv, int tokensPerBlock) {
    if (memoryBytes == null) {
      return OptionalInt.empty();
    }
    if (freeMemoryFraction != null || kv.bytesPerToken() == 0) {
      throw new UsageException(MEMORY_BYTES, "needs the KV that a token takes, and no " + FRACTION);
    }
    long least = kv.bytesPerBlock(tokensPerBlock);
    long most = Math.min(MOST_MEMORY_BYTES, kv.bytesPerToken() * Integer.MAX_VALUE);
    long bytes = Values.longInteger(MEMORY_BYTES, memoryBytes, least, most);
    return OptionalInt.of((int) (bytes / kv.bytesPerToken()));
  }

  /** The option that says how large pools are. */
  public String sizeOption() {
    return byFreeMemory() ? FRACTION : memoryBytes != null ? MEMORY_BYTES : "--pool-tokens";
  }

  /** Whether pools are sized by the memory that is free. */
  public boolean byFreeMemory() {
    return freeMemoryFraction != null;
  }

  /** The share of free memory. */
  public double freeMemoryFraction() {
    return Values.number(FRACTION, freeMemoryFraction, 0.001, 1);
  }

  /** Without a GPU there is no memory to share. */
  public void requireNoFraction() {
    if (byFreeMemory()) {
      throw new UsageException(FRACTION, "needs pools on a GPU: --device cuda");
    }
  }

  private static int dimension(String option, String text) {
    if (text == null) {
      throw new UsageException(option, "must be given together with the model's other dimensions");
    }
    return Values.integer(option, text, 1, MOST);
  }
}
