package io.kvasir.cli;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * TensorRT-LLM's KV-cache-aware router as its rules say, plainly and slowly, which writes a line of
 * its route trace for each random batch.
 */
final class TracingEngine {

  /** Settings of an engine. */
  record Settings(int ranks, int maxActive, double weight, double threshold, double multiplier) {}

  @SuppressWarnings("ArrayRecordComponent") // compared by nothing
  private record Prompt(long id, List<Integer> tokens, int target, boolean relax, int[] matches) {
    int length() {
      return tokens.size();
    }

    List<Integer> head() {
      return tokens.subList(0, Math.min(64, tokens.size()));
    }
  }

  private final Settings settings;
  private final Random random;
  private final TreeSet<Integer> warmup = new TreeSet<>();
  private long iteration;
  private int[] active = {};
  private double[] tokens = {};

  TracingEngine(Settings settings, boolean coldStartWarmup, Random random) {
    this.settings = settings;
    this.random = random;
    if (coldStartWarmup) {
      warmup.addAll(IntStream.range(0, settings.ranks()).boxed().toList());
    }
  }

  /** Places a random batch on ranks of random load; returns the line. */
  String batch() {
    active = random.ints(settings.ranks(), 0, settings.maxActive() + 1).toArray();
    tokens = new double[settings.ranks()];
    for (int rank = 0; rank < settings.ranks(); rank++) {
      tokens[rank] = active[rank] * random.nextInt(4) * 16;
    }
    String before =
        "\"load_before\":{\"num_active_tokens\":%s,\"num_active_requests\":%s}"
            .formatted(
                IntStream.range(0, tokens.length).mapToObj(r -> "" + tokens[r]).toList(),
                IntStream.of(active).boxed().toList());
    List<Prompt> batch = new ArrayList<>();
    for (int count = 1 + random.nextInt(8); count > 0; count--) {
      batch.add(prompt());
    }
    List<String> decisions = new ArrayList<>();
    List<Prompt> rest = placeTargeted(batch, decisions);
    rest.sort(
        Comparator.comparing(Prompt::head, TracingEngine::lexicographic)
            .thenComparing(p -> -p.length()));
    long expected = expected(rest.size());
    int unrouted = 0;
    for (Prompt prompt : rest) {
      List<Integer> eligible =
          IntStream.range(0, active.length).filter(r -> active[r] < expected).boxed().toList();
      if (eligible.isEmpty()) {
        unrouted++;
      } else {
        decisions.add(placeByScore(prompt, eligible));
      }
    }
    iteration++;
    return "{\"log_iter\":%d,\"iter\":%d,\"decisions\":%s,\"num_unrouted\":%d,%s,\"new\":{\"a\":[1]}}"
        .formatted(iteration + 1, iteration, decisions, unrouted, before);
  }

  private Prompt prompt() {
    int length = 1 + random.nextInt(100);
    int kinds = 1 + random.nextInt(3);
    List<Integer> prompt = new ArrayList<>();
    for (int i = 0; i < length; i++) {
      prompt.add(i % 20 == 0 ? random.nextInt(kinds) : 7);
    }
    int[] matches = new int[settings.ranks()];
    for (int rank = 0; rank < matches.length; rank++) {
      matches[rank] = random.nextInt(3) == 0 ? random.nextInt(length / 8 + 1) * 8 : 0;
    }
    long id = random.nextInt(4) == 0 ? random.nextLong() >>> 1 : random.nextInt(1000);
    int target = random.nextInt(4) == 0 ? random.nextInt(settings.ranks()) : -1;
    return new Prompt(id, prompt, target, target < 0 || random.nextBoolean(), matches);
  }

  private List<Prompt> placeTargeted(List<Prompt> batch, List<String> decisions) {
    List<Prompt> ordered = new ArrayList<>(batch);
    ordered.sort(Comparator.comparing(Prompt::relax)); // false first; stable
    List<Prompt> rest = new ArrayList<>();
    for (Prompt prompt : ordered) {
      boolean explicit = prompt.target() >= 0;
      int target = explicit || warmup.isEmpty() ? prompt.target() : warmup.first();
      if (target >= 0 && active[target] < settings.maxActive()) {
        String phase = !explicit ? "warmup" : prompt.relax() ? "relaxed" : "strict";
        decisions.add("{" + placed(prompt, phase, target) + "}");
        warmup.remove(target);
      } else {
        rest.add(prompt);
      }
    }
    return rest;
  }

  private String placed(Prompt prompt, String phase, int rank) {
    int added = Math.max(prompt.length() - prompt.matches()[rank], 0);
    active[rank]++;
    tokens[rank] += added;
    return "\"req_id\":%d,\"client_id\":%d,\"phase\":\"%s\",\"req_tokens\":%d,\"best_rank\":%d,\"effective_added\":%d"
        .formatted(prompt.id(), random.nextInt(), phase, prompt.length(), rank, added);
  }

  private long expected(int remaining) {
    int ranks = settings.ranks();
    int fair = (IntStream.of(active).sum() + remaining + ranks - 1) / ranks;
    int most = IntStream.of(active).max().orElseThrow();
    return Math.min(
        Math.max((long) Math.ceil(settings.multiplier() * fair), most), settings.maxActive());
  }

  private String placeByScore(Prompt prompt, List<Integer> eligible) {
    int length = prompt.length();
    double sum = 0;
    int longest = 0;
    for (int rank : eligible) {
      sum += tokens[rank];
      longest = Math.max(longest, prompt.matches()[rank]);
    }
    double denominator = Math.max(sum, length);
    boolean on = (double) longest / length > settings.threshold();
    Map<Integer, Double> scores = new LinkedHashMap<>();
    for (int rank : eligible) {
      int compute = length - (on ? prompt.matches()[rank] : 0);
      scores.put(rank, compute + settings.weight() * (tokens[rank] / denominator * length));
    }
    int best = -1;
    for (int rank : PythonShuffle.of(prompt.id(), eligible)) {
      if (best < 0
          || scores.get(rank) < scores.get(best)
          || (scores.get(rank).equals(scores.get(best)) && tokens[rank] < tokens[best])) {
        best = rank;
      }
    }
    return "{\"scores\":%s,\"match_lens\":%s,\"cache_affinity_active\":%s,%s}"
        .formatted(
            byRank(scores),
            byRank(eligible.stream().collect(Collectors.toMap(r -> r, r -> prompt.matches()[r]))),
            on,
            placed(prompt, "scored", best));
  }

  private static String byRank(Map<Integer, ? extends Number> values) {
    return values.entrySet().stream()
        .map(each -> "\"" + each.getKey() + "\":" + each.getValue())
        .collect(Collectors.joining(",", "{", "}"));
  }

  private static int lexicographic(List<Integer> a, List<Integer> b) {
    for (int i = 0; i < Math.min(a.size(), b.size()); i++) {
      if (!a.get(i).equals(b.get(i))) {
        return Integer.compare(a.get(i), b.get(i));
      }
    }
    return Integer.compare(a.size(), b.size());
  }
}
