package io.kvasir.simulator.trace;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.github.luben.zstd.ZstdOutputStream;
import io.kvasir.model.Request;
import io.kvasir.simulator.workload.TraceRequests;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.stream.IntStream;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.tukaani.xz.LZMA2Options;
import org.tukaani.xz.XZOutputStream;

class TraceReaderTest {

  private static final TraceReading OF_FILE =
      new TraceReading(new TraceUnits(null, null), null, false);

  private static final String AZURE = "TIMESTAMP,ContextTokens,GeneratedTokens";

  private static final String LIKE =
      "{\"timestamp\": 0, \"input_length\": 900, \"output_length\": 8, \"hash_ids\": [50, 51]}";

  private static final String GOOD =
      "{\"timestamp\": 5, \"input_length\": 1000, \"output_length\": 3, \"hash_ids\": [7, 8]}\n";

  @TempDir Path folder;

  @Test
  void readsRowsRelativeToTheFirst() throws IOException {
    Trace trace =
        read(
            "trace.jsonl",
            GOOD
                + "\n"
                + "{\"hash_ids\":[7,9,-1],\"output_length\":0,\"timestamp\":6.25,\"input_length\":1025}");

    assertThat(trace.rows()).isEqualTo(2);
    assertThat(trace.arrivalNs(0)).isZero();
    assertThat(trace.arrivalNs(1)).isEqualTo(1_250_000);
    assertThat(trace.inputTokens(1)).isEqualTo(1025);
    assertThat(trace.outputTokens(0)).isEqualTo(3);
    assertThat(trace.outputTokens(1)).isZero();
    assertThat(trace.idCount(1)).isEqualTo(3);
    assertThat(trace.id(1, 2)).isEqualTo(-1);
    assertThat(trace.blockUpperBound()).isEqualTo(1 / 5.0);
  }

  @ParameterizedTest
  @ValueSource(strings = {"\uFEFF", "\n \n", "\uFEFF\r\n"})
  void whatMayStandInFrontOfTheFirstRowIsPassedOver(String prefix) throws IOException {
    assertThat(read("trace.jsonl", prefix + GOOD).rows()).isEqualTo(1);
    assertThat(read("trace.csv", prefix + AZURE + "\n2023-11-16 18:15:46,3,4\n").rows())
        .isEqualTo(1);
    assertThatThrownBy(() -> read("trace.jsonl", "\n" + GOOD + "{"))
        .hasMessageEndingWith(":3: the JSON object is cut short");
    assertThatThrownBy(() -> read("trace.jsonl", prefix)).hasMessageEndingWith(": is empty");
  }

  @ParameterizedTest
  @ValueSource(strings = {"plain", "gz", "xz", "zst"})
  void readsCompressedFilesWhateverTheirName(String compression) throws IOException {
    Path file = folder.resolve("trace-of-" + compression);
    Files.write(file, compressed(compression, GOOD.repeat(500)));

    assertThat(TraceReader.read(file, OF_FILE).rows()).isEqualTo(500);
  }

