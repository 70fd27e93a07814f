package io.kvasir.simulator.trace;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kvasir.engine.execute.TimedStepEngine;
import io.kvasir.fleet.record.EventRecorder;
import io.kvasir.fleet.record.JsonEvent;
import io.kvasir.fleet.record.RecorderOptions;
import io.kvasir.fleet.record.ServedRequest;
import io.kvasir.fleet.record.ServedRequest.Form;
import io.kvasir.fleet.record.ServedRequestReader;
import io.kvasir.simulator.workload.TraceRequests;
import io.kvasir.timing.StepTiming;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RecordedTrafficTest {

  private static final int BLOCK = 16;

  @TempDir Path folder;

  private final AtomicLong nowNs = new AtomicLong();
  private EventRecorder recorder;

  @BeforeEach
  void open() throws IOException {
    recorder = EventRecorder.open(file(), RecorderOptions.DEFAULT, nowNs::get);
  }

  @AfterEach
  void close() throws IOException {
    recorder.close();
  }

  private Path file() {
    return folder.resolve("day.jsonl");
  }

  private Trace read() throws IOException {
    recorder.close();
    return RecordedTraffic.read(file());
  }

  /** A request with an answer of 20 tokens. */
  private static ServedRequest request(
      String conversation, int rank, double tookMs, int input, int cached, long... blocks) {
    return new ServedRequest(
        "m",
        "w",
        rank,
        conversation,
        tookMs,
        -1,
        input,
        20,
        cached,
        0,
        Form.TOKENS,
        BLOCK,
        blocks,
        0);
  }

  private void ends(long atMs, JsonEvent event) {
    nowNs.set(atMs * 1_000_000);
    assertThat(recorder.record(event)).isTrue();
  }

  /** The tokens of a row's prompt in a replay. */
  private static int[] prompt(Trace trace, int row) {
    return new TraceRequests(trace, Conversations.infer(trace)).request(row).tokens();
  }

  /** The prompt of a row and its answer. */
  private static int[] sequence(Trace trace, int row) {
    TimedStepEngine engine = new TimedStepEngine(StepTiming.DEFAULT);
    int[] prompt = prompt(trace, row);
    int[] all = Arrays.copyOf(prompt, prompt.length + trace.outputTokens(row));
    for (int i = prompt.length; i < all.length; i++) {
      all[i] = engine.outputToken(row, i - prompt.length);
    }
    return all;
  }

  private static int shared(int[] left, int[] right) {
    int mismatch = Arrays.mismatch(left, right);
    return mismatch < 0 ? left.length : mismatch;
  }

  @Test
  void rowsAreInOrderOfTheirArrivals() throws IOException {
    ends(50, JsonEvent.ofJson("{\"op\":\"event\"}")); // of an engine's blocks
    ends(100, request("a", 0, 10, 40, -1, 1, 2));
    ends(200, request("b", 0, 150.5, 33, -1, 3, 4));
    Trace trace = read();
    assertThat(trace.rows()).isEqualTo(2);
    assertThat(trace.blockTokens()).isEqualTo(BLOCK);
    assertThat(trace.arrivalNs(0)).isZero();
    assertThat(trace.arrivalNs(1)).isEqualTo(40_500_000);
    assertThat(new int[] {trace.inputTokens(0), trace.inputTokens(1)}).containsExactly(33, 40);
    assertThat(trace.idCount(1)).isEqualTo(2);
    assertThat(trace.id(1, 1)).isEqualTo(2 ^ ServedRequestReader.modelKey("m"));
    assertThat(trace.session(0)).isNotEqualTo(trace.session(1));
    assertThat(trace.warnings()).isEmpty();
  }

  @Test
  void aFurtherTurnBeginsWithTheAnswerBefore() throws IOException {
    ends(100, request(null, 0, 10, 40, 0, 1, 2));
    ends(300, request(null, 0, 10, 90, 48, 1, 2, 3, 4, 5));
    ends(500, request(null, 0, 10, 140, 96, 1, 2, 3, 4, 5, 6, 7, 8));
    Trace trace = read();
    assertThat(shared(sequence(trace, 0), prompt(trace, 1))).isEqualTo(60);
    assertThat(shared(sequence(trace, 1), prompt(trace, 2))).isEqualTo(110);
    TraceRequests requests = new TraceRequests(trace, Conversations.infer(trace));
    assertThat(requests.answeredTokens(0)).isZero();
    assertThat(requests.answeredTokens(1)).as("all but the last token").isEqualTo(59);
  }

  @Test
  void whatOnlySharesBlocksBeginsAsFarAsThese() throws IOException {
    ends(100, request(null, 0, 10, 40, 0, 1, 2));
    ends(300, request(null, 0, 10, 90, 48, 1, 2, 3, 4, 5));
    // goes on like the second one, then differs; the answer of the first one is within
    ends(500, request(null, 0, 10, 70, 64, 1, 2, 3, 4));
    ends(600, request(null, 0, 10, 60, 16, 1, 9, 10));
    Trace trace = read();
    assertThat(shared(prompt(trace, 1), prompt(trace, 2))).isEqualTo(64);
    assertThat(shared(prompt(trace, 0), prompt(trace, 3))).isEqualTo(16);
    assertThat(trace.begunTokens(3)).isEqualTo(16);
  }

  @Test
  void anAnswerThatTheEngineDidNotFindIsNoBeginning() throws IOException {
    ends(100, request(null, 0, 10, 40, 0, 1, 2));
    ends(300, request(null, 0, 10, 90, 32, 1, 2, 3, 4, 5)); // on the same rank
    Trace trace = read();
    assertThat(shared(sequence(trace, 0), prompt(trace, 1))).isEqualTo(32);
  }

  @Test
  void anotherRankThatLacksTheAnswerProvesNothing() throws IOException {
    ends(100, request(null, 0, 10, 40, 0, 1, 2));
    ends(300, request(null, 1, 10, 90, 32, 1, 2, 3, 4, 5));
    Trace trace = read();
    assertThat(shared(sequence(trace, 0), prompt(trace, 1))).isEqualTo(60);
  }

  @Test
  void otherConversationsAndEarlierArrivalsDoNotGoOn() throws IOException {
    ends(1_000, request("a", 0, 10, 40, 0, 1, 2));
    ends(1_300, request("b", 0, 10, 90, 48, 1, 2, 3, 4, 5));
    ends(1_400, request("a", 0, 1_200, 91, 48, 1, 2, 6, 7, 8)); // arrived before the first ended
    Trace trace = read();
    assertThat(shared(prompt(trace, 0), prompt(trace, 1))).isEqualTo(32);
    assertThat(shared(prompt(trace, 1), prompt(trace, 2))).isEqualTo(32);
  }

  @Test
  void aTornLastLineIsSkipped() throws IOException {
    ends(100, request(null, 0, 10, 40, -1, 1, 2));
    recorder.close();
    Files.writeString(file(), "{\"timestamp\":200,\"eve", StandardOpenOption.APPEND);
    Trace trace = RecordedTraffic.read(file());
    assertThat(trace.rows()).isOne();
    assertThat(trace.warnings()).containsExactly("skipped an unfinished last line");
  }

  @Test
  void whatCannotBeReplayedIsNamed() throws IOException {
    assertThatThrownBy(() -> RecordedTraffic.read(folder.resolve("none")))
        .isInstanceOf(InvalidTraceException.class)
        .hasMessageContaining("none: no such file");
    ends(50, JsonEvent.ofJson("{\"op\":\"event\"}"));
    assertThatThrownBy(this::read)
        .hasMessage(file() + ": has no requests; kvasir serve --record FILE records them");
  }

  /** The gateway learned the block size of the engines from their first events. */
  @Test
  void requestsOfAFormerBlockSizeAreSkipped() throws IOException {
    ends(
        100,
        new ServedRequest(
            "m", "w", 0, null, 1, -1, 70, 2, -1, 0, Form.TEXT, 32, new long[] {5, 6}, 0));
    ends(200, request("a", 0, 10, 40, -1, 1, 2));
    Trace trace = read();
    assertThat(trace.rows()).isOne();
    assertThat(trace.blockTokens()).isEqualTo(BLOCK);
    assertThat(trace.warnings())
        .containsExactly(
            "skipped 1 requests from before the gateway found the block size of their model");
  }

  @Test
  void modelsShareNoBlocks() throws IOException {
    ends(100, request("a", 0, 10, 40, -1, 1, 2));
    ends(
        200,
        new ServedRequest(
            "n", "w", 0, null, 1, -1, 40, 2, -1, 0, Form.TOKENS, BLOCK, new long[] {1, 2}, 0));
    ServedRequest again = request("b", 0, 10, 60, -1, 1, 2, 3);
    ends(300, again.withKnown(2));
    Trace trace = read();
    assertThat(trace.id(1, 0)).isNotEqualTo(trace.id(0, 0));
    assertThat(trace.id(2, 0)).isEqualTo(trace.id(0, 0));
    assertThat(trace.id(2, 1)).isEqualTo(trace.id(0, 1));
    assertThat(trace.idCount(2)).isEqualTo(3);
    assertThat(shared(prompt(trace, 0), prompt(trace, 1))).isZero();
  }

  @Test
  void blocksOfSeveralSizesAreRefused() {
    ends(100, request(null, 0, 10, 40, -1, 1, 2));
    ends(
        200,
        new ServedRequest(
            "n", "w", 0, null, 1, -1, 70, 2, -1, 0, Form.TEXT, 32, new long[] {5, 6}, 0));
    assertThatThrownBy(this::read)
        .isInstanceOf(InvalidTraceException.class)
        .hasMessageContaining(
            "has models with blocks of different sizes, 16 tokens for m and 32 for n");
  }

  @Test
  void aWrongFieldIsNamedWithItsEvent() throws IOException {
    ends(100, request(null, 0, 10, 40, -1, 1, 2));
    ends(101, JsonEvent.ofJson("{\"op\":\"request\",\"inputTokens\":-3}"));
    assertThatThrownBy(this::read)
        .isInstanceOf(InvalidTraceException.class)
        .hasMessage(file() + ": event 2: inputTokens must be an integer from 0 to 2147483647");
  }
}
