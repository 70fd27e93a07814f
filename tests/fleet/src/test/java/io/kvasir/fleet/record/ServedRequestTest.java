package io.kvasir.fleet.record;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.core.JsonGenerator;
import io.kvasir.fleet.record.ServedRequest.Form;
import java.io.IOException;
import java.io.StringWriter;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ServedRequestTest {

  private static final ServedRequest FULL =
      new ServedRequest(
          "m",
          "w",
          3,
          "c7",
          12.345,
          4.5,
          40,
          7,
          16,
          32,
          Form.TOKENS,
          16,
          new long[] {-1, 1L << 62});

  private static String json(ServedRequest request) throws IOException {
    StringWriter text = new StringWriter();
    try (JsonGenerator json = RecordingJson.FACTORY.createGenerator(text)) {
      request.writeTo(json);
    }
    return text.toString();
  }

  @Test
  void whatIsWrittenIsRead() throws IOException {
    assertThat(json(FULL))
        .isEqualTo(
            "{\"op\":\"request\",\"model\":\"m\",\"worker\":\"w\",\"dpRank\":3,\"conversation\":\"c7\","
                + "\"tookMs\":12.345,\"firstTokenMs\":4.5,\"inputTokens\":40,\"outputTokens\":7,"
                + "\"cachedTokens\":16,\"matchedTokens\":32,\"blocksOf\":\"tokens\","
                + "\"tokensPerBlock\":16,\"blocks\":[-1,4611686018427387904]}");
    assertThat(ServedRequest.parse(json(FULL))).usingRecursiveComparison().isEqualTo(FULL);

    ServedRequest least =
        new ServedRequest("", "", -1, null, 0, -1, 1, 0, -1, 0, Form.TEXT, 16, new long[0]);
    assertThat(ServedRequest.parse(json(least))).usingRecursiveComparison().isEqualTo(least);
  }

  @Test
  void otherEventsAreNoRequests() throws IOException {
    assertThat(ServedRequest.parse("{\"op\":\"event\",\"worker\":1}")).isNull();
    assertThat(ServedRequest.parse("{}")).isNull();
  }

  @Test
  void fieldsOfALaterVersionAreSkipped() throws IOException {
    String later = json(FULL).replace("\"tookMs\"", "\"tier\":{\"a\":[1]},\"tookMs\"");
    assertThat(ServedRequest.parse(later)).usingRecursiveComparison().isEqualTo(FULL);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "'\"tookMs\":12.345,' | '' | tookMs is missing",
        "'\"blocks\":[-1,4611686018427387904]' | '\"x\":1' | blocks is missing",
        "12.345 | '\"soon\"' | tookMs must be a number of at least 0",
        "'Tokens\":40' | 'Tokens\":0' | inputTokens must be within 1 to 16777216, not 0",
        "'Tokens\":40' | 'Tokens\":4e1' | inputTokens must be an integer from 0 to 2147483647",
        "'Tokens\":40' | 'Tokens\":20' | 'blocks must be at most 1 for inputTokens 20 at 16 tokens a"
            + " block, not 2'",
        "'[-1,' | '[9223372036854775808,' | blocks must be integers of 64 bits",
        "'\"tokens\"' | '\"words\"' | blocksOf must be tokens or text",
        "'\"worker\":\"w\"' | '\"worker\":1' | worker must be a text",
      })
  void badFieldsAreNamed(String part, String wrong, String message) throws IOException {
    String text = json(FULL);
    assertThat(text).contains(part);
    assertThatThrownBy(() -> ServedRequest.parse(text.replace(part, wrong)))
        .isInstanceOf(InvalidRecordingException.class)
        .hasMessage(message);
  }
}
