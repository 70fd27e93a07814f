package io.kvasir.engine.adp;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class ConversationBindingsTest {

  private static final long SEED = Long.getLong("kvasir.test.seed", 11);

  @Test
  void agreesWithALinkedMapOnRandomUse() {
    for (long seed = SEED; seed < SEED + 50; seed++) {
      SplittableRandom random = new SplittableRandom(seed);
      int maxSessions = 1 + random.nextInt(20);
      ConversationBindings bindings = new ConversationBindings(maxSessions);
      LinkedHashMap<String, Integer> oracle = new LinkedHashMap<>(16, 0.75f, true);
      for (int step = 0; step < 500; step++) {
        String id = "c" + random.nextInt(30);
        assertThat(bindings.rank(id))
            .as("-Dkvasir.test.seed=%d step %d", seed, step)
            .isEqualTo(oracle.containsKey(id) ? peek(oracle, id) : ConversationBindings.UNBOUND);
        if (oracle.containsKey(id) && random.nextBoolean()) {
          bindings.touch(id);
          oracle.get(id);
        } else {
          int rank = random.nextInt(8);
          bindings.bind(id, rank);
          oracle.put(id, rank);
          if (oracle.size() > maxSessions) {
            oracle.remove(oracle.keySet().iterator().next());
          }
        }
        assertThat(bindings.toMap().entrySet())
            .as("-Dkvasir.test.seed=%d step %d", seed, step)
            .containsExactlyElementsOf(oracle.entrySet());
      }
    }
  }

  /** A look that is not a use. */
  private static int peek(Map<String, Integer> map, String id) {
    return map.entrySet().stream()
        .filter(entry -> entry.getKey().equals(id))
        .findFirst()
        .orElseThrow()
        .getValue();
  }

  @Test
  void idsThatCollideInStringsOwnHashAreStillCheap() {
    ConversationBindings bindings = new ConversationBindings(1 << 16);
    for (int i = 0; i < 1 << 16; i++) {
      StringBuilder id = new StringBuilder();
      for (int bit = 0; bit < 16; bit++) {
        id.append((i >> bit & 1) == 0 ? "Aa" : "BB");
      }
      bindings.bind(id.toString(), i % 8);
    }
    assertThat(bindings.rank("Aa".repeat(16))).isZero();
    assertThat(bindings.rank("BB".repeat(16))).isEqualTo(7);
  }
}