  @ParameterizedTest
  @ValueSource(strings = {"gz", "xz", "zst"})
  void aCompressedFileCutShortIsAnErrorOfItsLine(String compression) throws IOException {
    byte[] whole = compressed(compression, GOOD.repeat(500));
    Path file = folder.resolve("trace.jsonl." + compression);
    Files.write(file, Arrays.copyOf(whole, whole.length - 20));

    assertThatThrownBy(() -> TraceReader.read(file, OF_FILE))
        .isInstanceOf(InvalidTraceException.class)
        .hasMessageMatching(
            "(?s).*trace\\.jsonl\\.\\w+:\\d+: the file is damaged or cut short: (the data ends too early|Truncated source)");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '\0',
      value = {
        "{\"timestamp\": 6, \"input_length\": 10, \"outp | the JSON object is cut short",
        "nonsense | is not valid JSON; each line must be a JSON object like LIKE",
        "[1] | each line must be a JSON object",
        "ROW {} | each line must be one JSON object and nothing else",
        "{\"timestamp\": 4, \"input_length\": 10, \"output_length\": 1, \"hash_ids\": []} | timestamp must not go back: 4 after 5.0; --trace-sort sorts the rows",
        "{\"timestamp\": -4, \"input_length\": 10, \"output_length\": 1, \"hash_ids\": []} | timestamp must be 0 to 9000000000000 milliseconds, not -4",
        "{\"timestamp\": 1e99, \"input_length\": 10, \"output_length\": 1, \"hash_ids\": []} | timestamp must be 0 to 9000000000000 milliseconds, not 1e99",
        "{\"timestamp\": \"6\", \"input_length\": 10, \"output_length\": 1, \"hash_ids\": []} | timestamp must be a number of milliseconds",
        "{\"timestamp\": 6, \"input_length\": -10, \"output_length\": 1, \"hash_ids\": []} | input_length must be an integer from 1 to 16777216, not -10",
        "{\"timestamp\": 6, \"input_length\": 0, \"output_length\": 1, \"hash_ids\": []} | input_length must be an integer from 1 to 16777216, not 0",
        "{\"timestamp\": 6, \"input_length\": 1.5, \"output_length\": 1, \"hash_ids\": []} | input_length must be an integer from 1 to 16777216",
        "{\"timestamp\": 6, \"input_length\": 99999999999999999999, \"output_length\": 1, \"hash_ids\": []} | input_length must be an integer from 1 to 16777216",
        "{\"timestamp\": 6, \"input_length\": 10, \"output_length\": -1, \"hash_ids\": []} | output_length must be an integer from 0 to 16777216, not -1",
        "{\"timestamp\": 6, \"input_length\": 10, \"output_length\": null, \"hash_ids\": []} | output_length must be an integer from 0 to 16777216",
        "{\"timestamp\": 6, \"input_length\": 10, \"output_length\": 1, \"hash_ids\": [\"a\"]} | hash_ids must be an array of integers",
        "{\"timestamp\": 6, \"input_length\": 10, \"output_length\": 1, \"hash_ids\": [1.5]} | hash_ids must be an array of integers",
        "{\"timestamp\": 6, \"input_length\": 10, \"output_length\": 1, \"hash_ids\": [[1]]} | hash_ids must be an array of integers",
        "{\"timestamp\": 6, \"input_length\": 10, \"output_length\": 1, \"hash_ids\": 3} | hash_ids must be an array of integers",
        "{\"timestamp\": 6, \"input_length\": 10, \"output_length\": 1, \"hash_ids\": null} | hash_ids must be an array of integers",
        "{\"timestamp\": 6, \"output_length\": 1, \"input_length\": 9, \"hash_ids\": [], \"runs\": []} | hash_ids and runs exclude each other",
        "{\"timestamp\": 6, \"output_length\": 1, \"input_length\": 9, \"runs\": [[1]]} | runs must be an array of pairs [first id, count]",
        "{\"timestamp\": 6, \"output_length\": 1, \"input_length\": 9, \"runs\": [[1, 0]]} | a count of runs must be 1 to 16777216, not 0",
        "{\"timestamp\": 6, \"output_length\": 1, \"input_length\": 9, \"runs\": [[1, 2]]} | runs must list at most 1 ids for input_length 9 at 512 tokens an id (--trace-block-tokens), not 2",
        "{\"timestamp\": 6, \"output_length\": 1, \"prompt_token_ids\": [-1]} | prompt_token_ids must be an array of integers from 0 to 4294967295",
        "{\"timestamp\": 6, \"output_length\": 1, \"prompt_token_ids\": []} | prompt_token_ids must list 1 to 16777216 tokens, not 0",
        "{\"timestamp\": 6, \"output_length\": 1, \"input_length\": 2, \"prompt_token_ids\": [5]} | input_length must be the number of prompt_token_ids, 1, not 2",
        "{\"timestamp\": 6, \"output_length\": 1, \"input_length\": 9, \"session\": true} | session must be an integer or a text of 1 to 256 characters",
        "{\"input_length\": 10, \"output_length\": 1, \"hash_ids\": []} | timestamp is missing",
        "{\"timestamp\": 6, \"output_length\": 1, \"hash_ids\": []} | input_length is missing",
        "{\"timestamp\": 6, \"input_length\": 10, \"hash_ids\": []} | output_length is missing",
        "{\"timestamp\": 6, \"input_length\": 1x, \"output_length\": 1} | is not valid JSON in input_length; each line must be a JSON object like LIKE",
        "{\"timestamp\": NaN, \"input_length\": 10, \"output_length\": 1} | timestamp must be 0 to 9000000000000 milliseconds, not NaN",
        "{\"timestamp\": 1753780607550317897, \"input_length\": 10, \"output_length\": 1} | timestamp must be 0 to 9000000000000 milliseconds, not 1753780607550317897; --trace-time-unit us or ns reads smaller units",
        "{\"timestamp\": 6, \"input_length\": NaN, \"output_length\": 1} | input_length must be an integer from 1 to 16777216",
        "{\"timestamp\": 6, \"input_length\": -Infinity, \"output_length\": 1} | input_length must be an integer from 1 to 16777216",
        "{\"timestamp\": 6, \"input_length\": 1e30, \"output_length\": 1} | input_length must be an integer from 1 to 16777216",
        "{\"timestamp\": 6, \"input_length\": 10, \"output_length\": 1, \"hash_ids\": [NaN]} | hash_ids must be an array of integers",
        "{\"timestamp\": 6, \"input_length\": 10, \"output_length\": 1, \"hash_ids\": [1.8446744073709552e19]} | hash_ids must be an array of integers",
        "{\"id\": \"trace_0001\", \"block_size\": 64, \"requests\": [{\"t\": 0.0, \"in\": 71175}]} | timestamp is missing; requests holds a whole conversation, as in Weka's traces; expected a request a line, with timestamp, input_length, output_length and hash_ids",
        "{\"t\": 0.0, \"type\": \"n\", \"in\": 71175, \"out\": 169, \"hash_ids\": [1]} | timestamp is missing; t, in and out are the fields of Weka's traces; expected a request a line, with timestamp, input_length, output_length and hash_ids",
        "{\"timestamp\": 6, \"input\": \"Hello\", \"output\": \"Hi\", \"session_id\": 0} | input_length is missing; input holds text, as in LMCache's traces; expected a request a line, with timestamp, input_length, output_length and hash_ids",
        "{\"session_id\": \"a\", \"input\": [{\"role\": \"user\"}], \"output_length\": 52, \"pre_gap\": 0.1} | timestamp is missing; input holds text, as in LMCache's traces; expected a request a line, with timestamp, input_length, output_length and hash_ids",
        "{\"timestamp\": 6, \"timestamp\": 7} | each field may occur only once, not twice as timestamp",
        "{\"timestamp\": 6, \"input_length\": 512, \"output_length\": 1, \"hash_ids\": [1, 2]} | hash_ids must list at most 1 ids for input_length 512 at 512 tokens an id (--trace-block-tokens), not 2",
      })
  void aWrongLineIsNamedWithItsFieldAndWhatIsAllowed(String line, String problem) {
    String text = GOOD + line.replace("ROW", GOOD.strip()) + "\n" + GOOD;

    assertThatThrownBy(() -> read("trace.jsonl", text))
        .isInstanceOf(InvalidTraceException.class)
        .hasMessage(folder.resolve("trace.jsonl") + ":2: " + problem.replace("LIKE", LIKE));
  }

