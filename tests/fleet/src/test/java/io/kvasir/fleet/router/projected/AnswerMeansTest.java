package io.kvasir.fleet.router.projected;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import org.junit.jupiter.api.Test;

class AnswerMeansTest {

  private static final long MS = 1_000_000;

  private final AnswerMeans means = new AnswerMeans();

  @Test
  void answersThatRunCountBeforeTheyEnd() {
    means.began(0);
    assertThat(means.tokens()).isEqualTo(256);
    means.streamed(5_000);
    assertThat(means.tokens()).as("at least so many").isEqualTo(5_256);
    assertThat(means.stayMs(7_000 * MS)).isEqualTo(7_000);
  }

  @Test
  void inTheLongRunTheyAreTheMeans() {
    long nowNs = 0;
    for (int i = 0; i < 2_000; i++) { // of 100 and 300 tokens, 200 and 600 ms
      means.began(nowNs);
      nowNs += 200 * MS;
      int tokens = i % 2 == 0 ? 100 : 300;
      means.streamed(tokens);
      nowNs += i % 2 == 0 ? 0 : 400 * MS;
      means.ended(true, nowNs);
    }
    assertThat(means.tokens()).isCloseTo(200, within(10.0));
    assertThat(means.stayMs(nowNs)).isCloseTo(400, within(20.0));
  }

  @Test
  void thoseThatWereNotAnsweredAreNoEnds() {
    means.began(0);
    means.ended(false, 50 * MS);
    means.streamed(256);
    assertThat(means.tokens()).isEqualTo(512);
  }
}
