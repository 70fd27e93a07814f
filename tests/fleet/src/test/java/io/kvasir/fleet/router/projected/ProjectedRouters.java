package io.kvasir.fleet.router.projected;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.fleet.router.FleetRequest;
import io.kvasir.fleet.router.FleetRouter;
import io.kvasir.fleet.router.FleetRouterKind;
import io.kvasir.fleet.router.FleetRouterSetup;
import io.kvasir.fleet.router.Placement;
import io.kvasir.fleet.router.Prompt;
import io.kvasir.fleet.router.RankCapacity;
import io.kvasir.fleet.router.RouteOutcome;
import io.kvasir.hash.HashFormat;
import io.kvasir.model.RankId;
import java.util.Arrays;
import java.util.Map;
import java.util.function.LongSupplier;

/** Makes routers in front of engines of one rank each, numbered from 0. */
final class ProjectedRouters {

  static final int TOKENS_PER_BLOCK = 16;

  /** For prompts that share nothing: fewer blocks, and so less work for the index. */
  private static final int LARGE_BLOCK = 512;

  private ProjectedRouters() {}

  /** In front of engines that get prompts that share nothing. */
  static FleetRouter ofUnshared(int engines, LongSupplier clockNs) {
    return of(engines, Map.of(), LARGE_BLOCK, clockNs);
  }

  /** A prompt that shares no block with those of other ids. */
  static Prompt unshared(int id, int tokens) {
    int[] prompt = new int[tokens];
    prompt[0] = id;
    return Prompt.of(prompt);
  }

  static FleetRouter of(int engines, Map<String, ?> args, LongSupplier clockNs) {
    return of(engines, args, TOKENS_PER_BLOCK, clockNs);
  }

  private static FleetRouter of(
      int engines, Map<String, ?> args, int tokensPerBlock, LongSupplier clockNs) {
    FleetRouter router =
        FleetRouterKind.named("projected")
            .create(
                args, new FleetRouterSetup(HashFormat.KVASIR, tokensPerBlock, clockNs, Map.of()));
    for (int engine = 0; engine < engines; engine++) {
      router.addRank(new RankId(engine, 0), RankCapacity.UNKNOWN);
    }
    return router;
  }

  /** A prompt; those of equal names begin alike, for the shorter one's length. */
  static int[] prompt(int name, int tokens) {
    int[] prompt = new int[tokens];
    Arrays.setAll(prompt, i -> name * 31 + i % 30_000);
    return prompt;
  }

  static Placement place(FleetRouter router, FleetRequest request) {
    RouteOutcome outcome = router.route(request);
    assertThat(outcome).isInstanceOf(RouteOutcome.Placed.class);
    return ((RouteOutcome.Placed) outcome).placement();
  }
}
