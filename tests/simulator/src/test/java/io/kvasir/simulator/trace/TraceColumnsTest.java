package io.kvasir.simulator.trace;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** CSV of BurstGPT, and CSV whose columns the user names. */
class TraceColumnsTest {

  private static final TraceUnits OF_FILE = new TraceUnits(null, null);

  private static final String LOG = "timestamp=at,input=prompt,output=answer";

  @TempDir Path folder;

  @Test
  void burstGptIsRecognisedByItsHeader() throws IOException {
    Trace trace =
        read(
            OF_FILE,
            null,
            """
            Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type
            5,ChatGPT,472,18,490,Conversation log
            45.5,GPT-4,1087,0,1087,API log
            """);

    assertThat(trace.arrivalNs(1)).isEqualTo(40_500_000_000L);
    assertThat(trace.inputTokens(1)).isEqualTo(1087);
    assertThat(trace.outputTokens(1)).isZero();
    assertThat(Conversations.infer(trace).known()).isFalse();
    assertThat(trace.warnings())
        .containsExactly(
            "its columns are BurstGPT's, so timestamps are read as seconds (--trace-time-unit)");
  }

  @Test
  void sessionsOfBurstGptAreConversations() throws IOException {
    Trace trace =
        read(
            OF_FILE,
            null,
            """
            Timestamp,Session ID,Elapsed time,Model,Request tokens,Response tokens,Total tokens,Log Type
            0,a,1.5,ChatGPT,472,18,490,Conversation log
            1,,1.5,ChatGPT,472,18,490,API log
            2,b,1.5,ChatGPT,472,18,490,Conversation log
            3,a,1.5,ChatGPT,472,18,490,Conversation log
            """);
    Conversations conversations = Conversations.infer(trace);

    assertThat(IntStream.range(0, 4).map(conversations::of)).containsExactly(0, 1, 2, 0);
    assertThat(conversations.firstTurn(3)).isFalse();
  }

  @Test
  void columnsMayHaveAnyNamesAndPlaces() throws IOException {
    Trace trace =
        read(
            OF_FILE,
            "output=tokens out,\"input=tokens, in\",session=user,timestamp=When",
            """
            user,"Tokens, in",note,tokens out,when
            u1,10,"said ""yes"", twice",1,2024-05-10T00:00:00Z
            u2,"20","",2,2024-05-10T00:00:01.5Z
            """);

    assertThat(trace.arrivalNs(1)).isEqualTo(1_500_000_000);
    assertThat(trace.inputTokens(1)).isEqualTo(20);
    assertThat(trace.outputTokens(1)).isEqualTo(2);
    assertThat(Conversations.infer(trace).count()).isEqualTo(2);
    assertThat(trace.warnings()).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(strings = {",", ";", "\t"})
  void fieldsAreDividedByCommasSemicolonsOrTabs(String separator) throws IOException {
    String text = "at,prompt,answer\n0,10,1\n2,20,2\n".replace(",", separator);

    assertThat(read(OF_FILE, LOG, text).inputTokens(1)).isEqualTo(20);
  }

  @ParameterizedTest
  @CsvSource({
    "0.5, 2.5, seconds",
    "1700158546, 1700158548, seconds",
    "1700158546.25, 1700158548.25, seconds",
    "1700158546000, 1700158548000, milliseconds",
    "1700158546000000, 1700158548000000, microseconds",
    "1700158546000000000, 1700158548000000000, nanoseconds",
  })
  void theSizeOfTheFirstTimestampShowsItsUnit(String first, String second, String unit)
      throws IOException {
    Trace trace = read(OF_FILE, LOG, "at,prompt,answer\n" + first + ",9,1\n" + second + ",9,1\n");

    assertThat(trace.arrivalNs(1)).isEqualTo(2_000_000_000);
    assertThat(trace.warnings())
        .containsExactly("timestamps are read as " + unit + " (--trace-time-unit)");
  }

  @Test
  void aGivenUnitIsTaken() throws IOException {
    TraceUnits ms = new TraceUnits(null, TraceUnits.Time.MS);
    Trace trace = read(ms, LOG, "at,prompt,answer\n0,9,1\n2,9,1\n");

    assertThat(trace.arrivalNs(1)).isEqualTo(2_000_000);
    assertThat(trace.warnings()).isEmpty();
  }

  @Test
  void smallTimestampsThatLookLikeMillisecondsAreWarnedAbout() throws IOException {
    String rows =
        IntStream.range(0, 10)
            .mapToObj(row -> row * 90_000 + ",9,1\n")
            .collect(Collectors.joining());

    assertThat(read(OF_FILE, LOG, "at,prompt,answer\n" + rows).warnings())
        .containsExactly(
            "timestamps are read as seconds (--trace-time-unit)",
            "arrivals look like milliseconds: 10 requests in 810000.0 s; --trace-time-unit ms"
                + " reads milliseconds, and s confirms seconds");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '\0',
      value = {
        "5,9 | expected the 3 fields at,prompt,answer, not 2",
        "5,\"9,1 | a field in quotes does not end on this line",
        "x,9,1 | at must be a number of seconds",
        "NaN,9,1 | at must be a number of seconds",
        "2024-05-10 00:00:00,9,1 | at must be a number of seconds",
        "-1,9,1 | at must be 0 to 9000000000 seconds, not -1",
        "3,9,1 | at must not go back: 3 after 4.0; --trace-sort sorts the rows",
        "5,0,1 | prompt must be an integer from 1 to 16777216, not 0",
        "5,9.5,1 | prompt must be an integer from 1 to 16777216",
        "5,9, | answer must be an integer from 0 to 16777216",
        "5,9,-1 | answer must be an integer from 0 to 16777216, not -1",
      })
  void aWrongLineIsNamedWithItsColumn(String line, String problem) {
    assertThatThrownBy(() -> read(OF_FILE, LOG, "at,prompt,answer\n4,9,1\n" + line + "\n"))
        .isInstanceOf(InvalidTraceException.class)
        .hasMessageEndingWith("trace.csv:3: " + problem);
  }

  @Test
  void aHeaderThatDoesNotFitIsNamedWithTheMissingColumn() {
    assertThatThrownBy(() -> read(OF_FILE, LOG, "when,prompt,answer\n"))
        .hasMessageEndingWith(
            ":1: has no column at for timestamp of --trace-columns; its columns are"
                + " when, prompt, answer");
    assertThatThrownBy(() -> read(OF_FILE, LOG, "at,prompt,answer,Answer\n"))
        .hasMessageContaining(":1: has more than one column answer for output of");
    assertThatThrownBy(() -> read(OF_FILE, LOG, "{\"timestamp\": 0}\n"))
        .hasMessageEndingWith(
            ":1: must be the header of CSV with --trace-columns, not a JSON object");
    assertThatThrownBy(() -> read(OF_FILE, LOG, "at,prompt,answer\nyesterday,9,1\n"))
        .hasMessageEndingWith(
            ":2: at must be a number of seconds, or a time like 2023-11-16 18:15:46.6805900");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "at",
        "timestamp=at,input=prompt",
        "timestamp=at,input=prompt,output=",
        "timestamp=at,input=prompt,output=a,output=b",
        "timestamp=at,input=prompt,output=answer,model=m",
        "timestamp=at,\"input=prompt,output=answer",
      })
  void columnsThatAreIncompleteAreNone(String text) {
    assertThat(TraceColumns.of(text)).isNull();
  }

