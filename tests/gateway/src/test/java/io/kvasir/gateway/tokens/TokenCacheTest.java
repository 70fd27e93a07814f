package io.kvasir.gateway.tokens;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class TokenCacheTest {

  private static final int ENTRY_BYTES = 160;

  private static TokenCache.Key key(String body) {
    return TokenCache.key("vllm 0.30.0", "m", "/tokenize", bytes(body));
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  @Test
  void everyPartOfAQuestionCounts() {
    assertThat(
            List.of(
                TokenCache.key("f", "m", "t", bytes("b")),
                TokenCache.key("fm", "", "t", bytes("b")),
                TokenCache.key("", "fm", "t", bytes("b")),
                TokenCache.key("f", "m", "tb", bytes("")),
                TokenCache.key("f", "m", "t", bytes("c"))))
        .doesNotHaveDuplicates();
    assertThat(key("x")).isEqualTo(key("x"));
  }

  /** The slow way: a list of entries, the one used last at its end. */
  @Test
  void randomUseKeepsWhatWasUsedLast() {
    long seed = Long.getLong("kvasir.test.seed", 51);
    for (int i = 0; i < 200; i++) {
      Random random = new Random(seed + i);
      long maxBytes = random.nextInt(4_000);
      TokenCache cache = new TokenCache(maxBytes);
      List<String> names = new ArrayList<>();
      List<MadeTokens> kept = new ArrayList<>();
      for (int step = 0; step < 200; step++) {
        String name = "q" + random.nextInt(20);
        int at = names.indexOf(name);
        MadeTokens tokens = at < 0 ? null : kept.remove(at);
        if (at >= 0) {
          names.remove(at);
        }
        if (random.nextBoolean()) {
          assertThat(cache.get(key(name)))
              .as("-Dkvasir.test.seed=%d, run %d, step %d", seed, i, step)
              .isSameAs(tokens);
        } else {
          tokens = new MadeTokens(new int[random.nextInt(200)], null);
          cache.put(key(name), tokens);
        }
        if (tokens != null) {
          names.add(name);
          kept.add(tokens);
        }
        while (bytes(kept) > maxBytes) {
          names.remove(0);
          kept.remove(0);
        }
        assertThat(cache.bytes()).isEqualTo(bytes(kept)).isLessThanOrEqualTo(maxBytes);
      }
    }
  }

  private static long bytes(List<MadeTokens> entries) {
    return entries.stream().mapToLong(each -> ENTRY_BYTES + 4L * each.ids().length).sum();
  }
}
