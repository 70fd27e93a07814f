package io.kvasir.fleet.record;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.core.JsonGenerator;
import io.kvasir.fleet.record.ServedRequest.Form;
import java.io.IOException;
import java.io.StringWriter;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
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
          new long[] {-1, 1L << 62},
          0);

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
                + "\"tookMs\":12.345,\"firstTokenMs\":4.500,\"inputTokens\":40,\"outputTokens\":7,"
                + "\"cachedTokens\":16,\"matchedTokens\":32,\"blocksOf\":\"tokens\","
                + "\"tokensPerBlock\":16,\"blocks\":\"//////////8AAAAAAAAAQA==\"}");
    assertThat(new ServedRequestReader().read(json(FULL)))
        .usingRecursiveComparison()
        .isEqualTo(FULL);

    ServedRequest least =
        new ServedRequest("", "", -1, null, 0, -1, 1, 0, -1, 0, Form.TEXT, 16, new long[0], 0);
    assertThat(new ServedRequestReader().read(json(least)))
        .usingRecursiveComparison()
        .isEqualTo(least);
  }

  /** Recordings had names as numbers first. */
  @Test
  void namesThatAreNumbersAreRead() throws IOException {
    String numbers = json(FULL).replace("\"//////////8AAAAAAAAAQA==\"", "[-1,4611686018427387904]");
    assertThat(numbers).contains("[-1");
    assertThat(new ServedRequestReader().read(numbers)).usingRecursiveComparison().isEqualTo(FULL);
  }

  private static ServedRequest request(String model, int known, long... blocks) {
    int tokens = Math.max(1, 16 * blocks.length);
    return new ServedRequest(
        model, "w", 0, null, 1, -1, tokens, 1, -1, 0, Form.TOKENS, 16, blocks, known);
  }

  @Test
  void knownBlocksAreReadBehindTheLastOne() throws IOException {
    ServedRequestReader reader = new ServedRequestReader();
    List<ServedRequest> requests =
        List.of(
            request("m", 0, 1, -2, 3),
            request("m", 2, 1, -2, 4, 5),
            request("m", 4, 1, -2, 4, 5),
            request("other", 0, 7, -2),
            request("other", 2, 7, -2, 3),
            request("m", 3, 1, -2, 3, 6));
    for (ServedRequest request : requests) {
      assertThat(reader.read(json(request))).usingRecursiveComparison().isEqualTo(request);
    }
    assertThat(json(requests.get(2))).endsWith("\"behind\":5,\"blocks\":\"\"}");
  }

  @Test
  void randomPromptsOfSeveralModelsAreReadAsTheyWereWritten() throws IOException {
    long seed = 20261126;
    Random random = new Random(seed);
    ServedRequestReader reader = new ServedRequestReader();
    Map<String, List<long[]>> written = new HashMap<>();
    for (int i = 0; i < 2_000; i++) {
      String model = "m" + random.nextInt(3);
      List<long[]> earlier = written.computeIfAbsent(model, key -> new ArrayList<>());
      long[] of = earlier.isEmpty() ? new long[0] : earlier.get(random.nextInt(earlier.size()));
      int known = random.nextInt(of.length + 1);
      long[] blocks = Arrays.copyOf(of, Math.max(1, known + random.nextInt(4)));
      for (int at = known; at < blocks.length; at++) {
        blocks[at] = random.nextLong();
      }
      ServedRequest request = request(model, known, blocks);
      assertThat(reader.read(json(request)))
          .as("request %d of seed %d", i, seed)
          .usingRecursiveComparison()
          .isEqualTo(request);
      earlier.add(blocks);
    }
  }

  @ParameterizedTest
  @CsvSource({"m,4", "other,2"})
  void aBlockThatIsNotThereIsNamed(String model, int behind) throws IOException {
    ServedRequestReader reader = new ServedRequestReader();
    assertThat(reader.read(json(request("m", 0, 1, 2, 3)))).isNotNull();
    String text = json(request(model, 2, 1, 2, 9)).replace("\"behind\":2", "\"behind\":" + behind);
    assertThatThrownBy(() -> reader.read(text))
        .isInstanceOf(InvalidRecordingException.class)
        .hasMessage(
            "behind must be a block of an earlier request of the same model, not " + behind);
  }

  @Test
  void otherEventsAreNoRequests() throws IOException {
    assertThat(new ServedRequestReader().read("{\"op\":\"event\",\"worker\":1}")).isNull();
    assertThat(new ServedRequestReader().read("{}")).isNull();
  }

  @Test
  void fieldsOfALaterVersionAreSkipped() throws IOException {
    String later = json(FULL).replace("\"tookMs\"", "\"tier\":{\"a\":[1]},\"tookMs\"");
    assertThat(new ServedRequestReader().read(later)).usingRecursiveComparison().isEqualTo(FULL);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "'\"tookMs\":12.345,' | '' | tookMs is missing",
        "'\"blocks\":\"//////////8AAAAAAAAAQA==\"' | '\"x\":1' | blocks is missing",
        "12.345 | '\"soon\"' | tookMs must be a number of at least 0",
        "'Tokens\":40' | 'Tokens\":0' | inputTokens must be within 1 to 16777216, not 0",
        "'Tokens\":40' | 'Tokens\":4e1' | inputTokens must be an integer from 0 to 2147483647",
        "'Tokens\":40' | 'Tokens\":20' | 'blocks must be at most 1 for inputTokens 20 at 16 tokens a"
            + " block, not 2'",
        "'\"//////////8AAAAAAAAAQA==\"' | '[9223372036854775808]' | blocks must be integers of 64 bits",
        "'\"//////////8AAAAAAAAAQA==\"' | '1' | blocks must be a text or an array",
        "'AAQA==' | 'AAQA=' | blocks must be base64 of 8 bytes a block",
        "'//////////8AAAAAAAAAQA==' | 'AAAA' | blocks must be base64 of 8 bytes a block",
        "'\"tokens\"' | '\"words\"' | blocksOf must be tokens or text",
        "'\"worker\":\"w\"' | '\"worker\":1' | worker must be a text",
      })
  void badFieldsAreNamed(String part, String wrong, String message) throws IOException {
    String text = json(FULL);
    assertThat(text).contains(part);
    assertThatThrownBy(() -> new ServedRequestReader().read(text.replace(part, wrong)))
        .isInstanceOf(InvalidRecordingException.class)
        .hasMessage(message);
  }
}