  @Test
  void columnsAreWrittenAsTheyAreRead() {
    for (String text :
        new String[] {LOG, LOG + ",session=s", "timestamp=t,\"input=a, \"\"b\"\"\",output=o"}) {
      assertThat(TraceColumns.of(text)).hasToString(text);
    }
  }

  @Test
  void rowsAreSortedOnRequestWithAllThatTheyHave() throws IOException {
    Trace csv =
        sorted(
            "trace.csv",
            TraceColumns.of(LOG + ",session=s"),
            "at,prompt,answer,s\n9,90,1,b\n2,20,2,a\n9,91,3,b\n1,10,4,\n");

    assertThat(IntStream.range(0, 4).map(csv::inputTokens)).containsExactly(10, 20, 90, 91);
    assertThat(IntStream.range(0, 4).map(csv::outputTokens)).containsExactly(4, 2, 1, 3);
    assertThat(csv.arrivalNs(3)).isEqualTo(8_000_000_000L);
    assertThat(IntStream.range(0, 4).map(csv::session)).containsExactly(-1, 0, 1, 1);

    Trace json =
        sorted(
            "trace.jsonl",
            null,
            """
            {"timestamp": 9, "input_length": 1500, "output_length": 1, "hash_ids": [1, 2, 3]}
            {"timestamp": 3, "output_length": 1, "prompt_token_ids": [5, 6]}
            {"timestamp": 1, "input_length": 900, "output_length": 1, "hash_ids": [1, 4]}
            """);
    assertThat(json.id(0, 1)).isEqualTo(4);
    assertThat(json.tokens(1)).containsExactly(5, 6);
    assertThat(json.idCount(2)).isEqualTo(3);
    assertThat(json.id(2, 2)).isEqualTo(3);
  }

  @Test
  void chatsThatAreListedBackwardsAreStillOneConversation() throws IOException {
    String row =
        "{\"chat_id\": %d, \"parent_chat_id\": %d, \"timestamp\": %d, \"input_length\": 9,"
            + " \"output_length\": 1}\n";
    Trace trace =
        sorted(
            "trace.jsonl",
            null,
            row.formatted(4, 3, 4)
                + row.formatted(3, 2, 3)
                + row.formatted(2, -1, 2)
                + row.formatted(1, -1, 1));
    Conversations conversations = Conversations.infer(trace);

    assertThat(IntStream.range(0, 4).map(conversations::of)).containsExactly(0, 1, 1, 1);
  }

  private Trace sorted(String name, TraceColumns columns, String text) throws IOException {
    Path file = folder.resolve(name);
    Files.writeString(file, text);
    return TraceReader.read(file, new TraceReading(OF_FILE, columns, true));
  }

  private Trace read(TraceUnits units, String columns, String text) throws IOException {
    Path file = folder.resolve("trace.csv");
    Files.writeString(file, text);
    TraceColumns named =
        columns == null ? null : Objects.requireNonNull(TraceColumns.of(columns), columns);
    return TraceReader.read(file, new TraceReading(units, named, false));
  }
}
