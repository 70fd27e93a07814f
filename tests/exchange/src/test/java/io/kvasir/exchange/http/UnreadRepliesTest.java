package io.kvasir.exchange.http;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class UnreadRepliesTest {

  private static final long THIRD = UnreadReplies.MAX_BYTES / 3;

  private final List<String> reset = new ArrayList<>();
  private final UnreadReplies replies = new UnreadReplies();

  private Runnable add(String name, long size) {
    Runnable action = () -> reset.add(name);
    replies.add(action, size);
    return action;
  }

  @Test
  void thoseThatHaveWaitedLongestAreReset() {
    Runnable first = add("first", THIRD);
    Runnable second = add("second", THIRD);
    add("third", THIRD);
    assertThat(reset).isEmpty();
    replies.remove(first);
    replies.remove(first);
    add("fourth", THIRD);
    assertThat(reset).isEmpty();
    add("fifth", 1 + THIRD / 2);
    assertThat(reset).containsExactly("second");
    replies.remove(second);
    add("sixth", 2 * THIRD);
    assertThat(reset).containsExactly("second", "third", "fourth");
  }

  @Test
  void theNewestIsNotResetHoweverLarge() {
    add("first", 1);
    add("large", 4 * THIRD);
    assertThat(reset).containsExactly("first");
    add("next", 1);
    assertThat(reset).containsExactly("first", "large");
  }
}
