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
    means.streamed(5_000, 5_000);
    assertThat(means.tokens()).as("at least so many").isEqualTo(5_000);
    assertThat(means.stayMs(0, 7_000 * MS)).isEqualTo(7_000);
  }

  @Test
  void whileNoneOfManyHasEndedTheMeansAreThoseOfTheLongest() {
    for (int i = 0; i < 100; i++) {
      means.began(i * 10 * MS);
    }
    for (int tokens = 1_000; tokens <= 6_000; tokens += 1_000) {
      for (int i = 0; i < 100; i++) {
        means.streamed(1_000, tokens);
      }
      assertThat(means.tokens()).isEqualTo(tokens);
    }
    assertThat(means.stayMs(0, 60_000 * MS)).isEqualTo(60_000);
    means.ended(true, 0, 60_000 * MS);
    assertThat(means.tokens()).isEqualTo(6_000);
    assertThat(means.stayMs(10 * MS, 61_000 * MS)).isEqualTo(60_990);
  }

  @Test
  void inTheLongRunTheyAreTheMeans() {
    long nowNs = 0;
    for (int i = 0; i < 2_000; i++) { // of 100 and 300 tokens, 200 and 600 ms
      long placedNs = nowNs;
      means.began(nowNs);
      nowNs += 200 * MS;
      int tokens = i % 2 == 0 ? 100 : 300;
      means.streamed(tokens, tokens);
      nowNs += i % 2 == 0 ? 0 : 400 * MS;
      means.ended(true, placedNs, nowNs);
    }
    assertThat(means.tokens()).isCloseTo(200, within(10.0));
    assertThat(means.stayMs(nowNs, nowNs)).isCloseTo(400, within(20.0));
  }

  @Test
  void thoseThatWereNotAnsweredAreNoEnds() {
    means.began(0);
    means.ended(false, 0, 50 * MS);
    means.streamed(512, 512);
    assertThat(means.tokens()).isEqualTo(512);
  }
}
