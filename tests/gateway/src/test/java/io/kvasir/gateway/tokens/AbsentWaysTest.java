package io.kvasir.gateway.tokens;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** What the refusal of a question says of the endpoint. */
class AbsentWaysTest {

  private static final String WAY = "/tokenize for chats";

  @Test
  void aRefusedQuestionIsAtFaultOnceOthersWereAnswered() {
    AbsentWays ways = new AbsentWays(1);
    for (int status : new int[] {400, 422, 404, 501}) {
      assertThat(ways.isAbsence(WAY, status)).as("%d", status).isTrue();
    }
    assertThat(ways.remove(WAY)).isFalse();
    assertThat(ways.isAbsence(WAY, 400)).isFalse();
    assertThat(ways.isAbsence(WAY, 422)).isFalse();
    assertThat(ways.isAbsence(WAY, 404)).isTrue();
    assertThat(ways.isAbsence("/render", 400)).isTrue();
  }
}
