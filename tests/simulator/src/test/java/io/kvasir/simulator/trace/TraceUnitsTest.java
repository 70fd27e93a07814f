package io.kvasir.simulator.trace;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Traces whose timestamps are not milliseconds, or whose ids are not 512 tokens. */
class TraceUnitsTest {

  private static final TraceUnits OF_FILE = new TraceUnits(null, null);

  @TempDir Path folder;

  @Test
  void rowsWithChatsAreInSecondsWith16TokensAnIdAndNameTheirConversations() throws IOException {
    Trace trace =
        read(
            OF_FILE,
            """
            {"chat_id": 4, "parent_chat_id": -1, "timestamp": 0.5, "input_length": 40, "output_length": 1, "hash_ids": [1, 2, 3], "user": NaN}
            {"chat_id": 5, "parent_chat_id": -1, "timestamp": 1.0, "input_length": 40, "output_length": 1, "hash_ids": [1, 2, 4]}
            {"chat_id": 6, "parent_chat_id": 4, "timestamp": 61.5, "input_length": 48, "output_length": 1, "hash_ids": [1, 2, 3]}
            {"chat_id": 7, "parent_chat_id": 6, "timestamp": 62, "input_length": 48, "output_length": 1, "hash_ids": [1, 2, 3]}
            {"timestamp": 63, "parent_chat_id": NaN, "chat_id": 8.0, "input_length": 48, "output_length": 1, "hash_ids": [9]}
            """);
    Conversations conversations = Conversations.infer(trace);

    assertThat(trace.arrivalNs(2)).isEqualTo(61_000_000_000L);
    assertThat(trace.blockTokens()).isEqualTo(16);
    assertThat(IntStream.range(0, 5).map(conversations::of)).containsExactly(0, 1, 0, 0, 2);
    assertThat(trace.warnings())
        .contains(
            "rows have chat_id and parent_chat_id, so timestamps are read as seconds"
                + " (--trace-time-unit), and ids as 16 tokens (--trace-block-tokens)");
  }

  @Test
  void repliesToAChatFromBeforeTheFileAreOneConversation() throws IOException {
    Trace trace =
        read(
            OF_FILE,
            """
            {"chat_id": 40, "parent_chat_id": 3, "timestamp": 1, "input_length": 9, "output_length": 1}
            {"chat_id": 41, "parent_chat_id": 3, "timestamp": 2, "input_length": 9, "output_length": 1}
            {"chat_id": 42, "parent_chat_id": null, "timestamp": 3, "input_length": 9, "output_length": 1}
            """);
    Conversations conversations = Conversations.infer(trace);

    assertThat(IntStream.range(0, 3).map(conversations::of)).containsExactly(0, 0, 1);
  }

  @Test
  void givenUnitsAreTakenWhateverTheRowsHave() throws IOException {
    Trace trace =
        read(
            new TraceUnits(32, TraceUnits.Time.MS),
            """
            {"chat_id": 0, "parent_chat_id": -1, "timestamp": 0, "input_length": 40, "output_length": 1, "hash_ids": [1, 2]}
            {"chat_id": 1, "parent_chat_id": 0, "timestamp": 500, "input_length": 40, "output_length": 1, "hash_ids": [1, 2]}
            """);

    assertThat(trace.arrivalNs(1)).isEqualTo(500_000_000);
    assertThat(trace.blockTokens()).isEqualTo(32);
  }

  @ParameterizedTest
  @CsvSource({
    "s, 1.5, 1_500_000_000",
    "ms, 1.5, 1_500_000",
    "us, 1.5, 1_500",
    "ns, 3, 3",
    "s, 1753780607, 1753780607_000_000_000",
    "ns, 1753780607550317897, 1753780607550317897",
  })
  void everyUnitIsReadToTheNanosecond(String unit, String timestamp, String ns) throws IOException {
    TraceUnits.Time time = TraceUnits.Time.valueOf(unit.toUpperCase(Locale.ROOT));
    Trace trace = read(new TraceUnits(null, time), row("0") + row(timestamp));

    assertThat(trace.arrivalNs(1)).isEqualTo(Long.parseLong(ns.replace("_", "")));
  }

  @Test
  void anErrorNamesTheUnit() {
    TraceUnits seconds = new TraceUnits(null, TraceUnits.Time.S);

    assertThatThrownBy(() -> read(seconds, row("-1")))
        .hasMessageEndingWith(":1: timestamp must be 0 to 9000000000 seconds, not -1");
    assertThatThrownBy(() -> read(seconds, row("\"1\"")))
        .hasMessageEndingWith(
            ":1: timestamp must be a number of seconds, or a time like 2023-11-16 18:15:46.6805900");
    assertThatThrownBy(() -> read(seconds, row("2.5") + row("2")))
        .hasMessageEndingWith(
            ":2: timestamp must not go back: 2 after 2.5; --trace-sort sorts the rows");
  }

  @ParameterizedTest
  @ValueSource(doubles = {0.5, 1, 9})
  void arrivalsThatLookLikeSecondsAreWarnedAbout(double gap) throws IOException {
    Trace trace = read(OF_FILE, rows(gap));

    assertThat(trace.warnings())
        .containsExactly(
            "arrivals look like seconds: 20 requests in "
                + 19 * gap
                + " ms; --trace-time-unit s reads seconds, and ms confirms milliseconds");
  }

  @Test
  void arrivalsInMillisecondsAllAtOnceOrInAStatedUnitAreNot() throws IOException {
    assertThat(read(OF_FILE, rows(10)).warnings()).isEmpty();
    assertThat(read(OF_FILE, rows(0)).warnings()).isEmpty();
    assertThat(read(new TraceUnits(null, TraceUnits.Time.MS), rows(1)).warnings()).isEmpty();
    assertThat(read(new TraceUnits(null, TraceUnits.Time.S), rows(1)).warnings()).isEmpty();
  }

  private static String rows(double gap) {
    return IntStream.range(0, 20)
        .mapToObj(row -> row(Double.toString(row * gap)))
        .collect(Collectors.joining());
  }

  private static String row(String timestamp) {
    return "{\"timestamp\": " + timestamp + ", \"input_length\": 9, \"output_length\": 1}\n";
  }

  private Trace read(TraceUnits units, String text) throws IOException {
    Path file = folder.resolve("trace.jsonl");
    Files.writeString(file, text);
    return TraceReader.read(file, new TraceReading(units, null, false));
  }
}
