package io.kvasir.benchmarks;

import io.kvasir.engine.device.DeviceApi;
import io.kvasir.engine.pool.CommitBatch;
import io.kvasir.engine.pool.LeaseBatch;
import io.kvasir.engine.pool.PoolShape;
import io.kvasir.engine.pool.PrefixMatches;
import io.kvasir.engine.pool.ProbeBatch;
import io.kvasir.engine.pool.cuda.CudaBlockPool;
import io.kvasir.engine.pool.cuda.CudaPrefixMatcher;
import io.kvasir.model.CacheScope;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;

/**
 * Matches batches of prompts in full pools, in the host's mirrors and on the device, with and
 * without background load, and finds the batch size from which the device is faster. Both answers
 * are checked against the pools' contents.
 *
 * <p>Not thread-safe.
 */
final class MatchCrossover implements AutoCloseable {

  private static final long LOAD_NS = 20_000_000;

  /** A pool on the device, filled by the population. */
  private record DeviceRank(CudaBlockPool pool) implements RequestPopulation.Rank {

    @Override
    public void hold(int[] tokens, long[] sequenceHashes, int blocks) {
      LeaseBatch leases = new LeaseBatch();
      leases.add(tokens, sequenceHashes, CacheScope.NONE, 0, blocks, 0);
      pool.lease(leases);
      CommitBatch commits = new CommitBatch();
      commits.add(leases.lease(0), tokens, sequenceHashes, 0, blocks);
      pool.commit(commits);
      pool.release(new int[] {leases.lease(0)}, 1);
    }
  }

  private final DeviceLoad load;
  private final DeviceBenchmark.Size size;
  private final List<CudaBlockPool> pools = new ArrayList<>();
  private final CudaPrefixMatcher matcher;
  private final RequestPopulation population;
  private final ProbeBatch batch = new ProbeBatch();
  private int next;

  MatchCrossover(DeviceApi device, DeviceLoad load, DeviceBenchmark.Size size) {
    this.load = load;
    this.size = size;
    PoolShape shape =
        new PoolShape(
            size.poolBlocks(), RequestPopulation.TOKENS_PER_BLOCK, 2, RequestPopulation.BLOCKS, 0);
    for (int rank = 0; rank < size.ranks(); rank++) {
      pools.add(CudaBlockPool.create(device, shape, 0));
    }
    population =
        RequestPopulation.generate(
            size.poolBlocks(), pools.stream().map(DeviceRank::new).toList(), 1);
    pools.forEach(CudaBlockPool::settle);
    matcher = new CudaPrefixMatcher(pools);
  }

  void print(double floorUs) {
    String idle = "never";
    String loaded = "never";
    for (int prompts : size.prompts()) {
      String name = "match_" + prompts + "x" + size.ranks() + "x" + RequestPopulation.BLOCKS;
      double host = medianUs(prompts, matcher::matchOnHost, 0);
      double device = medianUs(prompts, matcher::matchOnDevices, 0);
      double beside = medianUs(prompts, matcher::matchOnDevices, LOAD_NS);
      Figures.print(name + "_host", host, "us");
      Figures.print(name + "_device", device, "us", floorUs);
      Figures.print(name + "_device_beside_load", beside, "us", floorUs);
      idle = crossover(idle, prompts, device < host);
      loaded = crossover(loaded, prompts, beside < host);
    }
    System.out.println("figure match_crossover_idle " + idle + " prompts");
    System.out.println("figure match_crossover_beside_load " + loaded + " prompts");
  }

  /** The smallest size from which the device was always faster. */
  private static String crossover(String before, int prompts, boolean faster) {
    if (!faster) {
      return "never";
    }
    return before.equals("never") ? Integer.toString(prompts) : before;
  }

  private double medianUs(int prompts, Function<ProbeBatch, PrefixMatches> way, long loadNs) {
    long[] ns = new long[size.rounds()];
    for (int round = -size.rounds(); round < size.rounds(); round++) {
      int first = take(prompts);
      if (loadNs > 0) {
        load.begin(loadNs);
      }
      long from = System.nanoTime();
      PrefixMatches matches = way.apply(batch);
      ns[Math.max(0, round)] = System.nanoTime() - from;
      load.end();
      check(first, prompts, matches);
    }
    return Figures.medianUs(ns);
  }

  private int take(int prompts) {
    if (next + prompts > population.size()) {
      next = 0;
    }
    int first = next;
    next += prompts;
    batch.clear();
    for (int i = 0; i < prompts; i++) {
      batch.add(population.hashes(first + i), RequestPopulation.BLOCKS);
    }
    return first;
  }

  private void check(int first, int prompts, PrefixMatches matches) {
    for (int rank = 0; rank < size.ranks(); rank++) {
      for (int i = 0; i < prompts; i++) {
        int held = population.heldBlocks(first + i, rank);
        int expected = held * RequestPopulation.TOKENS_PER_BLOCK;
        if (matches.tokens(rank, i) != expected) {
          throw new IllegalStateException(
              "request %d, rank %d: %d tokens matched, not %d"
                  .formatted(first + i, rank, matches.tokens(rank, i), expected));
        }
      }
    }
  }

  @Override
  public void close() {
    matcher.close();
    pools.forEach(CudaBlockPool::close);
  }
}