  @Test
  void emptyAbsentAndForeignFilesAreErrors() {
    assertThatThrownBy(() -> read("trace.jsonl", "")).hasMessageEndingWith("trace.jsonl: is empty");
    assertThatThrownBy(() -> read("trace.csv", AZURE))
        .hasMessageEndingWith("trace.csv: has no requests");
    assertThatThrownBy(() -> read("trace.jsonl", "\u0001\u0002\n"))
        .hasMessageEndingWith(
            "trace.jsonl:1: must be a JSON object (Mooncake), the header"
                + " TIMESTAMP,ContextTokens,GeneratedTokens (Azure) or that of BurstGPT;"
                + " --trace-columns names the columns of other CSV");
    assertThatThrownBy(() -> TraceReader.read(folder.resolve("none.jsonl"), OF_FILE))
        .isInstanceOf(InvalidTraceException.class)
        .hasMessageEndingWith("none.jsonl: no such file");
    assertThatThrownBy(() -> TraceReader.read(folder, OF_FILE))
        .isInstanceOf(InvalidTraceException.class)
        .hasMessageEndingWith(": is a directory, not a trace");
  }

  @Test
  void extraKeysAndMissingIdsAreWarnedAboutOnce() throws IOException {
    String row =
        "{\"timestamp\": 5, \"input_length\": 1100, \"output_length\": 3, \"hash_ids\": [7],"
            + " \"session\": {\"id\": [1]}}\n";

    assertThat(read("trace.jsonl", row + row).warnings())
        .containsExactly(
            "ignored keys: session",
            "2 rows list fewer ids than they have full blocks of 512 tokens"
                + " (--trace-block-tokens); the rest of their prompts is unique");
  }

