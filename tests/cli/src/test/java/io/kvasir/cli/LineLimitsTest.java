package io.kvasir.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.cli.lines.JsonLines;
import io.kvasir.cli.lines.LineLimit;
import io.kvasir.cli.lines.route.RouteLines;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** No line can end the process or keep other lines from being answered. */
class LineLimitsTest {

  private static final String ADP = "{'op':'configure','router':'default','ranks':2}";
  private static final String SMALL = "{'op':'pop','maxCount':1,'queue':[{'id':7}]}";
  private static final String POPPED = "{\"popped\":[7],\"queue\":[]}";

  private static Outcome run(String command, List<String> options, String... lines) {
    List<String> arguments = new ArrayList<>(List.of(command));
    arguments.addAll(options);
    String in = String.join("\n", lines).replace('\'', '"') + "\n";
    return Outcome.of(Map.of(), in, arguments.toArray(new String[0]));
  }

  @Test
  void aShortLineOfManyTokensIsRefusedBeforeTheyAreAllocated() {
    String requests =
        IntStream.range(0, 60)
            .mapToObj(id -> "{'id':" + id + ",'inputLength':16777216}")
            .collect(Collectors.joining(","));
    Outcome outcome =
        run("route", List.of(), ADP, "{'op':'route','requests':[" + requests + "]}", SMALL);

    assertThat(outcome.exitCode()).isEqualTo(2);
    assertThat(outcome.out().lines())
        .containsExactly(
            "{\"ok\":true}",
            "{\"error\":\"requests[0].inputLength makes a line of 16779196 tokens; at most 16777216"
                + " are allowed (--max-line-tokens)\",\"line\":2}",
            POPPED);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '\0',
      value = {
        "route | {'op':'pop','maxCount':1,'queue':[{'id':1,'inputLength':99}]} | ok",
        "route | {'op':'pop','maxCount':1,'queue':[{'id':1,'inputLength':100}]} | queue[0].inputLength",
        "route | {'op':'pop','maxCount':1,'queue':[{'id':1,'inputLength':60},{'id':2,'inputLength':60}]}"
            + " | queue[1].inputLength",
        "route | {'op':'route','requests':[{'id':1},{'id':2},{'id':3}]} | ok",
        "route | {'op':'route','requests':[{'id':1},{'id':2},{'id':3},{'id':4}]} | requests",
        "route | {'op':'configure','router':'round_robin','servers':[%s]} | servers",
        "index | {'op':'match','tokens':[%s]} | tokens",
        "index | {'op':'match','sequenceHashes':[%s]} | sequenceHashes",
        "index | {'op':'event','worker':1,'eventId':1,'data':{'removed':{'blockHashes':[%s]}}} | data",
        "index | {'op':'select','id':1,'tokens':[%s]} | tokens",
      })
  void allElementsOfALineAreCounted(String command, String line, String field) {
    String configure = command.equals("route") ? ADP : "{'op':'configure','tokensPerBlock':2}";
    String many = String.join(",", Collections.nCopies(101, "1"));
    Outcome outcome =
        run(command, List.of("--max-line-tokens", "100"), configure, line.formatted(many));

    String answer = outcome.out().lines().skip(1).findFirst().orElseThrow();
    if (field.equals("ok")) {
      assertThat(answer).doesNotContain("error");
    } else {
      assertThat(answer)
          .startsWith("{\"error\":\"" + field + " makes a line of ")
          .contains("tokens; at most 100 are allowed (--max-line-tokens)");
    }
  }

  @Test
  void theTokensThatAPushHashesAgainAreCounted() {
    String push = "{'op':'predict','action':'push','id':1,'tokens':[1,2,3,4]}";
    Outcome outcome =
        run(
            "index",
            List.of("--max-line-tokens=10"),
            "{'op':'configure','tokensPerBlock':2}",
            "{'op':'predict','action':'add','id':1,'worker':1,'tokens':[1,2,3]}",
            push,
            push);

    assertThat(outcome.out().lines().skip(2))
        .containsExactly(
            "{\"ok\":true}",
            "{\"error\":\"tokens makes a line of 11 tokens; at most 10 are allowed"
                + " (--max-line-tokens)\",\"line\":4}");
  }

