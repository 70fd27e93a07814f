package io.kvasir.engine.adp;

import io.kvasir.model.Request;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.function.IntPredicate;
import java.util.stream.IntStream;

/**
 * TensorRT-LLM's conversation-aware ADP router, written from its rules alone and without regard to
 * speed. Bindings are a list, the one used last at its end.
 */
final class ConversationRules {

  private record Binding(String conversation, int rank) {}

  /**
   * Placements as {@code id -> rank}, in order, and the number of requests that ranks are padded
   * to.
   */
  record Placed(List<String> placements, int expected) {}

  private final int ranks;
  private final double multiplier;
  private final int maxSessions;
  private final String newConversations;
  private final List<Binding> bindings = new ArrayList<>();
  private int nextInTurn;
  private int afterLightest;

  private int[] requests = {};
  private long[] tokens = {};
  private List<String> placements = List.of();

  ConversationRules(int ranks, double multiplier, int maxSessions, String newConversations) {
    this.ranks = ranks;
    this.multiplier = multiplier;
    this.maxSessions = maxSessions;
    this.newConversations = newConversations;
  }

  Placed route(List<RankState> states, List<Request> batch, int most) {
    requests = states.stream().mapToInt(RankState::activeRequests).toArray();
    tokens = states.stream().mapToLong(RankState::activeTokens).toArray();
    placements = new ArrayList<>();
    List<Request> ordered = new ArrayList<>(batch);
    ordered.sort(Comparator.comparing(Request::relax)); // whether they name a rank or not
    List<Request> rest = new ArrayList<>();
    for (Request request : ordered) {
      int target = request.targetRank();
      if (target >= 0 && home(request) < 0 && requests[target] < most) {
        bind(request, target);
        place(request, target);
      } else {
        rest.add(request);
      }
    }
    int total = Arrays.stream(requests).sum() + rest.size();
    int fair = (total + ranks - 1) / ranks;
    int expected = Math.min(Math.max((int) Math.ceil(multiplier * fair), fullest()), most);
    for (Request request : rest) {
      int home = home(request);
      if (home >= 0 && requests[home] < most) {
        bind(request, home);
        place(request, home);
      } else {
        int rank = placeNew(expected);
        if (home < 0) {
          bind(request, rank);
        }
        place(request, rank);
      }
    }
    return new Placed(placements, Math.max(expected, fullest()));
  }

  private int fullest() {
    return Arrays.stream(requests).max().orElseThrow();
  }

  private int home(Request request) {
    return bindings.stream()
        .filter(binding -> binding.conversation().equals(request.affinityId()))
        .mapToInt(Binding::rank)
        .findFirst()
        .orElse(-1);
  }

  private void bind(Request request, int rank) {
    if (request.affinityId() == null) {
      return;
    }
    bindings.removeIf(binding -> binding.conversation().equals(request.affinityId()));
    bindings.add(new Binding(request.affinityId(), rank));
    if (bindings.size() > maxSessions) {
      bindings.remove(0);
    }
  }

  private void place(Request request, int rank) {
    requests[rank]++;
    tokens[rank] += request.promptTokens();
    placements.add(request.id() + " -> " + rank);
  }

  private int placeNew(int expected) {
    IntPredicate below = rank -> requests[rank] < expected;
    return switch (newConversations) {
      case "least_tokens" -> lightest(below);
      case "least_queued" -> shortest(below);
      default -> inTurn(below);
    };
  }

  /** The turn passes over every rank that is looked at. */
  private int inTurn(IntPredicate below) {
    for (int looked = 0; looked < ranks; looked++) {
      int rank = nextInTurn;
      nextInTurn = (nextInTurn + 1) % ranks;
      if (below.test(rank)) {
        return rank;
      }
    }
    return shortest(below);
  }

  private int shortest(IntPredicate below) {
    return choices(below).boxed().min(Comparator.comparing(rank -> requests[rank])).orElseThrow();
  }

  private int lightest(IntPredicate below) {
    int rank =
        choices(below)
            .boxed()
            .min(
                Comparator.<Integer, Long>comparing(each -> tokens[each])
                    .thenComparing(each -> requests[each])
                    .thenComparing(each -> Math.floorMod(each - afterLightest, ranks)))
            .orElseThrow();
    afterLightest = (rank + 1) % ranks;
    return rank;
  }

  /** The ranks below the soft target; all if there is none. */
  private IntStream choices(IntPredicate below) {
    IntStream all = IntStream.range(0, ranks);
    return IntStream.range(0, ranks).anyMatch(below) ? all.filter(below) : all;
  }
}
