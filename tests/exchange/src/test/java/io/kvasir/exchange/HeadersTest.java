package io.kvasir.exchange;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

class HeadersTest {

  private static final List<String> NAMES =
      List.of("host", "cost", "Session-Id", "session_id", "x-session-id", "te", "TE2", "a", "");

  /** Against a list of names in lower case and values. */
  @Test
  void fieldsAreFoundInAnySpelling() {
    long seed = 20261129;
    Random random = new Random(seed);
    for (int round = 0; round < 500; round++) {
      Headers headers = new Headers();
      List<Map.Entry<String, String>> expected = new ArrayList<>();
      for (int step = 0; step < 30; step++) {
        String name = spelling(random);
        String key = name.toLowerCase(Locale.ROOT);
        String as = "seed %d, round %d, step %d, %s".formatted(seed, round, step, name);
        switch (random.nextInt(4)) {
          case 0 -> {
            headers.add(name, "v" + step);
            expected.add(Map.entry(key, "v" + step));
          }
          case 1 ->
              assertThat(headers.remove(name))
                  .as(as)
                  .isEqualTo(expected.removeIf(field -> field.getKey().equals(key)));
          case 2 -> {
            headers.set(name, "v" + step);
            expected.removeIf(field -> field.getKey().equals(key));
            expected.add(Map.entry(key, "v" + step));
          }
          default -> headers = new Headers(headers);
        }
        for (String asked : NAMES) {
          String wanted = asked.toLowerCase(Locale.ROOT);
          List<String> values =
              expected.stream()
                  .filter(field -> field.getKey().equals(wanted))
                  .map(Map.Entry::getValue)
                  .toList();
          assertThat(headers.all(asked)).as(as).isEqualTo(values);
          assertThat(headers.get(asked)).as(as).isEqualTo(values.isEmpty() ? null : values.get(0));
        }
        assertThat(headers.size()).as(as).isEqualTo(expected.size());
      }
    }
  }

  private static String spelling(Random random) {
    String name = NAMES.get(random.nextInt(NAMES.size()));
    return random.nextBoolean() ? name : name.toUpperCase(Locale.ROOT);
  }
}
