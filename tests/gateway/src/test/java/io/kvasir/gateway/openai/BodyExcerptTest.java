package io.kvasir.gateway.openai;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class BodyExcerptTest {

  private static String text(byte[] json) {
    return new String(json, StandardCharsets.UTF_8).replace('"', '\'');
  }

  @Test
  void fieldsAreCopiedAsTheyAre() throws InvalidBodyException {
    BodyScan body =
        BodyScanTest.scan(
            "{'x':1, 'tools' : [ {} ] ,'prompt':'\\u00e9','model':null,'echo':false}"
                .replace('\'', '"'));
    assertThat(text(BodyExcerpt.of(body, List.of(BodyField.MODEL)))).isEqualTo("{}");
    List<BodyField> fields = List.of(BodyField.MODEL, BodyField.PROMPT, BodyField.TOOLS);
    assertThat(text(BodyExcerpt.of(body, fields))).isEqualTo("{'prompt':'\\u00e9','tools':[ {} ]}");
    assertThat(text(BodyExcerpt.of(body, fields, BodyField.SUFFIX, "7")))
        .isEqualTo("{'prompt':'\\u00e9','tools':[ {} ],'suffix':7}");
    assertThat(text(BodyExcerpt.of(body, List.of(), BodyField.SUFFIX, "7")))
        .isEqualTo("{'suffix':7}");
    assertThat(body.isFalse(BodyField.ECHO)).isTrue();
    assertThat(body.isFalse(BodyField.SUFFIX)).isFalse();
    assertThat(body.isText(BodyField.PROMPT)).isTrue();
    assertThat(body.isText(BodyField.TOOLS)).isFalse();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "[] | []",
        "[1,2] | [1, 2]",
        "[[1],[2,3],[]] | [1] [2, 3] []",
        "[4294967295] | [-1]",
        "[1,[2]] |",
        "[[2],1] |",
        "[-1] |",
        "[1.5] |",
        "['a'] |",
        "[null] |",
        "[{}] |",
        "[[[1]]] |",
        "'text' |",
        "7 |",
        "null |",
      })
  void tokensAreReadOrNothing(String value, String expected) throws InvalidBodyException {
    BodyScan body = BodyScanTest.scan(("{\"input_ids\":" + value + "}").replace('\'', '"'));
    List<int[]> tokens = body.tokens(BodyField.INPUT_IDS);
    String found =
        tokens == null
            ? null
            : tokens.stream().map(Arrays::toString).collect(Collectors.joining(" "));
    assertThat(found).isEqualTo(expected);
    assertThat(body.tokens(BodyField.PROMPT_TOKEN_IDS)).isNull();
  }
}
