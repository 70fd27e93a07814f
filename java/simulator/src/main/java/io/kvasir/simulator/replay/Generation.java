package io.kvasir.simulator.replay;

import io.kvasir.engine.adp.Decision;
import io.kvasir.engine.execute.RequestListener;
import io.kvasir.engine.execute.TimedStepEngine;
import io.kvasir.hash.HashedRequest;
import io.kvasir.model.Request;
import io.kvasir.simulator.workload.Arrivals;
import it.unimi.dsi.fastutil.longs.Long2ObjectOpenHashMap;
import java.util.Comparator;
import java.util.PriorityQueue;

/**
 * Models the generation workers that continue requests after the context ranks: once a request's
 * transfer ends, tokens follow at a fixed interval, regardless of the number of requests.
 *
 * <p>Sits between the loop and its listener. Context ranks receive requests for one token; the
 * listener sees each request answered in full. Tokens come from {@link TimedStepEngine}. They are
 * reported when the answer is complete, with the times at which they were produced.
 *
 * <p>Confined to the thread that drives the replay.
 */
final class Generation implements RequestListener {

  private static final double NS_PER_MS = 1e6;

  private static final Comparator<Answer> COMPLETION =
      Comparator.comparingLong(Answer::completeNs).thenComparingLong(Answer::order);

  private final double nsPerToken;
  private final TimedStepEngine tokens;
  private final RequestListener listener;
  private final Long2ObjectOpenHashMap<Request> asked = new Long2ObjectOpenHashMap<>();
  private final PriorityQueue<Answer> answers = new PriorityQueue<>(COMPLETION);
  private long order;

  /** An answer in progress. */
  private record Answer(
      Request request, int rank, int first, long fromNs, long completeNs, long order) {}

  Generation(ReplayMode.Context mode, TimedStepEngine tokens, RequestListener listener) {
    this.nsPerToken = mode.generationMsPerToken() * NS_PER_MS;
    this.tokens = tokens;
    this.listener = listener;
  }

  /** The part of a request that the context ranks compute. */
  HashedRequest contextPart(HashedRequest whole) {
    asked.put(whole.request().id(), whole.request());
    return new HashedRequest(whole.request().toBuilder().maxNewTokens(1).build(), whole.hashes());
  }

  /** When the next answer is complete, or {@link Arrivals#NEVER}. */
  long nextNs() {
    return answers.isEmpty() ? Arrivals.NEVER : answers.peek().completeNs;
  }

  /** Reports the answers that are complete by now. */
  void reportUntil(long nowNs) {
    while (nextNs() <= nowNs) {
      Answer answer = answers.remove();
      Request request = answer.request;
      int[] given = new int[request.answerTokens()];
      given[0] = answer.first;
      for (int i = 1; i < given.length; i++) {
        given[i] = tokens.outputToken(request.id(), i);
        listener.onToken(request, answer.rank, i, given[i], answer.fromNs + after(i));
      }
      listener.onFinished(request, answer.rank, given, answer.completeNs);
    }
  }

  private long after(int tokenCount) {
    return Math.round(tokenCount * nsPerToken);
  }

  /** The request's KV has arrived: its answer continues from here. */
  @Override
  public void onFinished(Request request, int rank, int[] first, long nowNs) {
    Request whole = asked.remove(request.id());
    long completeNs = nowNs + after(whole.answerTokens() - 1);
    answers.add(new Answer(whole, rank, first[0], nowNs, completeNs, order++));
  }

  @Override
  public void onPlaced(Decision decision, long nowNs) {
    listener.onPlaced(decision, nowNs);
  }

  @Override
  public void onStarted(Request request, int rank, int cached, boolean resumed, long nowNs) {
    listener.onStarted(request, rank, cached, resumed, nowNs);
  }

  @Override
  public void onToken(Request request, int rank, int index, int token, long nowNs) {
    listener.onToken(request, rank, index, token, nowNs);
  }

  @Override
  public void onPaused(Request request, int rank, long nowNs) {
    listener.onPaused(request, rank, nowNs);
  }

  @Override
  public void onRejected(Request request, String reason, long nowNs) {
    listener.onRejected(asked.remove(request.id()), reason, nowNs);
  }

  @Override
  public void onReturned(Request request, int rank, String reason, long nowNs) {
    listener.onReturned(request, rank, reason, nowNs);
  }

  @Override
  public void onRankRetired(int rank, String reason, long nowNs) {
    listener.onRankRetired(rank, reason, nowNs);
  }

  @Override
  public void onCancelled(Request request, long nowNs) {
    listener.onCancelled(asked.remove(request.id()), nowNs);
  }
}
