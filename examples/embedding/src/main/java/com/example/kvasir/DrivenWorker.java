package com.example.kvasir;

import io.kvasir.engine.adp.AdpRouterKind;
import io.kvasir.engine.adp.AttentionDpConfig;
import io.kvasir.engine.adp.Decision;
import io.kvasir.engine.execute.AdpWorker;
import io.kvasir.engine.execute.RequestListener;
import io.kvasir.engine.execute.StepEngine;
import io.kvasir.engine.execute.TimedStepEngine;
import io.kvasir.engine.pool.PoolShape;
import io.kvasir.hash.BlockHasher;
import io.kvasir.hash.HashFormat;
import io.kvasir.hash.HashedRequest;
import io.kvasir.hash.NativeBlockHasher;
import io.kvasir.model.CacheScope;
import io.kvasir.model.Request;
import io.kvasir.timing.StepTiming;
import java.util.stream.IntStream;

/** Drives a worker of two ranks, one of which is retired while it serves a request. */
public final class DrivenWorker {

  private DrivenWorker() {}

  private static final class Printer implements RequestListener {

    @Override
    public void onPlaced(Decision decision, long nowNs) {
      System.out.println(decision);
    }

    @Override
    public void onReturned(Request request, int rank, String reason, long nowNs) {
      System.out.printf("request %d returns from rank %d: %s%n", request.id(), rank, reason);
    }

    @Override
    public void onFinished(Request request, int rank, int[] outputTokens, long nowNs) {
      System.out.printf(
          "request %d ends on rank %d with %d tokens%n", request.id(), rank, outputTokens.length);
    }
  }

  public static void main(String[] args) {
    BlockHasher hasher = NativeBlockHasher.of(HashFormat.KVASIR, 32);
    PoolShape shape = new PoolShape(1_000, hasher.tokensPerBlock(), 256, 1_000, 0);
    StepEngine engine = new TimedStepEngine(StepTiming.DEFAULT);
    try (AdpWorker worker =
        AdpWorker.builder(2, shape, hasher)
            .router(AdpRouterKind.KV_CACHE_AWARE, AttentionDpConfig.DEFAULT)
            .open((rank, pool) -> engine, new Printer())) {
      int[] prompt = IntStream.range(0, 320).toArray();
      Request request = Request.builder(7, prompt).maxNewTokens(100).build();
      worker.submit(new HashedRequest(request, hasher.hash(prompt, CacheScope.NONE)));
      long nowNs = worker.iterate(0); // computes the prompt and the first token
      worker.retire(0, "maintenance");
      while (!worker.idle()) {
        nowNs += worker.iterate(nowNs);
      }
    }
  }
}
