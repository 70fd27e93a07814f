package io.kvasir.engine.pool.cuda;

import io.kvasir.engine.device.DeviceApi;
import io.kvasir.engine.device.KernelArguments;
import io.kvasir.hash.HashFormat;
import io.kvasir.hash.NativeBlockHasher;
import io.kvasir.model.Checks;
import java.util.Objects;

/**
 * Hashes blocks of tokens that are already in device memory; the hashes stay there. The hashes
 * equal those of {@link NativeBlockHasher} bit for bit.
 *
 * <p>A batch takes two launches: the first computes local hashes and the second chains them. No
 * data is copied, and no call waits. Not thread-safe.
 */
public final class CudaBlockHasher {

  private static final int THREADS = 128;
  private static final int WARP = 32;
  private static final int LANES_PER_CHAIN = 8;
  private static final int LOCAL_BLOCKS_PER_MULTIPROCESSOR = 6;
  private static final int CHAIN_BLOCKS_PER_MULTIPROCESSOR = 16;
  private static final int BATCH_BYTES = 6 * Long.BYTES;

  private static final int FORMAT = 0;
  private static final int TOKENS_PER_BLOCK = 1;
  private static final int BATCH = 2;
  private static final int PROMPTS = 3;

  private final DeviceApi device;
  private final DeviceApi.Kernel local;
  private final DeviceApi.Kernel chain;
  private final KernelArguments arguments;
  private final boolean chainsTokens;
  private final int multiprocessors;

  /**
   * Prompts in device memory, back to back; the addresses of the {@code HashBatch} of {@code
   * block_hash_core.hpp}. Immutable.
   *
   * @param tokens the prompts' tokens, 4 bytes each
   * @param tokenOffsets index of each prompt's first token, then the total: prompts + 1 numbers of
   *     4 bytes
   * @param blockOffsets index of each prompt's first hash: 4 bytes for each prompt, ascending
   * @param scopes presence mask, LoRA task id and salt id of each prompt: 3 x 8 bytes
   * @param localHashes receives local hashes, 8 bytes for each block
   * @param sequenceHashes receives sequence hashes, 8 bytes for each block
   */
  public record Prompts(
      long tokens,
      long tokenOffsets,
      long blockOffsets,
      long scopes,
      long localHashes,
      long sequenceHashes) {}

  /**
   * Makes a hasher of one format and block size.
   *
   * @param device the device, with kernels loaded
   * @param format the format
   * @param tokensPerBlock tokens in a full block
   * @throws IllegalArgumentException if {@code tokensPerBlock} is less than 1
   */
  public CudaBlockHasher(DeviceApi device, HashFormat format, int tokensPerBlock) {
    Checks.atLeast("tokensPerBlock", tokensPerBlock, 1);
    this.device = Objects.requireNonNull(device, "device");
    this.local = device.kernel("kvasir_hash_local");
    this.chain = device.kernel("kvasir_hash_chain");
    this.multiprocessors = device.multiprocessors();
    this.chainsTokens = format == HashFormat.TRTLLM_V1;
    this.arguments =
        new KernelArguments(Integer.BYTES, Integer.BYTES, BATCH_BYTES, Integer.BYTES)
            .set(FORMAT, format.nativeNumber())
            .set(TOKENS_PER_BLOCK, tokensPerBlock);
  }

  /**
   * Enqueues the hashing of all full blocks of all prompts.
   *
   * @param stream the stream that carries this out
   * @param prompts the addresses of the prompts and their hashes
   * @param count number of prompts, at least 0
   * @param blocks number of full blocks of all prompts together, which determines the grid size
   */
  public void hash(DeviceApi.Stream stream, Prompts prompts, int count, long blocks) {
    if (count == 0) {
      return;
    }
    arguments
        .set(PROMPTS, count)
        .setField(BATCH, 0, prompts.tokens())
        .setField(BATCH, 8, prompts.tokenOffsets())
        .setField(BATCH, 16, prompts.blockOffsets())
        .setField(BATCH, 24, prompts.scopes())
        .setField(BATCH, 32, prompts.localHashes())
        .setField(BATCH, 40, prompts.sequenceHashes());
    if (!chainsTokens) {
      launch(stream, local, blocks, LOCAL_BLOCKS_PER_MULTIPROCESSOR);
    }
    long lanes = (long) count * (chainsTokens ? 1 : LANES_PER_CHAIN);
    launch(stream, chain, Math.max(lanes, WARP), CHAIN_BLOCKS_PER_MULTIPROCESSOR);
  }

  private void launch(
      DeviceApi.Stream stream, DeviceApi.Kernel kernel, long wanted, int perMultiprocessor) {
    long blocks =
        Math.min((wanted + THREADS - 1) / THREADS, (long) multiprocessors * perMultiprocessor);
    device.launch(stream, kernel, (int) Math.max(1, blocks), THREADS, arguments);
  }
}
