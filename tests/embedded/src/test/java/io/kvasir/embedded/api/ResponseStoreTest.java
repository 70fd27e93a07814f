package io.kvasir.embedded.api;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.embedded.api.ResponseStore.Stored;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** The store against a list in order of use. */
class ResponseStoreTest {

  private record Entry(String id, Stored stored) {}

  @Test
  void itKeepsTheMostRecentlyUsed() {
    Random random = new Random(3);
    long maxBytes = 4000;
    ResponseStore store = new ResponseStore(maxBytes);
    List<Entry> expected = new ArrayList<>();
    for (int i = 0; i < 10_000; i++) {
      String id = "r" + random.nextInt(20);
      Entry known =
          expected.stream().filter(entry -> entry.id().equals(id)).findFirst().orElse(null);
      switch (random.nextInt(4)) {
        case 0 -> {
          assertThat(store.remove(id)).isEqualTo(known != null);
          expected.remove(known);
        }
        case 1 -> {
          Stored stored = new Stored(new byte[random.nextInt(1500)], new byte[random.nextInt(50)]);
          store.put(id, stored);
          expected.remove(known);
          expected.add(new Entry(id, stored));
          while (bytes(expected) > maxBytes) {
            expected.remove(0);
          }
        }
        default -> {
          assertThat(store.get(id)).isEqualTo(known == null ? null : known.stored());
          if (known != null) {
            expected.remove(known);
            expected.add(known);
          }
        }
      }
      assertThat(store.bytes()).isEqualTo(bytes(expected)).isLessThanOrEqualTo(maxBytes);
    }
    store.put("large", new Stored(new byte[5000], new byte[0]));
    assertThat(store.get("large")).isNull();
    assertThat(store.bytes()).isEqualTo(bytes(expected));
  }

  private static long bytes(List<Entry> entries) {
    return entries.stream().mapToLong(entry -> entry.stored().bytes()).sum();
  }
}
