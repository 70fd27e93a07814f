package io.kvasir.gateway.proxy;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The one spelling of a path. */
class RequestTargetTest {

  @ParameterizedTest
  @CsvSource({
    "/v1/models,/v1/models",
    "/v1/chat/completions/,/v1/chat/completions",
    "//v1//chat///completions//,/v1/chat/completions",
    "/v1/chat/%63ompletions,/v1/chat/completions",
    "/%76%31/%63hat/completion%73,/v1/chat/completions",
    "/v1/./chat/x/../completions,/v1/chat/completions",
    "/v1/chat/%2e/x/%2E%2e/completions,/v1/chat/completions",
    "/v1/../../metrics,/metrics",
    "/v1/files/%c3%a9%20a,/v1/files/%C3%A9%20a",
    "/v1/files/a%2eb%7Ec,/v1/files/a.b~c",
    "/v1/models/org%2fname,/v1/models/org%2Fname",
    "http://host:80/v1/models,/v1/models",
    "HTTPS://user@host//v1/models/,/v1/models",
    "http://host,/",
    "/,/",
    "*,*"
  })
  void spellingsOfOneResourceAreOne(String target, String path) {
    assertThat(RequestTarget.of(target)).isEqualTo(new RequestTarget(path, ""));
    assertThat(RequestTarget.of(path)).as("again").isEqualTo(new RequestTarget(path, ""));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "/v1/chat%2fcompletions",
        "/v1/chat%2Fcompletions",
        "/v1/models/../chat%2Fcompletions",
        "/v1/chat\\completions",
        "/v1/chat%5ccompletions",
        "/v1/chat/completions;a=b",
        "/v1/chat/completions%3ba",
        "/v1/..;/metrics",
        "/v1/chat/completions%00",
        "/v1/chat/completions%0a",
        "/v1/files/%zz",
        "/v1/files/%4",
        "/v1/files/%",
        "/v1/chat/completions#x",
        "/v1/chat/completions?a#x"
      })
  void whatHasSeveralMeaningsHasNone(String target) {
    assertThat(RequestTarget.of(target)).isNull();
  }

  @Test
  void queriesStayAsTheyAre() {
    assertThat(RequestTarget.of("/v1/files/?a=%63&b=//../;x"))
        .isEqualTo(new RequestTarget("/v1/files", "?a=%63&b=//../;x"));
    assertThat(RequestTarget.of("http://host?a")).isEqualTo(new RequestTarget("/", "?a"));
  }
}
