package io.kvasir.engine.pool.cuda;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.kvasir.engine.device.DeviceApi;
import io.kvasir.engine.device.TestDevices;
import io.kvasir.hash.BlockHashes;
import io.kvasir.hash.HashFormat;
import io.kvasir.hash.NativeBlockHasher;
import io.kvasir.internal.nativelib.NativeMemory;
import io.kvasir.model.CacheScope;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Hashes of tokens in a device's memory are those of the host, bit for bit. */
@Tag("device")
class CudaBlockHasherTest {

  private static final int BATCHES = 6;

  @ParameterizedTest
  @EnumSource
  void equalsTheHost(HashFormat format) {
    long seed = Long.getLong("kvasir.test.seed", System.nanoTime());
    Random random = new Random(seed);
    try (DeviceApi device = TestDevices.open(seed)) {
      for (int batch = 0; batch < BATCHES; batch++) {
        int tokensPerBlock = 1 + random.nextInt(70);
        NativeBlockHasher host = NativeBlockHasher.of(format, tokensPerBlock);
        List<int[]> prompts = new ArrayList<>();
        List<CacheScope> scopes = new ArrayList<>();
        for (int prompt = random.nextInt(12); prompt > 0; prompt--) {
          prompts.add(random.ints(random.nextInt(6 * tokensPerBlock + 1)).toArray());
          scopes.add(
              random.nextBoolean() ? CacheScope.NONE : CacheScope.NONE.withLora(random.nextLong()));
        }
        List<BlockHashes> hashes = hash(device, format, tokensPerBlock, prompts, scopes);
        for (int prompt = 0; prompt < prompts.size(); prompt++) {
          BlockHashes expected = host.hash(prompts.get(prompt), scopes.get(prompt));
          String at = "-Dkvasir.test.seed=" + seed + ", batch " + batch + ", prompt " + prompt;
          assertThat(hashes.get(prompt).local()).as(at).isEqualTo(expected.local());
          assertThat(hashes.get(prompt).sequence()).as(at).isEqualTo(expected.sequence());
        }
      }
    }
  }

  @Test
  void refusesBlocksWithoutTokens() {
    try (DeviceApi device = TestDevices.open(1)) {
      assertThatIllegalArgumentException()
          .isThrownBy(() -> new CudaBlockHasher(device, HashFormat.KVASIR, 0))
          .withMessageContaining("tokensPerBlock must be at least 1, not 0");
    }
  }

  /** The prompts lie in page-locked memory, which both sides see. */
  private static List<BlockHashes> hash(
      DeviceApi device,
      HashFormat format,
      int tokensPerBlock,
      List<int[]> prompts,
      List<CacheScope> scopes) {
    int count = prompts.size();
    int tokens = prompts.stream().mapToInt(prompt -> prompt.length).sum();
    int blocks = prompts.stream().mapToInt(prompt -> prompt.length / tokensPerBlock).sum();
    int scopesAt = 0;
    int localAt = scopesAt + count * 24;
    int sequenceAt = localAt + blocks * 8;
    int tokensAt = sequenceAt + blocks * 8;
    int tokenOffsetsAt = tokensAt + tokens * 4;
    int blockOffsetsAt = tokenOffsetsAt + (count + 1) * 4;
    int bytes = blockOffsetsAt + count * 4;
    long memory = device.allocatePinned(bytes);
    ByteBuffer view = NativeMemory.view(memory, bytes);
    int token = 0;
    int block = 0;
    for (int i = 0; i < count; i++) {
      view.putLong(scopesAt + i * 24, scopes.get(i).presenceMask());
      view.putLong(scopesAt + i * 24 + 8, scopes.get(i).loraTaskId());
      view.putLong(scopesAt + i * 24 + 16, scopes.get(i).saltId());
      view.putInt(tokenOffsetsAt + i * 4, token);
      view.putInt(blockOffsetsAt + i * 4, block);
      for (int each : prompts.get(i)) {
        view.putInt(tokensAt + token++ * 4, each);
      }
      block += prompts.get(i).length / tokensPerBlock;
    }
    view.putInt(tokenOffsetsAt + count * 4, token);
    DeviceApi.Stream stream = device.openStream(false);
    new CudaBlockHasher(device, format, tokensPerBlock)
        .hash(
            stream,
            new CudaBlockHasher.Prompts(
                memory + tokensAt,
                memory + tokenOffsetsAt,
                memory + blockOffsetsAt,
                memory + scopesAt,
                memory + localAt,
                memory + sequenceAt),
            count,
            blocks);
    device.synchronize(stream);
    List<BlockHashes> hashes = new ArrayList<>();
    block = 0;
    for (int[] prompt : prompts) {
      int length = prompt.length / tokensPerBlock;
      long[] local = new long[length];
      long[] sequence = new long[length];
      for (int i = 0; i < length; i++, block++) {
        local[i] = view.getLong(localAt + block * 8);
        sequence[i] = view.getLong(sequenceAt + block * 8);
      }
      hashes.add(new BlockHashes(local, sequence));
    }
    device.closeStream(stream);
    device.freePinned(memory);
    return hashes;
  }
}
