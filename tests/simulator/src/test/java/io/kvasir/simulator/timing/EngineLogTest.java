package io.kvasir.simulator.timing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Logs of single requests, and of whole runs as vLLM and SGLang write them. */
class EngineLogTest {

  @TempDir Path folder;

  private Path file(String text) throws IOException {
    return Files.writeString(folder.resolve("log.json"), text);
  }

  @Test
  void readsRequests() throws IOException {
    Path file =
        file(
            """
            {"prompt_tokens": 100, "cached_tokens": 64, "ttft_ms": 12.5, "itl_ms": [8, 9.5], "start_ms": 7}
            {"prompt_tokens": 64, "cached_tokens": 64, "ttft_ms": 3, "itl_ms": 8, "output_tokens": 4}
            {"prompt_tokens": 5, "ttft_ms": 2, "model": "m"}
            """);
    EngineLog.Contents contents = EngineLog.read(file);
    assertThat(contents.failed()).isZero();
    AnsweredRequest first = contents.requests().get(0);
    assertThat(first.startMs()).isEqualTo(7);
    assertThat(first.computedTokens()).isEqualTo(36);
    assertThat(first.gapsMs()).containsExactly(8, 9.5);
    AnsweredRequest second = contents.requests().get(1);
    assertThat(second.started()).isFalse();
    assertThat(second.computedTokens()).isEqualTo(1);
    assertThat(second.gapsMs()).containsExactly(8, 8, 8);
    assertThat(contents.requests().get(2).gapsMs()).isEmpty();
  }

  @Test
  void readsRuns() throws IOException {
    Path file =
        file(
            """
            {"backend": "vllm", "input_lens": [10, 20, 30],
             "output_lens": [2, 0, 1], "ttfts": [0.5, 0.0, 0.25], "itls": [[0.01], [], []],
             "start_times": [1.5, 2.0, 2.5], "errors": ["", "refused", ""]}
            {"input_lens": [40], "ttfts": [1], "itls": [[]]}
            """);
    EngineLog.Contents contents = EngineLog.read(file);
    assertThat(contents.failed()).isEqualTo(1);
    assertThat(contents.requests()).hasSize(3);
    AnsweredRequest first = contents.requests().get(0);
    assertThat(first.startMs()).isEqualTo(1_500);
    assertThat(first.firstTokenMs()).isEqualTo(500);
    assertThat(first.gapsMs()).containsExactly(10);
    assertThat(contents.requests().get(1).promptTokens()).isEqualTo(30);
    assertThat(contents.requests().get(2).started()).isFalse();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      textBlock =
          """
          `{"ttft_ms": 1}` | 1: prompt_tokens must be an integer of at least 0
          `{"prompt_tokens": 0, "ttft_ms": 1}` | 1: the prompt must have at least 1 token
          `{"prompt_tokens": 5, "cached_tokens": 6, "ttft_ms": 1}` | 1: the cached tokens must be from 0 to 4, not 6
          `{"prompt_tokens": 5}` | 1: ttft_ms must be a number
          `{"prompt_tokens": 5, "ttft_ms": -1}` | 1: the time to the first token must be above 0
          `{"prompt_tokens": 5, "ttft_ms": 1, "itl_ms": [-1]}` | 1: the time between tokens must be at least 0
          `{"prompt_tokens": 5, "ttft_ms": 1, "itl_ms": "x"}` | 1: itl_ms must be a number
          `{"prompt_tokens": 5, "ttft_ms": 1, "itl_ms": 2}` | 1: output_tokens must be an integer of at least 0
          `{"ttfts": 3}` | 1: ttfts must be a list; vLLM writes it with --save-detailed, SGLang with --output-details
          `{"ttfts": [1], "input_lens": []}` | 1: input_lens must have as many elements as ttfts, 1, not 0
          `[1]` | 1: must be an object
          `{"ttfts"` | 1: not JSON
          `` | ` has no answered requests`
          """)
  void namesWhatIsWrong(String text, String problem) throws IOException {
    Path file = file(text == null ? "" : text);
    assertThatThrownBy(() -> EngineLog.read(file))
        .isInstanceOf(InvalidLogException.class)
        .hasMessageStartingWith(file + ":" + problem);
  }
}