  @Test
  void aRowGivesItsPromptInOneOfFourWays() throws IOException {
    Trace trace =
        read(
            "trace.jsonl",
            """
            {"timestamp": 0, "input_length": 2000, "output_length": 1, "hash_ids": [7, 8, 9, 20]}
            {"timestamp": 1, "input_length": 2000, "output_length": 1, "runs": [[7, 3], [20, 1]]}
            {"timestamp": 2, "output_length": 1, "prompt_token_ids": [5, 4294967295, 6]}
            {"timestamp": 3, "input_length": 9, "output_length": 1}
            """);
    TraceRequests requests = new TraceRequests(trace, Conversations.infer(trace));

    assertThat(requests.request(1).tokens()).isEqualTo(requests.request(0).tokens());
    assertThat(requests.request(2).tokens()).containsExactly(5, -1, 6);
    assertThat(requests.request(2).leadingTokens(2)).startsWith(5, -1);
    assertThat(requests.request(2).promptTokens()).isEqualTo(3);
    assertThat(requests.request(3).tokens()).hasSize(9);
  }

  @Test
  void integersMayHaveAFractionOfZeroAndIdsAnySize() throws IOException {
    Trace trace =
        read(
            "trace.jsonl",
            """
            {"timestamp": 0.0, "input_length": 1500.0, "output_length": 12.0, "hash_ids": [7.0, 18446744073709551615, 9223372036854775808], "user": NaN}
            {"timestamp": 1e3, "input_length": 1.5e3, "output_length": 0.0, "runs": [[7.0, 1.0], [18446744073709551615, 1]], "session": NaN}
            {"timestamp": 2e3, "output_length": 1, "prompt_token_ids": [5.0, 6]}
            """);

    assertThat(trace.arrivalNs(1)).isEqualTo(1_000_000_000);
    assertThat(trace.inputTokens(0)).isEqualTo(trace.inputTokens(1)).isEqualTo(1500);
    assertThat(trace.outputTokens(0)).isEqualTo(12);
    assertThat(trace.id(0, 0)).isEqualTo(trace.id(1, 0)).isEqualTo(7);
    assertThat(trace.id(0, 1)).isEqualTo(trace.id(1, 1));
    assertThat(trace.id(0, 2)).isNotEqualTo(trace.id(0, 1));
    assertThat(trace.tokens(2)).containsExactly(5, 6);
    assertThat(trace.namesSessions()).isFalse();
  }

  @Test
  void idsOfMoreThan64BitsAreTheSameIfTheirDigitsAre() throws IOException {
    String ids = "[340282366920938463463374607431768211455, 18446744073709551616]";
    String row =
        "{\"timestamp\": 1, \"input_length\": 900, \"output_length\": 1, \"hash_ids\": %s}\n";
    Trace trace = read("trace.jsonl", row.formatted(ids).repeat(2));

    assertThat(trace.id(1, 0)).isEqualTo(trace.id(0, 0)).isNotEqualTo(trace.id(0, 1));
    assertThat(trace.blockUpperBound()).isEqualTo(0.5);
  }

