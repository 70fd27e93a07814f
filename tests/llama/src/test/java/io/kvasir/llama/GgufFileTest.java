package io.kvasir.llama;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kvasir.embedded.InvalidModelException;
import io.kvasir.testing.llama.GgufWriter;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What is read of a model's file, and damage to it. */
class GgufFileTest {

  @TempDir private Path folder;

  private Path write(byte[] bytes) throws IOException {
    return Files.write(folder.resolve("model.gguf"), bytes);
  }

  private byte[] model() throws IOException {
    return Files.readAllBytes(GgufWriter.write(folder.resolve("whole.gguf"), 1));
  }

  @Test
  void factsOfAModel() throws Exception {
    GgufFile file = GgufFile.read(GgufWriter.write(folder.resolve("m.gguf"), 1));
    assertThat(file.vocabularySize()).isEqualTo(GgufWriter.VOCABULARY);
    assertThat(file.contextLength()).isEqualTo(GgufWriter.CONTEXT);
    assertThat(file.leadingToken()).isEqualTo(1);
  }

  @Test
  void equalSeedsWriteEqualFiles() throws IOException {
    byte[] first = Files.readAllBytes(GgufWriter.write(folder.resolve("a"), 5));
    byte[] second = Files.readAllBytes(GgufWriter.write(folder.resolve("b"), 5));
    byte[] other = Files.readAllBytes(GgufWriter.write(folder.resolve("c"), 6));
    assertThat(first).isEqualTo(second).isNotEqualTo(other).hasSizeBetween(400_000, 450_000);
  }

  @Test
  void theFileSaysWhetherPromptsHaveALeadingToken() throws Exception {
    byte[] bytes = model();
    byte[] key = "tokenizer.ggml.add_bos_token".getBytes(StandardCharsets.US_ASCII);
    int at = indexOf(bytes, key) + key.length;
    bytes[at + 4] = 0;
    assertThat(GgufFile.read(write(bytes)).leadingToken()).isEqualTo(-1);
    bytes[at - 1] = 'x'; // without the key, a tokenizer of this kind has one
    assertThat(GgufFile.read(write(bytes)).leadingToken()).isEqualTo(1);
  }

  private static int indexOf(byte[] bytes, byte[] part) {
    for (int i = 0; ; i++) {
      if (Arrays.equals(bytes, i, i + part.length, part, 0, part.length)) {
        return i;
      }
    }
  }

  @Test
  void whatIsNoModelIsNamed() throws Exception {
    assertThatThrownBy(() -> GgufFile.read(folder.resolve("missing")))
        .isInstanceOf(InvalidModelException.class)
        .hasMessage("does not exist");
    assertThatThrownBy(() -> GgufFile.read(folder)).hasMessage("is a folder");
    assertThatThrownBy(() -> GgufFile.read(write(new byte[0]))).hasMessage("is no GGUF file");
    assertThatThrownBy(() -> GgufFile.read(write(Arrays.copyOf(model(), 5_000))))
        .hasMessageContaining("ends within its metadata");
    byte[] version = model();
    version[4] = 9;
    assertThatThrownBy(() -> GgufFile.read(write(version))).hasMessageContaining("version 9");
    byte[] count = model();
    Arrays.fill(count, 16, 24, (byte) 0x7f);
    assertThatThrownBy(() -> GgufFile.read(write(count))).hasMessageContaining("damaged");
  }

  @Test
  void damagedMetadataIsReadOrRefused() throws Exception {
    byte[] whole = model();
    long seed = Long.getLong("kvasir.test.seed", System.nanoTime());
    SplittableRandom random = new SplittableRandom(seed);
    for (int round = 0; round < 300; round++) {
      byte[] bytes = whole.clone();
      for (int i = random.nextInt(1, 4); i > 0; i--) {
        bytes[random.nextInt(9_000)] = (byte) random.nextInt();
      }
      try {
        assertThat(GgufFile.read(write(bytes)).vocabularySize()).isPositive();
      } catch (InvalidModelException e) {
        assertThat(e).hasMessageNotContaining("\n");
      } catch (RuntimeException e) {
        throw new AssertionError("seed " + seed, e);
      }
    }
  }
}
