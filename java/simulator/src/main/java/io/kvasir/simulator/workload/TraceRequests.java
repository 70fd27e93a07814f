package io.kvasir.simulator.workload;

import io.kvasir.model.Request;
import io.kvasir.simulator.trace.Conversations;
import io.kvasir.simulator.trace.TokenExpansion;
import io.kvasir.simulator.trace.Trace;
import java.util.Map;

/**
 * The requests of a trace with real tokens: each id expands to the tokens it names, the last block
 * to as many as the prompt has left, and what no id names to tokens of this request alone. An
 * answer of no tokens is replayed as one, which the prefill yields anyway.
 *
 * <p>Immutable.
 */
public final class TraceRequests implements RequestSequence {

  private final Trace trace;
  private final Conversations conversations;

  /**
   * Makes the requests of a trace.
   *
   * @param trace the trace
   * @param conversations who talks on in it
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
    int[] tokens = new int[trace.inputTokens(index)];
    int written = 0;
    for (int block = 0; block < trace.idCount(index); block++) {
      int end = Math.min(written + trace.blockTokens(), tokens.length);
      TokenExpansion.fill(
          Content.TRACE_BLOCK.seed(0, trace.id(index, block)), tokens, written, end);
      written = end;
    }
    TokenExpansion.fill(Content.TRACE_TAIL.seed(0, index), tokens, written, tokens.length);
    Request.Builder request =
        Request.builder(index, tokens).maxNewTokens(Math.max(1, trace.outputTokens(index)));
    if (conversations.known()) {
      request
          .conversationId("c" + conversations.of(index))
          .firstTurn(conversations.firstTurn(index));
    }
    return request.build();
  }
}
