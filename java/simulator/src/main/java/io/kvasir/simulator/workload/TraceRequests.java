package io.kvasir.simulator.workload;

import io.kvasir.model.Request;
import io.kvasir.model.TokenSource;
import io.kvasir.simulator.trace.Conversations;
import io.kvasir.simulator.trace.TokenExpansion;
import io.kvasir.simulator.trace.Trace;
import java.util.Map;

/**
 * The requests of a trace, with the tokens that it lists or with expanded ones. Each id expands to
 * a full block of tokens, the last one to the rest of the prompt. Tokens without an id are unique
 * to the request. An answer of 0 tokens is replayed as 1, because prefill always produces one.
 *
 * <p>Immutable.
 */
public final class TraceRequests implements RequestSequence {

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
    if (trace.format() == Trace.Format.MOONCAKE) {
      parameters =
          Parameters.of(
              parameters,
              "traceBlockTokens",
              trace.blockTokens(),
              "conversations",
              conversations.count());
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
      TokenExpansion.fill(Content.TRACE_TAIL.seed(0, row), tokens, written, tokens.length);
      return tokens;
    }
  }
}