  @Test
  void otherShapesOfJsonAreRefused() {
    String digits = "1".repeat(2_000);

    assertThatThrownBy(() -> read("trace.jsonl", LIKE + "\n" + LIKE.replace("[50", "[" + digits)))
        .hasMessageEndingWith(
            ":2: has a name, number or text that is too long, or is nested too deeply in hash_ids");
    assertThatThrownBy(() -> read("trace.jsonl", "{\n\"requests\": []\n}\n"))
        .hasMessageEndingWith(
            ":1: each line must be a whole JSON object; this object has several lines");
    assertThatThrownBy(() -> read("trace.jsonl", "[" + LIKE + "]"))
        .hasMessageEndingWith(":1: is a JSON array; each line must be a JSON object (Mooncake)");
  }

  @Test
  void tokensAreTheSameWheneverTheyAreAskedFor() throws IOException {
    Trace trace =
        read(
            "trace.jsonl",
            "{\"timestamp\": 0, \"input_length\": 1501, \"output_length\": 1, \"hash_ids\": [7]}\n");
    Request request = new TraceRequests(trace, Conversations.none()).request(0);

    for (int most : new int[] {0, 1, 7, 512, 513, 1500, 1501, 9999}) {
      assertThat(request.leadingTokens(most))
          .isEqualTo(Arrays.copyOf(request.tokens(), Math.min(most, 1501)));
    }
  }

  @Test
  void rowsMayNameTheirConversations() throws IOException {
    Trace trace =
        read(
            "trace.jsonl",
            """
            {"timestamp": 0, "input_length": 9, "output_length": 1, "session": "a"}
            {"timestamp": 1, "input_length": 9, "output_length": 1, "conversation_id": 5}
            {"timestamp": 2, "input_length": 9, "output_length": 1}
            {"timestamp": 3, "input_length": 9, "output_length": 1, "session_id": "a"}
            {"timestamp": 4, "input_length": 9, "output_length": 1}
            """);
    Conversations conversations = Conversations.infer(trace);

    assertThat(conversations.count()).isEqualTo(4);
    assertThat(IntStream.range(0, 5).map(conversations::of)).containsExactly(0, 1, 2, 0, 3);
    assertThat(conversations.firstTurn(0)).isTrue();
    assertThat(conversations.firstTurn(3)).isFalse();
    assertThat(trace.warnings()).isEmpty();
  }

