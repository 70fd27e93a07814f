package io.kvasir.tokens.tokenizer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kvasir.testing.harness.Await;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A pool encodes on its threads, refuses what its queue cannot hold, and drains. */
class TokenizerPoolTest {

  @TempDir private Path folder;

  /** Waits in front of each text, and fails for an empty one. */
  private static final class Gated implements ModelTokenizer {

    private final CountDownLatch begun = new CountDownLatch(1);
    private final CountDownLatch gate = new CountDownLatch(1);

    @Override
    public int[] encode(String text, boolean addSpecialTokens) throws TokenizerException {
      begun.countDown();
      Await.opened("gate", gate);
      if (text.isEmpty()) {
        throw new TokenizerException("is empty");
      }
      return new int[] {text.length()};
    }

    @Override
    public String digest() {
      return "";
    }

    @Override
    public void close() {}
  }

  @Test
  void aFullQueueRefusesAndCloseDrains() throws Exception {
    Gated tokenizer = new Gated();
    TokenizerPool pool = new TokenizerPool(tokenizer, 1, 2);
    CompletableFuture<int[]> first = pool.tryEncode("a", true).orElseThrow();
    Await.opened("first text", tokenizer.begun);
    CompletableFuture<int[]> second = pool.tryEncode("ab", true).orElseThrow();
    CompletableFuture<int[]> empty = pool.tryEncode("", true).orElseThrow();
    assertThat(pool.tryEncode("abc", true)).isEmpty();
    assertThat(pool.counts()).isEqualTo(new TokenizerPool.Counts(0, 0, 1));
    tokenizer.gate.countDown();
    pool.close();
    pool.close();
    assertThat(first.join()).containsExactly(1);
    assertThat(second.join()).containsExactly(2);
    assertThatThrownBy(empty::join).hasCauseInstanceOf(TokenizerException.class);
    assertThat(pool.tryEncode("a", true)).isEmpty();
    assertThat(pool.counts()).isEqualTo(new TokenizerPool.Counts(2, 1, 2));
  }

  @Test
  void threadsShareATokenizer() throws Exception {
    TinyTokenizer.byteLevel(true).add("<|im_end|>").write(folder);
    try (SegmentedTokenizer segmented =
            new SegmentedTokenizer(TokenizerFiles.open(folder, false), 20_000);
        ModelTokenizer whole = TokenizerFiles.open(folder, false);
        TokenizerPool pool = new TokenizerPool(segmented, 4, 1_000)) {
      List<String> texts = new ArrayList<>();
      List<CompletableFuture<int[]>> ids = new ArrayList<>();
      for (int i = 0; i < 400; i++) {
        texts.add(MixedText.of(new java.util.Random(i % 50), 2_000));
        ids.add(pool.tryEncode(texts.get(i), true).orElseThrow());
      }
      for (int i = 0; i < 400; i++) {
        assertThat(ids.get(i).join()).isEqualTo(whole.encode(texts.get(i), true));
      }
    }
  }
}
