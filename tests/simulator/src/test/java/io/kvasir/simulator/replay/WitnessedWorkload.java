package io.kvasir.simulator.replay;

import io.kvasir.hash.HashedRequest;
import io.kvasir.model.Request;
import io.kvasir.simulator.workload.Arrivals;
import io.kvasir.simulator.workload.RequestPreparation;
import io.kvasir.simulator.workload.Workload;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** A workload that records the calls it receives and their times. */
final class WitnessedWorkload implements Workload {

  /** One call, in the order of calls. */
  record Call(boolean arrival, long requestId, long atNs) {}

  final List<Call> calls = new ArrayList<>();
  private final Workload workload;

  WitnessedWorkload(Workload workload) {
    this.workload = workload;
  }

  @Override
  public String name() {
    return workload.name();
  }

  @Override
  public Map<String, Object> parameters() {
    return workload.parameters();
  }

  @Override
  public long plannedRequests() {
    return workload.plannedRequests();
  }

  @Override
  public Arrivals start(RequestPreparation preparation) {
    Arrivals arrivals = workload.start(preparation);
    return new Arrivals() {
      @Override
      public long nextNs() {
        return arrivals.nextNs();
      }

      @Override
      public HashedRequest next() {
        long atNs = arrivals.nextNs();
        HashedRequest next = arrivals.next();
        calls.add(new Call(true, next.request().id(), atNs));
        return next;
      }

      @Override
      public void onFinished(Request request, int[] outputTokens, long nowNs) {
        calls.add(new Call(false, request.id(), nowNs));
        arrivals.onFinished(request, outputTokens, nowNs);
      }

      @Override
      public void onRejected(Request request, long nowNs) {
        calls.add(new Call(false, request.id(), nowNs));
        arrivals.onRejected(request, nowNs);
      }

      @Override
      public void close() {
        arrivals.close();
      }
    };
  }
}
