package io.kvasir.simulator.workload;

import io.kvasir.hash.BlockHashes;
import io.kvasir.hash.HashedRequest;
import io.kvasir.model.Request;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** A started workload whose requests are prepared without hashes, so that tests can drive it. */
final class RunningWorkload implements AutoCloseable {

  /** Arguments of the workload's calls to its preparation, in order. */
  final List<Integer> answeredTokens = new ArrayList<>();

  final Arrivals arrivals;

  RunningWorkload(Workload workload) {
    this.arrivals =
        workload.start(
            (request, answered) -> {
              answeredTokens.add(answered);
              return new HashedRequest(request, new BlockHashes(new long[0], new long[0]));
            });
  }

  /** Requests that have arrived by a time. */
  List<Request> until(long nowNs) {
    List<Request> arrived = new ArrayList<>();
    while (arrivals.nextNs() <= nowNs) {
      arrived.add(arrivals.next().request());
    }
    return arrived;
  }

  /** Answers each request, the oldest or the newest first; maps ids to prompts. */
  static Map<Long, String> play(Workload workload, boolean newestFirst) {
    Map<Long, String> asked = new TreeMap<>();
    try (RunningWorkload run = new RunningWorkload(workload)) {
      Deque<Request> open = new ArrayDeque<>();
      long nowNs = 0;
      while (true) {
        open.addAll(run.until(nowNs));
        if (open.isEmpty()) {
          if (run.arrivals.nextNs() == Arrivals.NEVER) {
            return asked;
          }
          nowNs = run.arrivals.nextNs();
          continue;
        }
        Request request = newestFirst ? open.removeLast() : open.removeFirst();
        asked.put(request.id(), Arrays.hashCode(request.tokens()) + "/" + request.maxNewTokens());
        nowNs += 1_000_000_000L;
        run.arrivals.onFinished(request, new int[] {(int) request.id()}, nowNs);
      }
    }
  }

  @Override
  public void close() {
    arrivals.close();
  }
}
