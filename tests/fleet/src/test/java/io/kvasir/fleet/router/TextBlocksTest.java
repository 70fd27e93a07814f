package io.kvasir.fleet.router;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.hash.BlockHashes;
import io.kvasir.model.CacheScope;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;

class TextBlocksTest {

  private static final int TOKENS_PER_BLOCK = 4; // 16 bytes

  private static long[] names(String text, CacheScope scope) {
    return request(text, scope).textHashes(TOKENS_PER_BLOCK).sequence();
  }

  private static FleetRequest request(String text, CacheScope scope) {
    return FleetRequest.builder(1, Prompt.of(text)).scope(scope).build();
  }

  private static long[] names(String text) {
    return names(text, CacheScope.NONE);
  }

  @Test
  void onlyFullBlocksHaveNames() {
    assertThat(names("x".repeat(15))).isEmpty();
    assertThat(names("x".repeat(16))).hasSize(1);
    assertThat(names("x".repeat(47))).hasSize(2);
  }

  @Test
  void textIsMeasuredInBytesAndTokensAreRoundedUp() {
    assertThat(request("x".repeat(17), CacheScope.NONE).inputTokens()).isEqualTo(5);
    assertThat(request("\u6f22".repeat(16), CacheScope.NONE).inputTokens()).isEqualTo(12);
    assertThat(names("\u6f22".repeat(16))).hasSize(3);
    assertThat(request("", CacheScope.NONE).inputTokens()).isZero();
  }

  @Test
  void tokensThatTheCallerExpectsGoFirst() {
    FleetRequest request =
        FleetRequest.builder(1, Prompt.of("x".repeat(100))).inputTokens(7).build();
    assertThat(request.inputTokens()).isEqualTo(7);
  }

  @Test
  void aPromptOfTokensHasNoNamesOfText() {
    FleetRequest request = FleetRequest.builder(1, Prompt.of(new int[100])).build();
    assertThat(request.textHashes(TOKENS_PER_BLOCK).blocks()).isZero();
    assertThat(request.isTokenised()).isTrue();
  }

  /** Against the definition: two texts share as many names as they share whole blocks. */
  @Test
  void textsShareTheNamesOfTheirCommonBeginning() {
    long seed = 20251126;
    Random random = new Random(seed);
    for (int round = 0; round < 2_000; round++) {
      String head = text(random, random.nextInt(120));
      String one = head + "a" + text(random, random.nextInt(60));
      String other = head + "b" + text(random, random.nextInt(60));
      long[] names = names(one);
      long[] others = names(other);
      int shared = 0;
      while (shared < Math.min(names.length, others.length) && names[shared] == others[shared]) {
        shared++;
      }
      int whole = head.getBytes(java.nio.charset.StandardCharsets.UTF_8).length / 16;
      assertThat(shared)
          .as("seed %d, round %d: '%s', '%s'", seed, round, one, other)
          .isEqualTo(whole);
    }
  }

  private static String text(Random random, int length) {
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < length; i++) {
      text.append((char) ('x' + random.nextInt(3)));
    }
    return text.toString();
  }

  @Test
  void scopesAndBlockSizesHaveNamesOfTheirOwn() {
    String text = "x".repeat(64);
    Set<Long> all = new HashSet<>();
    int count = 0;
    for (CacheScope scope :
        new CacheScope[] {
          CacheScope.NONE, CacheScope.NONE.withSalt("s"), CacheScope.NONE.withLora(1)
        }) {
      BlockHashes hashes = request(text, scope).textHashes(TOKENS_PER_BLOCK);
      Arrays.stream(hashes.sequence()).forEach(all::add);
      BlockHashes larger = request(text, scope).textHashes(2 * TOKENS_PER_BLOCK);
      Arrays.stream(larger.sequence()).forEach(all::add);
      count += hashes.blocks() + larger.blocks();
    }
    assertThat(all).hasSize(count);
  }

  /** Against the same text as one part: where parts end changes nothing. */
  @Test
  void partsDoNotCount() {
    long seed = 20261129;
    Random random = new Random(seed);
    for (int round = 0; round < 2_000; round++) {
      int tokensPerBlock = 1 + random.nextInt(5);
      byte[] text = new byte[random.nextInt(100)];
      random.nextBytes(text);
      TextBlocks whole = new TextBlocks(tokensPerBlock, CacheScope.NONE);
      whole.accept(text, 0, text.length);
      TextBlocks parts = new TextBlocks(tokensPerBlock, CacheScope.NONE);
      for (int from = 0; from < text.length; ) {
        int to = Math.min(text.length, from + 1 + random.nextInt(20));
        parts.accept(text, from, to);
        from = to;
      }
      String as = "seed %d, round %d".formatted(seed, round);
      assertThat(parts.hashes().sequence()).as(as).isEqualTo(whole.hashes().sequence());
      assertThat(parts.tokens()).as(as).isEqualTo(whole.tokens()).isEqualTo((text.length + 3) / 4);
    }
  }

  @Test
  void textsOfSeveralPromptsAreApart() {
    StringBuilder text = new StringBuilder();
    Prompt prompt = new Prompt.Texts(List.of("z\u00df\u6f22", "\ud83d\ude00", ""));
    prompt.forEachText(new CodePoints(text::appendCodePoint));
    assertThat(text).hasToString(prompt.text());
  }
}
