package io.kvasir.gateway.proxy;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.exchange.Headers;
import io.netty.buffer.Unpooled;
import java.nio.charset.Charset;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Which bodies are read before they pass. */
class BodyKindsTest {

  @ParameterizedTest
  @CsvSource({
    "application/json,true",
    "application/x-ndjson+json,true",
    "application/JSONL+JSON; a=b,true",
    "application/x-ndjson,true",
    "'',true",
    "text/plain; a=json,false",
    "audio/wav,false"
  })
  void everyTypeThatNamesJsonIsRead(String type, boolean read) {
    assertThat(BodyKinds.isJson(new Headers().add("content-type", type))).isEqualTo(read);
  }

  /** Python's {@code json.loads} reads all of them. */
  @ParameterizedTest
  @ValueSource(
      strings = {"UTF-8", "UTF-16", "UTF-16LE", "UTF-16BE", "UTF-32", "UTF-32LE", "X-UTF-16LE-BOM"})
  void jsonIsSeenInEveryEncoding(String charset) {
    for (String json : new String[] {"{}", " \r\n\t{\"a\":1}", "[{}]", "  ", "\ufeff{}"}) {
      assertThat(looksLikeJson(json, charset)).as(json).isTrue();
    }
    for (String other : new String[] {"--boundary", "a={}", "\"{}\"", "RIFF{"}) {
      assertThat(looksLikeJson(other, charset)).as(other).isFalse();
    }
  }

  @Test
  void emptyBodiesAndSilenceAreNoJson() {
    assertThat(looksLikeJson("\0\0\0\0{}", "UTF-8")).isFalse();
    assertThat(looksLikeJson("", "UTF-8")).isFalse();
  }

  private static boolean looksLikeJson(String text, String charset) {
    return BodyKinds.looksLikeJson(Unpooled.wrappedBuffer(text.getBytes(Charset.forName(charset))));
  }
}
