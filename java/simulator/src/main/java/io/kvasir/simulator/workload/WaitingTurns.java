package io.kvasir.simulator.workload;

import io.kvasir.hash.HashedRequest;
import io.kvasir.model.Request;
import it.unimi.dsi.fastutil.ints.Int2ObjectMap;
import it.unimi.dsi.fastutil.ints.Int2ObjectOpenHashMap;
import java.util.ArrayDeque;
import java.util.Comparator;
import java.util.NoSuchElementException;
import java.util.PriorityQueue;
import java.util.Queue;

/** {@link OpenLoop} whose turns wait. */
final class WaitingTurns implements Arrivals {

  /** A request with the time of its arrival, or the least if it waits. */
  private record Turn(long atNs, HashedRequest request) {

    static final Comparator<Turn> BY_TIME =
        Comparator.comparingLong(Turn::atNs).thenComparingLong(turn -> turn.request.request().id());
  }

  private final RequestSequence sequence;
  private final double speed;
  private final PreparedRequests prepared;

  /** Turns whose earlier ones are answered. */
  private final PriorityQueue<Turn> released = new PriorityQueue<>(Turn.BY_TIME);

  /** By conversation with a request that is not answered: the turns behind it. */
  private final Int2ObjectMap<Queue<Turn>> waiting = new Int2ObjectOpenHashMap<>();

  private int next;

  WaitingTurns(RequestSequence sequence, double speed, PreparedRequests prepared) {
    this.sequence = sequence;
    this.speed = speed;
    this.prepared = prepared;
  }

  private long arrivalNs(int index) {
    return Math.round(sequence.arrivalNs(index) / speed);
  }

  @Override
  public long nextNs() {
    setAside();
    long ofSequence = next == sequence.size() ? NEVER : arrivalNs(next);
    return released.isEmpty() ? ofSequence : Math.min(ofSequence, released.peek().atNs());
  }

  /** Takes turns from the sequence that have to wait, up to one that has not. */
  private void setAside() {
    while (next < sequence.size()) {
      Queue<Turn> behind = waiting.get(sequence.conversation(next));
      if (behind == null) {
        return;
      }
      behind.add(new Turn(arrivalNs(next), prepared.take()));
      next++;
    }
  }

  @Override
  public HashedRequest next() {
    long nextNs = nextNs();
    if (nextNs == NEVER) {
      throw new NoSuchElementException("no request may arrive now, or the sequence has ended");
    }
    if (!released.isEmpty() && released.peek().atNs() == nextNs) {
      return released.remove().request();
    }
    int conversation = sequence.conversation(next);
    if (conversation >= 0) {
      waiting.put(conversation, new ArrayDeque<>());
    }
    next++;
    return prepared.take();
  }

  @Override
  public void onFinished(Request request, int[] outputTokens, long nowNs) {
    release(request, nowNs);
  }

  @Override
  public void onRejected(Request request, long nowNs) {
    release(request, nowNs);
  }

  private void release(Request request, long nowNs) {
    int conversation = sequence.conversation(Math.toIntExact(request.id()));
    Queue<Turn> behind = waiting.get(conversation);
    if (behind == null) {
      return; // a request of its own
    }
    Turn first = behind.poll();
    if (first == null) {
      waiting.remove(conversation);
    } else {
      released.add(new Turn(Math.max(nowNs, first.atNs()), first.request()));
    }
  }

  @Override
  public void close() {
    prepared.close();
  }
}
