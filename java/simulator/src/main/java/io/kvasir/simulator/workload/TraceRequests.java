package io.kvasir.simulator.workload;

import io.kvasir.engine.execute.TimedStepEngine;
import io.kvasir.model.Request;
import io.kvasir.model.TokenSource;
import io.kvasir.simulator.trace.Conversations;
import io.kvasir.simulator.trace.TokenExpansion;
import io.kvasir.simulator.trace.Trace;
import io.kvasir.simulator.trace.TraceColumns;
import io.kvasir.simulator.trace.TraceUnits;
import io.kvasir.timing.StepTiming;
import java.util.Locale;
import java.util.Map;

/**
 * The requests of a trace, with the tokens that it lists or with expanded ones. Each id expands to
 * a full block of tokens, the last one to the rest of the prompt. Tokens without an id are unique
 * to the request, except that a prompt which goes on behind the answer of an earlier row begins
 * with that row's prompt and its answer in the replay. An answer of 0 tokens is replayed as 1,
 * because prefill always produces one.
 *
 * <p>Immutable.
 */
public final class TraceRequests implements RequestSequence {

  /** The answers of replays: a function of the row and the position alone. */
  private static final TimedStepEngine ANSWERS = new TimedStepEngine(StepTiming.DEFAULT);

  private final Trace trace;
  private final Conversations conversations;

  /**
   * Creates the requests of a trace.
   *
   * @param trace the trace
   * @param conversations its conversations
   */
  public TraceRequests(Trace trace, Conversations conversations) {
    this.trace = trace;
    this.conversations = conversations;
  }

  @Override
  public String name() {
    return trace.file();
  }

  @Override
  public Map<String, Object> parameters() {
    Map<String, Object> parameters = Map.of();
    if (trace.namesBlocks()) {
      parameters = Parameters.of(parameters, "traceBlockTokens", trace.blockTokens());
    }
    if (trace.namesBlocks() || conversations.known()) {
      parameters = Parameters.of(parameters, "conversations", conversations.count());
    }
    if (trace.timeUnit() != TraceUnits.Time.MS) {
      String unit = trace.timeUnit().name().toLowerCase(Locale.ROOT);
      parameters = Parameters.of(parameters, "traceTimeUnit", unit);
    }
    TraceColumns columns = trace.columns();
    if (columns != null) {
      parameters = Parameters.of(parameters, "traceColumns", columns.toString());
    }
    if (trace.isSorted()) {
      parameters = Parameters.of(parameters, "traceSort", true);
    }
    return parameters;
  }

  @Override
  public int size() {
    return trace.rows();
  }

  @Override
  public long arrivalNs(int index) {
    return trace.arrivalNs(index);
  }

  /** All but the answer's last token, whose KV is never computed. */
  @Override
  public int answeredTokens(int index) {
    int beginning = trace.beginning(index);
    return beginning < 0 || trace.begunTokens(index) <= trace.inputTokens(beginning)
        ? 0
        : trace.begunTokens(index) - 1;
  }

  @Override
  public int conversation(int index) {
    return conversations.known() ? conversations.of(index) : -1;
  }

  @Override
  public Request request(int index) {
    Request.Builder request =
        Request.builder(index, trace.inputTokens(index), new Tokens(trace, index))
            .maxNewTokens(Math.max(1, trace.outputTokens(index)));
    if (conversations.known()) {
      request
          .conversationId("c" + conversations.of(index))
          .firstTurn(conversations.firstTurn(index));
    }
    return request.build();
  }

  /** The tokens of a row, which are not kept: a long trace does not fit into memory. */
  private record Tokens(Trace trace, int row) implements TokenSource {

    @Override
    public int[] tokens() {
      return leading(trace.inputTokens(row));
    }

    @Override
    public int[] leading(int least) {
      int[] listed = trace.tokens(row);
      if (listed.length > 0) {
        return listed;
      }
      int[] tokens = new int[Math.min(least, trace.inputTokens(row))];
      int written = 0;
      for (int block = 0; block < trace.idCount(row) && written < tokens.length; block++) {
        int end = Math.min(written + trace.blockTokens(), tokens.length);
        TokenExpansion.fill(
            Content.TRACE_BLOCK.seed(0, trace.id(row, block)), tokens, written, end);
        written = end;
      }
      fillTail(row, tokens, written, tokens.length);
      int known = trace.begunTokens(row);
      for (int before = trace.beginning(row); before >= 0; before = trace.beginning(before)) {
        fillEnd(before, tokens, Math.min(known, tokens.length));
        known = Math.min(known, trace.begunTokens(before));
      }
      return tokens;
    }

    private void fillTail(int of, int[] tokens, int from, int to) {
      TokenExpansion.fill(Content.TRACE_TAIL.seed(0, of), tokens, from, to);
    }

    /** The tokens of an earlier row behind its ids, and its answer, up to a length. */
    private void fillEnd(int earlier, int[] tokens, int length) {
      int input = trace.inputTokens(earlier);
      int listed = Math.min(input, trace.idCount(earlier) * trace.blockTokens());
      if (listed < length) {
        fillTail(earlier, tokens, listed, Math.min(input, length));
      }
      int end = Math.min(input + answered(earlier), length);
      for (int i = input; i < end; i++) {
        tokens[i] = ANSWERS.outputToken(earlier, i - input);
      }
    }

    private int answered(int earlier) {
      return Math.max(1, trace.outputTokens(earlier));
    }
  }
}
