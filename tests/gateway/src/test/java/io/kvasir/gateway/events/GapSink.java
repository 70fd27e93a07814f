package io.kvasir.gateway.events;

import io.kvasir.event.BlockEvent;
import io.kvasir.fleet.index.RecoverySource;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;

/** Collects the batches of a rank in order and asks for missing ones, as event streams do. */
class GapSink implements BatchSink {

  private final TreeMap<Long, byte[]> waiting = new TreeMap<>();
  private final List<byte[]> applied = new ArrayList<>();
  private Feed feed;
  private long next;
  private boolean asked;
  private long askedFrom;
  private volatile int restarts;
  private volatile int gone;

  /** The payloads in order since the last restart or loss, as the numbers in their first bytes. */
  synchronized List<Integer> applied() {
    return applied.stream().map(payload -> payload[0] << 8 | (payload[1] & 0xFF)).toList();
  }

  int restarts() {
    return restarts;
  }

  int gone() {
    return gone;
  }

  @Override
  public synchronized boolean onBatch(long number, byte[] payload, boolean last) {
    if (payload.length == 3 && !last) {
      return false; // stands for one that cannot be read
    }
    if (number >= next) {
      waiting.put(number, payload);
    }
    settle();
    return true;
  }

  private void settle() {
    for (byte[] payload; (payload = waiting.remove(next)) != null; next++) {
      applied.add(payload);
    }
    ask();
  }

  private void ask() {
    if (!asked && !waiting.isEmpty()) {
      asked = true;
      askedFrom = next;
      feed.recover(next, new End());
    }
  }

  private final class End implements RecoverySource.Answer {

    @Override
    public void delivered() {
      synchronized (GapSink.this) {
        asked = next == askedFrom; // without progress only a retry asks again
        ask();
      }
    }

    @Override
    public void gone() {
      synchronized (GapSink.this) {
        gone++;
        asked = false;
        applied.clear();
        next = waiting.isEmpty() ? next : waiting.firstKey();
        settle();
      }
    }

    @Override
    public void failed() {}

    @Override
    public void events(long firstEventId, List<? extends BlockEvent> events) {
      throw new AssertionError();
    }

    @Override
    public void dump(long lastEventId, List<BlockEvent.Stored> contents) {
      throw new AssertionError();
    }
  }

  @Override
  public synchronized void onRestart() {
    restarts++;
    waiting.clear();
    applied.clear();
    next = 0;
    asked = false;
  }

  @Override
  public void recoverFrom(Feed source) {
    feed = source;
  }

  @Override
  public synchronized void retry() {
    asked = false;
    ask();
  }
}
