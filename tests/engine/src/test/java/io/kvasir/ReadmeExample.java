package io.kvasir;

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

/** The program of the README. {@code ReadmeTest} compares both and runs it. */
public final class ReadmeExample {

  private ReadmeExample() {}

  public static void main(String[] args) {
    // README begin
    BlockHasher hasher = NativeBlockHasher.of(HashFormat.KVASIR, 32);
    PoolShape shape = new PoolShape(1_000, hasher.tokensPerBlock(), 256, 1_000, 0);
    StepEngine engine = new TimedStepEngine(StepTiming.DEFAULT); // models the time; yours computes
    RequestListener printer =
        new RequestListener() {
          @Override
          public void onPlaced(Decision decision, long nowNs) {
            System.out.println(decision);
          }
        };
    try (AdpWorker worker =
        AdpWorker.builder(2, shape, hasher)
            .router(AdpRouterKind.KV_CACHE_AWARE, AttentionDpConfig.DEFAULT)
            .open((rank, pool) -> engine, printer)) {
      int[] prompt = IntStream.range(0, 320).toArray();
      long nowNs = 0;
      for (int id = 7; id <= 8; id++) { // the same prompt twice
        Request request = Request.builder(id, prompt).maxNewTokens(100).build();
        worker.submit(new HashedRequest(request, hasher.hash(prompt, CacheScope.NONE)));
        while (!worker.idle()) {
          nowNs += worker.iterate(nowNs);
        }
      }
    }
    // README end
  }
}