  @Test
  void outOfMemoryAnswersTheLineAndKeepsEarlierAnswers() {
    Outcome outcome =
        run(
            "route",
            List.of("--max-line-tokens", "4294967296"),
            SMALL,
            "{'op':'pop','maxCount':1,'queue':[{'id':1,'inputLength':2147483647}]}",
            SMALL);

    assertThat(outcome.exitCode()).isEqualTo(1);
    assertThat(outcome.out().lines()).hasSize(2).first().isEqualTo(POPPED);
    assertThat(outcome.out()).contains("{\"error\":\"out of memory: ").contains("\"line\":2}");
    assertThat(outcome.err()).startsWith("out of memory: ").contains("KVASIR_JAVA_OPTIONS");
  }

  @ParameterizedTest
  @ValueSource(strings = {"{\"op\":", "[", "x"})
  void aLineOf64MebibytesIsRefused(String unit) {
    String line = unit.repeat((64 << 20) / unit.length());
    Outcome outcome = run("route", List.of(), line, SMALL);

    assertThat(outcome.out().lines())
        .containsExactly(
            "{\"error\":\"a line may have at most 16777216 bytes\",\"line\":1}", POPPED);
  }

  @Test
  void answersAreFlushedBeforeTheRestOfALineIsWaitedFor() throws IOException {
    String line = SMALL.replace('\'', '"') + "\n";
    ByteArrayOutputStream flushed = new ByteArrayOutputStream();
    ByteArrayOutputStream buffer =
        new ByteArrayOutputStream() {
          @Override
          public void flush() throws IOException {
            writeTo(flushed);
            reset();
          }
        };
    Pieces in = new Pieces(flushed, line + line.substring(0, 5), line.substring(5));
    assertThat(new RouteLines(in, buffer, new LineLimit(100)).run()).isTrue();

    assertThat(in.flushedAtRead).containsExactly("", POPPED + "\n", POPPED + "\n" + POPPED + "\n");
  }

  /** Input that pauses after each piece. */
  private static final class Pieces extends InputStream {
    private final ByteArrayOutputStream flushed;
    private final String[] pieces;
    private final List<String> flushedAtRead = new ArrayList<>();

    Pieces(ByteArrayOutputStream flushed, String... pieces) {
      this.flushed = flushed;
      this.pieces = pieces;
    }

    @Override
    public int read() {
      throw new AssertionError("a reader of lines must read arrays");
    }

    @Override
    public int read(byte[] bytes, int offset, int length) {
      int piece = flushedAtRead.size();
      flushedAtRead.add(flushed.toString(StandardCharsets.UTF_8));
      if (piece == pieces.length) {
        return -1;
      }
      byte[] all = pieces[piece].getBytes(StandardCharsets.UTF_8);
      System.arraycopy(all, 0, bytes, offset, all.length);
      return all.length;
    }
  }

  @Test
  void longValuesAreCutInErrors() {
    String name = "n".repeat(5000);
    Outcome outcome =
        run(
            "route",
            List.of(),
            "{'op':'" + name + "'}",
            "{'" + name + "':1,'op':'pop'}",
            "{'op':'configure','router':'" + name + "','ranks':1}",
            "{'op':'configure','router':'" + name + "','servers':[]}",
            "{'op':'pop','maxCount':'" + name + "'}");

    String cut = "n".repeat(199);
    assertThat(outcome.out().lines().skip(1)).allMatch(answer -> answer.contains(cut));
    assertThat(outcome.out().lines()).allMatch(answer -> answer.length() < 600);
  }

  @Test
  void theLimitsAreDocumented() throws IOException {
    Path page = Path.of(System.getProperty("kvasir.root"), "docs", "json-lines.md");
    assertThat(Files.readString(page))
        .contains("`" + LineLimit.OPTION + "` (" + number(LineLimit.DEFAULT_TOKENS) + ")")
        .contains("at most " + number(JsonLines.MAX_LINE_BYTES) + " bytes");
  }

  private static String number(int value) {
    return String.format(Locale.ROOT, "%,d", value);
  }
}