  @Test
  void readsBothGenerationsOfAzureTimestamps() throws IOException {
    Trace old =
        read(
            "a.csv",
            String.join(
                "\r\n",
                AZURE,
                "2023-11-16 18:15:46.6805900,374,44",
                "2023-11-16 18:15:47,1,0",
                ""));
    Trace recent =
        read(
            "b.csv",
            """
            TIMESTAMP,ContextTokens,GeneratedTokens
            2024-05-10 00:00:00.009930+00:00,5,6
            2024-05-10 00:00:01.009930+00:00,5,6
            """);

    assertThat(old.arrivalNs(1)).isEqualTo(319_410_000);
    assertThat(recent.arrivalNs(1)).isEqualTo(1_000_000_000);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "\"2023-11-16 18:15:46.68\",\"374\",\"44\"",
        "2023-11-16T18:15:46.68,374.0,44.0",
        "2023-11-16T18:15:46.680000000Z,374,44",
        "\"2023-11-16T20:15:46.68+02:00\", 374 , 44 ",
        "2023-11-16 20:15:46.68+0200,374,44",
        "2023-11-16 20:15:46.68+02,374,44e0",
        "2023-11-16 18:15:46.68 UTC,374,44",
        "2023-11-16t18:15:46.68z,374,44",
      })
  void csvMayBeQuotedAndInIsoFormAsTablesAreWritten(String line) throws IOException {
    Trace trace =
        read(
            "trace.csv",
            "\"TIMESTAMP\",\"ContextTokens\",\"GeneratedTokens\"\n2023-11-16 18:15:46,1,1\n"
                + line);

    assertThat(trace.arrivalNs(1)).isEqualTo(680_000_000);
    assertThat(trace.inputTokens(1)).isEqualTo(374);
    assertThat(trace.outputTokens(1)).isEqualTo(44);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "2023-11-16 18:15:46,374 | expected the 3 fields TIMESTAMP,ContextTokens,GeneratedTokens, not 2",
        "2023-11-16 T18:15:46,374,44 | TIMESTAMP must be a time like 2023-11-16 18:15:46.6805900",
        "2023-11-1618:15:46,374,44 | TIMESTAMP must be a time like 2023-11-16 18:15:46.6805900",
        "2023-11-16 18:15:46+02:00+02,374,44 | TIMESTAMP must be a time like 2023-11-16 18:15:46.6805900",
        "2023-11-16 28:15:46,374,44 | TIMESTAMP must be a time like 2023-11-16 18:15:46.6805900",
        "1700158546,374,44 | TIMESTAMP must be a time like 2023-11-16 18:15:46.6805900",
        "'\"2023-11-16 18:15:46,374,44' | a field in quotes does not end on this line",
        "yesterday,374,44 | TIMESTAMP must be a time like 2023-11-16 18:15:46.6805900",
        "2023-11-15 18:15:46,374,44 | TIMESTAMP must not go back: 2023-11-15 18:15:46; --trace-sort sorts the rows",
        "1723-11-16 18:15:46,374,44 | TIMESTAMP must not be before 1970: 1723-11-16 18:15:46",
        "2023-11-16 18:15:46,-374,44 | ContextTokens must be an integer from 1 to 16777216, not -374",
        "2023-11-16 18:15:46,NaN,44 | ContextTokens must be an integer from 1 to 16777216",
        "2023-11-16 18:15:46,37.5,44 | ContextTokens must be an integer from 1 to 16777216",
        "2023-11-16 18:15:46,374, | GeneratedTokens must be an integer from 0 to 16777216",
        "'\"2023-11-16 18:15:46\",\"374\",\"x\"' | GeneratedTokens must be an integer from 0 to 16777216",
        "2023-11-16 18:15:46,374,x | GeneratedTokens must be an integer from 0 to 16777216",
      })
  void aWrongCsvLineIsNamed(String line, String problem) {
    String text = AZURE + "\n2023-11-16 18:15:46,374,44\n" + line + "\n";

    assertThatThrownBy(() -> read("trace.csv", text))
        .isInstanceOf(InvalidTraceException.class)
        .hasMessage(folder.resolve("trace.csv") + ":3: " + problem);
  }

  @Test
  void timesInJsonAreReadAsInCsv() throws IOException {
    String row = "{\"timestamp\": \"%s\", \"input_length\": 9, \"output_length\": 1}\n";
    Trace trace =
        read(
            "trace.jsonl",
            row.formatted("2023-11-16T18:15:46Z") + row.formatted("2023-11-16 20:15:47.25+02:00"));

    assertThat(trace.arrivalNs(1)).isEqualTo(1_250_000_000);
    assertThat(trace.warnings()).isEmpty();
    assertThatThrownBy(() -> read("trace.jsonl", row.formatted("yesterday")))
        .hasMessageEndingWith(
            ":1: timestamp must be a number of milliseconds, or a time like"
                + " 2023-11-16 18:15:46.6805900");
    assertThatThrownBy(() -> read("trace.jsonl", row.formatted("2023-11-16T18:15:46Z") + GOOD))
        .hasMessageEndingWith(
            ":2: timestamp must be a time like 2023-11-16 18:15:46.6805900, as in the rows above");
    assertThatThrownBy(() -> read("trace.jsonl", GOOD + row.formatted("2023-11-16T18:15:46Z")))
        .hasMessageEndingWith(":2: timestamp must be a number of milliseconds");
  }

  private Trace read(String name, String text) throws IOException {
    Path file = folder.resolve(name);
    Files.writeString(file, text);
    return TraceReader.read(file, OF_FILE);
  }

  private static byte[] compressed(String compression, String text) throws IOException {
    java.io.ByteArrayOutputStream bytes = new java.io.ByteArrayOutputStream();
    try (OutputStream out =
        switch (compression) {
          case "gz" -> new GZIPOutputStream(bytes);
          case "xz" -> new XZOutputStream(bytes, new LZMA2Options());
          case "zst" -> new ZstdOutputStream(bytes);
          default -> bytes;
        }) {
      out.write(text.getBytes(StandardCharsets.UTF_8));
    }
    return bytes.toByteArray();
  }
}
