package io.kvasir.simulator.trace;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class ConversationsTest {

  @Test
  void aRequestFollowsTheLatestHolderOfItsDeepestKnownId() {
    Conversations conversations =
        Conversations.infer(
            trace(new long[][] {{1, 2}, {1, 3}, {1, 2, 4}, {1, 3, 5}, {9}, {1, 2, 4, 6}}));

    assertThat(conversations.count()).isEqualTo(2);
    assertThat(conversations.of(1)).as("shares id 1, so the same conversation").isZero();
    assertThat(conversations.of(4)).isEqualTo(1);
    assertThat(conversations.firstTurn(0)).isTrue();
    assertThat(conversations.firstTurn(2)).isFalse();
    assertThat(conversations.firstTurn(4)).isTrue();
  }

  @Test
  void anIdInMoreThanFiftyRequestsIsNoConversation() {
    long[][] rows = new long[51][];
    for (int row = 0; row < 51; row++) {
      rows[row] = new long[] {0, 0, 100 + row};
    }
    assertThat(Conversations.infer(trace(rows)).count()).isEqualTo(51);

    rows[50] = new long[] {7};
    assertThat(Conversations.infer(trace(rows)).count()).isEqualTo(2);
  }

  private static Trace trace(long[][] rows) {
    TraceBuilder builder = new TraceBuilder("test", Trace.Format.MOONCAKE, 16);
    for (long[] row : rows) {
      for (long id : row) {
        builder.addId(id);
      }
      builder.addRow(0, row.length * 16, 1, null);
    }
    return builder.build();
  }
}
