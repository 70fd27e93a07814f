package io.kvasir.engine.execute;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.kvasir.hash.HashedRequest;
import io.kvasir.model.Request;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class WaitingQueueTest {

  private static final ObjectMapper JSON = new ObjectMapper();

  @TestFactory
  Stream<DynamicTest> vectors() throws IOException {
    Path root = Path.of(System.getProperty("kvasir.root"));
    JsonNode file = JSON.readTree(root.resolve("tests/vectors/waiting-queue.json").toFile());
    return elements(file.get("cases"))
        .map(vector -> dynamicTest(vector.get("id").textValue(), () -> replay(vector)));
  }

  private static void replay(JsonNode vector) {
    WaitingQueue queue = WaitingQueuePolicy.named(vector.get("policy").textValue()).newQueue();
    for (JsonNode step : vector.get("steps")) {
      elements(step.path("enqueue")).map(WaitingQueueTest::request).forEach(queue::enqueue);
      queue.pushFront(elements(step.path("pushFront")).map(WaitingQueueTest::request).toList());
      if (step.has("pop")) {
        JsonNode pop = step.get("pop");
        List<HashedRequest> popped = new ArrayList<>();
        queue.pop(
            pop.get("maxCount").intValue(),
            pop.get("maxActiveRequests").intValue(),
            JSON.convertValue(pop.get("activeRequests"), int[].class),
            popped);
        assertThat(ids(popped)).containsExactlyElementsOf(longs(step.get("popped")));
      }
      if (step.has("queue")) {
        assertThat(ids(queue.toList())).containsExactlyElementsOf(longs(step.get("queue")));
      }
    }
  }

  private static HashedRequest request(JsonNode node) {
    return new HashedRequest(
        Request.builder(node.get("id").longValue(), new int[3])
            .targetRank(node.path("targetRank").asInt(Request.ANY_RANK))
            .relax(node.path("relax").asBoolean(true))
            .children(node.path("children").asInt(0))
            .priority(node.path("priority").asDouble(0.5))
            .build(),
        null);
  }

  @ParameterizedTest
  @EnumSource
  void agreesWithTheObviousQueueOnRandomOperations(WaitingQueuePolicy policy) {
    for (long seed = 0; seed < 300; seed++) {
      Random random = new Random(seed);
      WaitingQueue queue = policy.newQueue();
      ObviousQueue oracle = new ObviousQueue(policy == WaitingQueuePolicy.PRIORITY);
      int ranks = 1 + random.nextInt(4);
      long nextId = 0;
      List<HashedRequest> out = new ArrayList<>();
      for (int step = 0; step < 60; step++) {
        String at = "seed " + seed + " step " + step;
        switch (random.nextInt(6)) {
          case 0, 1, 2 -> {
            HashedRequest request = randomRequest(random, nextId++, ranks, policy);
            queue.enqueue(request);
            oracle.arrive(request);
          }
          case 3 -> {
            int[] active = random.ints(ranks, 0, 4).toArray();
            int[] given = active.clone();
            int maxCount = random.nextInt(8) - 1;
            List<HashedRequest> popped = new ArrayList<>();
            queue.pop(maxCount, 3, given, popped);
            assertThat(given).isEqualTo(active);
            assertThat(popped).as(at).isEqualTo(oracle.pop(maxCount, 3, active));
            out.addAll(popped);
          }
          case 4 -> {
            queue.pushFront(out);
            oracle.comeBack(out);
            out.clear();
          }
          default -> {
            long id = nextId == 0 ? 0 : random.nextLong(nextId);
            HashedRequest removed = queue.remove(id);
            assertThat(removed).as(at).isEqualTo(oracle.remove(id));
          }
        }
        assertThat(queue.toList()).as(at).isEqualTo(oracle.inOrder());
        assertThat(queue.size()).isEqualTo(oracle.inOrder().size());
        assertThat(queue.isEmpty()).isEqualTo(oracle.inOrder().isEmpty());
      }
    }
  }

  private static HashedRequest randomRequest(
      Random random, long id, int ranks, WaitingQueuePolicy policy) {
    double priority = policy == WaitingQueuePolicy.FCFS ? 0.5 : random.nextInt(3) - 1;
    return new HashedRequest(
        Request.builder(id, new int[1])
            .targetRank(random.nextInt(ranks + 1) - 1)
            .relax(random.nextBoolean())
            .children(random.nextInt(4) == 0 ? random.nextInt(3) : 0)
            .priority(priority)
            .build(),
        null);
  }

  @Test
  void policiesAreFoundByTheirOptionNames() {
    assertThat(WaitingQueuePolicy.named("fcfs").newQueue()).isInstanceOf(FcfsQueue.class);
    assertThat(WaitingQueuePolicy.named("priority").newQueue()).isInstanceOf(PriorityQueue.class);
    assertThatThrownBy(() -> WaitingQueuePolicy.named("lifo"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("queue policy must be one of fcfs, priority, not 'lifo'");
  }

  private static Stream<JsonNode> elements(JsonNode array) {
    return StreamSupport.stream(array.spliterator(), false);
  }

  private static List<Long> longs(JsonNode array) {
    return elements(array).map(JsonNode::longValue).toList();
  }

  private static List<Long> ids(List<HashedRequest> requests) {
    return requests.stream().map(request -> request.request().id()).toList();
  }

  /** A list that is sorted again for every look; the rules of the specification one by one. */
  private static final class ObviousQueue {
    private record Waiting(HashedRequest request, long number) {}

    private final Comparator<Waiting> order;
    private final List<Waiting> all = new ArrayList<>();
    private long arrivals;
    private long returns;

    ObviousQueue(boolean byPriority) {
      Comparator<Waiting> arrival = Comparator.comparing(Waiting::number);
      this.order =
          byPriority
              ? Comparator.comparing((Waiting w) -> w.request().request().priority())
                  .reversed()
                  .thenComparing(arrival)
              : arrival;
    }

    void arrive(HashedRequest request) {
      all.add(new Waiting(request, arrivals++));
    }

    void comeBack(List<HashedRequest> requests) {
      for (int i = requests.size() - 1; i >= 0; i--) {
        all.add(new Waiting(requests.get(i), --returns));
      }
    }

    HashedRequest remove(long id) {
      for (Waiting waiting : all) {
        if (waiting.request().request().id() == id) {
          all.remove(waiting);
          return waiting.request();
        }
      }
      return null;
    }

    List<HashedRequest> inOrder() {
      return all.stream().sorted(order).map(Waiting::request).toList();
    }

    List<HashedRequest> pop(int maxCount, int maxActive, int[] activeRequests) {
      int[] active = Arrays.copyOf(activeRequests, activeRequests.length);
      List<HashedRequest> taken = new ArrayList<>();
      List<HashedRequest> aside = new ArrayList<>();
      int weight = 0;
      for (HashedRequest candidate : inOrder()) {
        Request request = candidate.request();
        if (weight >= maxCount || weight + 1 + request.children() > maxCount) {
          break;
        }
        remove(request.id());
        boolean strict = !request.relax() && request.targetRank() >= 0;
        if (strict && active[request.targetRank()] >= maxActive) {
          aside.add(candidate);
          continue;
        }
        if (strict) {
          active[request.targetRank()]++;
        }
        weight += 1 + request.children();
        taken.add(candidate);
      }
      comeBack(aside);
      return taken;
    }
  }
}
