package io.kvasir.simulator.workload;

import io.kvasir.hash.HashedRequest;
import io.kvasir.model.Request;
import it.unimi.dsi.fastutil.longs.Long2ObjectMap;
import it.unimi.dsi.fastutil.longs.Long2ObjectOpenHashMap;
import java.util.Comparator;
import java.util.NoSuchElementException;
import java.util.PriorityQueue;
import java.util.function.IntFunction;

/** One run of a workload of sessions. Confined to one thread. */
final class SessionRun implements Arrivals {

  private final IntFunction<SessionScript> sessions;
  private final int count;
  private final RequestPreparation preparation;
  private final PriorityQueue<Turn> due =
      new PriorityQueue<>(
          Comparator.comparingLong(Turn::atNs)
              .thenComparingLong(turn -> turn.dialogue().firstId()));
  private final Long2ObjectMap<Dialogue> inFlight = new Long2ObjectOpenHashMap<>();
  private int nextSession;

  /** A turn that has not arrived yet. */
  private record Turn(long atNs, Dialogue dialogue) {}

  /**
   * Starts a run.
   *
   * @param count number of sessions
   * @param starts when they begin
   * @param seed seed of the starts
   * @param sessions creates a session from its index
   * @param preparation hashes each request
   */
  SessionRun(
      int count,
      Starts starts,
      long seed,
      IntFunction<SessionScript> sessions,
      RequestPreparation preparation) {
    this.sessions = sessions;
    this.count = count;
    this.preparation = preparation;
    for (long atNs : starts.firstNs(count, seed)) {
      begin(atNs);
    }
  }

  private void begin(long atNs) {
    if (nextSession < count) {
      sessions.apply(nextSession++).begin(atNs, this::schedule);
    }
  }

  private void schedule(Dialogue dialogue, long atNs) {
    due.add(new Turn(atNs, dialogue));
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
    Dialogue dialogue = due.remove().dialogue();
    int answeredTokens = dialogue.answeredTokens();
    Request request = dialogue.session().ask(dialogue);
    inFlight.put(request.id(), dialogue);
    return preparation.prepare(request, answeredTokens);
  }

  @Override
  public void onFinished(Request request, int[] outputTokens, long nowNs) {
    Dialogue dialogue = inFlight.remove(request.id());
    dialogue.session().answered(dialogue, outputTokens, nowNs, this::schedule);
    beginAnotherAfter(dialogue.session(), nowNs);
  }

  @Override
  public void onRejected(Request request, long nowNs) {
    Dialogue dialogue = inFlight.remove(request.id());
    dialogue.session().rejected(dialogue, nowNs, this::schedule);
    beginAnotherAfter(dialogue.session(), nowNs);
  }

  private void beginAnotherAfter(SessionScript session, long nowNs) {
    if (session.over()) {
      begin(nowNs);
    }
  }

  @Override
  public void close() {
    due.clear();
  }
}
