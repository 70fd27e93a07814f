package io.kvasir.tokens.tokenizer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** All tokenizers together work on a bounded number of bytes at a time. */
class BytesInFlightTest {

  @TempDir private Path folder;

  @Test
  void allTokenizersShareTheBoundOfTheProcess() throws Exception {
    TinyTokenizer.byteLevel(false).add("<|im_end|>").write(folder);
    Path other = Files.createDirectory(folder.resolve("other"));
    TinyTokenizer.byteLevel(true).write(other);
    try (SegmentedTokenizer cut =
            new SegmentedTokenizer(TokenizerFiles.open(folder, false), 1 << 20);
        SegmentedTokenizer whole =
            new SegmentedTokenizer(TokenizerFiles.open(other, false), 1 << 20)) {
      int taken = ModelTokenizer.MAX_BYTES - 10;
      BytesInFlight.PROCESS.acquire(taken, Long.MAX_VALUE);
      try {
        for (SegmentedTokenizer tokenizer : new SegmentedTokenizer[] {cut, whole}) {
          long deadline = System.nanoTime() + 100_000_000;
          assertThatThrownBy(() -> tokenizer.encode("é".repeat(6), false, deadline))
              .isInstanceOf(TokenizerException.class)
              .hasMessageContaining("other texts are tokenized");
          assertThat(tokenizer.encode("é".repeat(5), false)).as("10 bytes").isNotEmpty();
        }
      } finally {
        BytesInFlight.PROCESS.release(taken);
      }
      assertThat(cut.encode("é".repeat(6), false)).isNotEmpty();
      assertThat(whole.encode("é".repeat(6), false)).isNotEmpty();
    }
  }

  @Test
  void theSumOfManyThreadsStaysBelowTheBound() throws Exception {
    BytesInFlight bytes = new BytesInFlight(100);
    AtomicInteger now = new AtomicInteger();
    AtomicInteger most = new AtomicInteger();
    CountDownLatch done = new CountDownLatch(32);
    for (int thread = 0; thread < 32; thread++) {
      int share = 1 + thread;
      new Thread(
              () -> {
                for (int i = 0; i < 200; i++) {
                  try {
                    bytes.acquire(share, Long.MAX_VALUE);
                  } catch (TokenizerException e) {
                    continue;
                  }
                  most.accumulateAndGet(now.addAndGet(share), Math::max);
                  Thread.onSpinWait();
                  now.addAndGet(-share);
                  bytes.release(share);
                }
                done.countDown();
              })
          .start();
    }
    done.await();
    assertThat(most.get()).isBetween(32, 100);
    bytes.acquire(100, 0);
    assertThatThrownBy(() -> bytes.acquire(1, -1)).isInstanceOf(TokenizerException.class);
    Thread.currentThread().interrupt();
    assertThatThrownBy(() -> bytes.acquire(1, 1)).hasMessageContaining("interrupted");
    assertThat(Thread.interrupted()).as("the thread stays interrupted").isTrue();
    bytes.release(100);
    assertThatThrownBy(() -> bytes.acquire(101, 1)).hasMessageContaining("exceeds the limit");
  }

  @Test
  void bytesOfUtf8AreCounted() throws Exception {
    for (String text : new String[] {"", "a\u007f", "\u0080\u07ff", "\u0800\uffff中", "😀a😀"}) {
      assertThat(WellFormed.utf8Bytes(text, 0, text.length()))
          .isEqualTo(text.getBytes(StandardCharsets.UTF_8).length);
    }
    TinyTokenizer.byteLevel(false).write(folder);
    try (ModelTokenizer tokenizer = TokenizerFiles.open(folder, false)) {
      String text = "中".repeat(ModelTokenizer.MAX_BYTES / 3 + 1);
      assertThat(text.length()).isLessThan(ModelTokenizer.MAX_CHARS);
      assertThatThrownBy(() -> tokenizer.encode(text, false))
          .isInstanceOf(TokenizerException.class)
          .hasMessageContaining("bytes of UTF-8 exceeds the limit");
    }
  }
}
