package io.kvasir.simulator.workload;

import io.kvasir.hash.HashedRequest;
import io.kvasir.model.Request;
import java.util.Comparator;
import java.util.NoSuchElementException;
import java.util.PriorityQueue;

/** One run of {@link MultiTurn}. A rejected turn ends its session. Confined to one thread. */
final class MultiTurnRun implements Arrivals {

  private final MultiTurn.Shape shape;
  private final RequestPreparation preparation;
  private final MultiTurnSession[] sessions;
  private final PriorityQueue<Turn> due =
      new PriorityQueue<>(
          Comparator.comparingLong(Turn::atNs).thenComparingInt(turn -> turn.session().index()));
  private int nextSession;

  /** A turn that has not arrived yet. */
  private record Turn(long atNs, MultiTurnSession session) {}

  MultiTurnRun(MultiTurn.Shape shape, RequestPreparation preparation) {
    this.shape = shape;
    this.preparation = preparation;
    this.sessions = new MultiTurnSession[shape.sessions()];
    for (long atNs : shape.starts().firstNs(sessions.length, shape.seed())) {
      begin(atNs);
    }
  }

  private void begin(long atNs) {
    if (nextSession < sessions.length) {
      MultiTurnSession session = new MultiTurnSession(shape, nextSession);
      sessions[nextSession++] = session;
      due.add(new Turn(atNs, session));
    }
  }

  private void end(MultiTurnSession session, long nowNs) {
    sessions[session.index()] = null;
    begin(nowNs);
  }

  @Override
  public long nextNs() {
    return due.isEmpty() ? NEVER : due.peek().atNs();
  }

  @Override
  public HashedRequest next() {
    if (due.isEmpty()) {
      throw new NoSuchElementException("no session has a turn due");
    }
    MultiTurnSession session = due.remove().session();
    int answeredTokens = session.answeredTokens();
    return preparation.prepare(session.ask(), answeredTokens);
  }

  @Override
  public void onFinished(Request request, int[] outputTokens, long nowNs) {
    MultiTurnSession session = sessionOf(request);
    long thinkNs = session.answered(outputTokens);
    if (session.over()) {
      end(session, nowNs);
    } else {
      due.add(new Turn(Math.addExact(nowNs, thinkNs), session));
    }
  }

  @Override
  public void onRejected(Request request, long nowNs) {
    end(sessionOf(request), nowNs);
  }

  private MultiTurnSession sessionOf(Request request) {
    return sessions[(int) (request.id() / shape.turns().maximum())];
  }

  @Override
  public void close() {
    due.clear();
  }
}
