package io.kvasir.gateway.worker;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class EngineQuestionTest {

  @Test
  void aMissingEndpointIsAnAnswerAndAFailureIsNone() {
    for (int status : new int[] {200, 400, 401, 404, 405, 501, EngineQuestion.TOO_LARGE}) {
      assertThat(EngineQuestion.isAnswer(status)).as("%d", status).isTrue();
    }
    for (int status : new int[] {EngineQuestion.NO_ANSWER, 429, 500, 502, 503, 504}) {
      assertThat(EngineQuestion.isAnswer(status)).as("%d", status).isFalse();
    }
  }

  @Test
  void aProblemNamesTheQuestion() {
    assertThat(EngineQuestion.problem("/metrics", EngineQuestion.NO_ANSWER))
        .isEqualTo("no answer to GET /metrics");
    assertThat(EngineQuestion.problem("/metrics", 503))
        .isEqualTo("the answer to GET /metrics has status 503");
    assertThat(EngineQuestion.problem("/metrics", EngineQuestion.TOO_LARGE))
        .isEqualTo("the answer to GET /metrics is too large");
  }
}
