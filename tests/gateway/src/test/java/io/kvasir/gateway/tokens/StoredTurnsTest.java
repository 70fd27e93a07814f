package io.kvasir.gateway.tokens;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.gateway.tokens.StoredTurns.Turn;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;

class StoredTurnsTest {

  private static final int MIB = 1 << 20;

  private final StoredTurns turns = new StoredTurns();

  private static byte[] ascii(String text) {
    return text.getBytes(StandardCharsets.US_ASCII);
  }

  private void put(String id, String previous) {
    turns.put(id, new Turn(previous, ascii("in " + id), ascii("out " + id)));
  }

  private List<String> upTo(String id) {
    return turns.upTo(id).parts().stream()
        .map(each -> new String(each, StandardCharsets.US_ASCII))
        .toList();
  }

  @Test
  void aConversationIsWhatItsTurnsHaveAdded() {
    put("a", null);
    put("b", "a");
    put("c", "b");
    put("d", "a");
    assertThat(upTo("c")).containsExactly("in a", "out a", "in b", "out b", "in c", "out c");
    assertThat(upTo("d")).containsExactly("in a", "out a", "in d", "out d");
    assertThat(turns.upTo("d").bytes()).isEqualTo(18);
    assertThat(turns.upTo(null).bytes()).isZero();
  }

  @Test
  void aTurnThatIsNotKnownLeavesNothing() {
    put("b", "a");
    assertThat(upTo("b")).isEmpty();
    assertThat(upTo("x")).isEmpty();
  }

  @Test
  void idsThatLeadBackToThemselvesEnd() {
    put("a", "b");
    put("b", "a");
    put("c", "c");
    assertThat(upTo("b")).isEmpty();
    assertThat(upTo("c")).isEmpty();
  }

  @Test
  void turnsWithIdsOfAnyLengthAreNotKept() {
    String longest = "x".repeat(256);
    put(longest, null);
    put("a", longest);
    assertThat(upTo("a")).hasSize(4);
    put(longest + "x", null);
    put("b", longest + "x");
    assertThat(upTo(longest + "x")).isEmpty();
    turns.put(longest + "x", new Turn(null, new byte[64 * MIB], new byte[0]));
    assertThat(upTo("a")).as("what is not kept takes no room").hasSize(4);
  }

  @Test
  void theBytesHaveABoundAndTheLeastUsedGo() {
    for (int i = 0; i < 63; i++) {
      turns.put("t" + i, new Turn(null, new byte[MIB], new byte[0]));
    }
    assertThat(turns.upTo("t0").parts()).hasSize(2);
    turns.put("t63", new Turn(null, new byte[MIB], new byte[0]));
    assertThat(turns.upTo("t0").parts()).as("was asked for").hasSize(2);
    assertThat(turns.upTo("t1").parts()).as("is the one used least").isEmpty();
    turns.put("t63", new Turn(null, new byte[0], new byte[0]));
    turns.put("t64", new Turn(null, new byte[MIB], new byte[0]));
    assertThat(turns.upTo("t2").parts()).as("one was replaced by a small one").hasSize(2);
    turns.put("large", new Turn(null, new byte[64 * MIB], new byte[0]));
    assertThat(turns.upTo("large").parts()).isEmpty();
  }
}
