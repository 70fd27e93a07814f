package io.kvasir.engine.execute;

import io.kvasir.engine.adp.Decision;
import io.kvasir.model.Request;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Remembers what became of requests, as one line for each event and as tables. */
final class Recorder implements RequestListener {

  final List<String> lines = new ArrayList<>();

  /** All events since the beginning, decisions in full. */
  final List<String> story = new ArrayList<>();

  final Map<Long, List<Integer>> streamed = new HashMap<>();
  final Map<Long, int[]> finished = new HashMap<>();
  final Map<Long, String> rejected = new HashMap<>();
  final List<Long> cancelled = new ArrayList<>();

  /** Ids as often as they ended, however that was. */
  final List<Long> ended = new ArrayList<>();

  /** Whether the tokens of requests that are returned may be reported again from the first. */
  boolean startsAnew;

  final List<Long> returned = new ArrayList<>();
  final Map<Integer, String> retired = new HashMap<>();
  int pauses;
  int resumes;
  long cachedTokens;

  @Override
  public void onPlaced(Decision decision, long nowNs) {
    story.add(
        decision.reason()
            + " "
            + decision.matchedTokens()
            + " "
            + Arrays.toString(decision.scoredRanks())
            + Arrays.toString(decision.scores()));
    add("placed " + decision.request().id() + " on " + decision.rank() + " @" + nowNs);
  }

  @Override
  public void onStarted(Request request, int rank, int cached, boolean resumed, long nowNs) {
    add((resumed ? "resumed " : "started ") + request.id() + " cached " + cached);
    cachedTokens += cached;
    resumes += resumed ? 1 : 0;
  }

  @Override
  public void onToken(Request request, int rank, int index, int token, long nowNs) {
    List<Integer> tokens = streamed.computeIfAbsent(request.id(), id -> new ArrayList<>());
    if (tokens.size() != index) {
      throw new AssertionError(request + ": token " + index + " after " + tokens.size());
    }
    tokens.add(token);
    add("token " + request.id() + "/" + index + " @" + nowNs);
  }

  @Override
  public void onPaused(Request request, int rank, long nowNs) {
    add("paused " + request.id());
    pauses++;
  }

  @Override
  public void onFinished(Request request, int rank, int[] outputTokens, long nowNs) {
    add("finished " + request.id() + " @" + nowNs);
    finished.put(request.id(), outputTokens);
    ended.add(request.id());
  }

  @Override
  public void onRejected(Request request, String reason, long nowNs) {
    add("rejected " + request.id());
    rejected.put(request.id(), reason);
    ended.add(request.id());
  }

  @Override
  public void onCancelled(Request request, long nowNs) {
    add("cancelled " + request.id());
    cancelled.add(request.id());
    ended.add(request.id());
  }

  @Override
  public void onReturned(Request request, int rank, String reason, long nowNs) {
    if (startsAnew) {
      streamed.remove(request.id());
    }
    add("returned " + request.id() + " from " + rank + " @" + nowNs);
    returned.add(request.id());
  }

  @Override
  public void onRankRetired(int rank, String reason, long nowNs) {
    add("retired " + rank + " @" + nowNs);
    retired.put(rank, reason);
  }

  private void add(String line) {
    lines.add(line);
    story.add(line);
  }

  /** The lines since the last call. */
  List<String> take() {
    List<String> taken = List.copyOf(lines);
    lines.clear();
    return taken;
  }
}
