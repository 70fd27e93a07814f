package io.kvasir.simulator.workload;

import io.kvasir.hash.BlockHashes;
import io.kvasir.hash.HashedRequest;
import io.kvasir.model.Request;
import java.util.ArrayList;
import java.util.List;

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

  @Override
  public void close() {
    arrivals.close();
  }
}
