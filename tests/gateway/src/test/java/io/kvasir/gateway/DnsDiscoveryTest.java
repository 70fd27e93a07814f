package io.kvasir.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.gateway.worker.DnsWorkers;
import io.kvasir.gateway.worker.WorkerSpec;
import io.kvasir.testing.harness.Await;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Workers that come and go with what DNS lists. */
class DnsDiscoveryTest {

  private static final DnsWorkers NAME = DnsWorkers.parse("dns+http://vllm:8000", null);
  private static final DnsWorkers OTHER = DnsWorkers.parse("dns+http://sglang:80", null);
  private static final long NEVER = Long.MAX_VALUE;
  private static final List<WorkerSpec> FIXED = List.of(WorkerSpec.parse("http://fixed:1"));

  /** DNS with the hosts of each name; a name without hosts is not found. */
  private static final class FakeDns implements NameLookup {

    final Map<String, List<String>> hosts = new HashMap<>();

    /** Runs at the begin of each lookup. */
    Runnable before = () -> {};

    @Override
    public List<InetSocketAddress> find(DnsWorkers workers) throws IOException {
      before.run();
      List<String> found = hosts.get(workers.name());
      if (found == null) {
        throw new UnknownHostException(workers.name());
      }
      return found.stream()
          .map(host -> InetSocketAddress.createUnresolved(host, workers.port()))
          .toList();
    }
  }

  /** The workers that are wanted, with a line for each change. */
  private final class Workers {

    final List<String> changes = new ArrayList<>();
    WantedFleet wanted = WantedFleet.of(List.of(), Map.of());

    /** Fails once. */
    boolean failing;

    void begin(List<DnsWorkers> names) {
      wanted = discovery.use(names, listed -> WantedFleet.of(FIXED, listed));
    }

    void onListed(Map<DnsWorkers, List<WorkerSpec>> listed) {
      if (failing) {
        failing = false;
        throw new IllegalStateException("a router of its own");
      }
      become(wanted.withListed(listed));
    }

    void become(WantedFleet next) {
      Map<String, WorkerSpec> before = wanted.workers();
      next.workers()
          .forEach(
              (name, spec) -> {
                if (!spec.equals(before.remove(name))) {
                  changes.add("+" + name);
                }
              });
      before.keySet().forEach(name -> changes.add("-" + name));
      wanted = next;
    }

    List<String> names() {
      return List.copyOf(wanted.workers().keySet());
    }
  }

  private final FakeDns dns = new FakeDns();
  private final DnsDiscovery discovery = new DnsDiscovery(dns, NEVER);
  private final Workers workers = new Workers();

  private List<String> use(DnsWorkers... names) {
    workers.begin(List.of(names));
    return workers.names();
  }

  private void look() {
    discovery.lookAgain(workers::onListed);
  }

  @Test
  void theStartHasWhatDnsLists() {
    dns.hosts.put("vllm", List.of("a", "b"));
    assertThat(use(NAME)).containsExactly("fixed:1", "a:8000", "b:8000");
    look();
    assertThat(workers.changes).isEmpty();
    assertThat(discovery.workers()).isEqualTo(2);
  }

  @Test
  void enginesComeAtOnceAndGoAfterTwoAnswersWithoutThem() {
    dns.hosts.put("vllm", List.of("a", "b"));
    use(NAME);
    dns.hosts.put("vllm", List.of("b", "c"));
    look();
    assertThat(workers.changes).containsExactly("+c:8000");
    look();
    assertThat(workers.changes).containsExactly("+c:8000", "-a:8000");
    look();
    assertThat(workers.changes).hasSize(2);
  }

  @Test
  void oneThatIsBackInTimeStays() {
    dns.hosts.put("vllm", List.of("a", "b"));
    use(NAME);
    for (int i = 0; i < 3; i++) {
      dns.hosts.put("vllm", List.of("b"));
      look();
      dns.hosts.put("vllm", List.of("a", "b"));
      look();
    }
    assertThat(workers.changes).isEmpty();
  }

  @Test
  void aFailedLookupChangesNothing() {
    dns.hosts.put("vllm", List.of("a"));
    use(NAME);
    dns.hosts.clear();
    for (int i = 0; i < 5; i++) {
      look();
    }
    assertThat(workers.changes).isEmpty();
    assertThat(discovery.failures()).isEqualTo(5);
    assertThat(use(NAME)).containsExactly("fixed:1", "a:8000");
  }

  @Test
  void aNameThatIsUnknownAtTheStartHasWorkersLater() {
    assertThat(use(NAME)).containsExactly("fixed:1");
    dns.hosts.put("vllm", List.of("a"));
    look();
    assertThat(workers.changes).containsExactly("+a:8000");
  }

  @Test
  void whatAnOperatorRemovedStaysAwayUntilDnsHasDroppedIt() {
    dns.hosts.put("vllm", List.of("a", "b"));
    use(NAME);
    workers.wanted = workers.wanted.without("a:8000");
    look();
    assertThat(workers.changes).isEmpty();
    dns.hosts.put("vllm", List.of("b"));
    look();
    look();
    dns.hosts.put("vllm", List.of("a", "b"));
    look();
    assertThat(workers.changes).containsExactly("+a:8000");
  }

  @Test
  void otherNamesReplaceThoseBefore() {
    dns.hosts.put("vllm", List.of("a"));
    dns.hosts.put("sglang", List.of("s"));
    use(NAME);
    assertThat(use(OTHER)).containsExactly("fixed:1", "s:80");
    dns.hosts.put("vllm", List.of("a", "b"));
    look();
    assertThat(workers.changes).isEmpty();
  }

  private static DnsWorkers named(String name, int blockSize) {
    return DnsWorkers.parse("dns+http://%s:8000,block_size=%d".formatted(name, blockSize), null);
  }

  @Test
  void anEngineUnderTwoNamesStaysUntilBothHaveDroppedIt() {
    dns.hosts.put("one", List.of("a"));
    dns.hosts.put("two", List.of("a"));
    use(named("one", 16), named("two", 16));
    assertThat(discovery.workers()).isEqualTo(1);
    dns.hosts.put("one", List.of());
    look();
    look();
    assertThat(workers.changes).isEmpty();
    dns.hosts.put("two", List.of());
    look();
    look();
    assertThat(workers.changes).containsExactly("-a:8000");
    assertThat(discovery.workers()).isZero();
  }

  @Test
  void anEngineThatMovesToAnotherNameGetsItsKeys() {
    dns.hosts.put("one", List.of("a"));
    dns.hosts.put("two", List.of());
    use(named("one", 16), named("two", 32));
    dns.hosts.put("one", List.of());
    dns.hosts.put("two", List.of("a"));
    look();
    assertThat(workers.changes).as("it is the worker of one of them").isEmpty();
    look();
    assertThat(workers.changes).containsExactly("+a:8000");
    assertThat(workers.wanted.workers().get("a:8000").blockSize()).isEqualTo(32);
    look();
    assertThat(workers.changes).hasSize(1);
  }

  @Test
  void aWorkerWithAnAddressStaysAsItIs() {
    DnsWorkers name = DnsWorkers.parse("dns+http://vllm:1,block_size=32", null);
    dns.hosts.put("vllm", List.of());
    use(name);
    dns.hosts.put("vllm", List.of("fixed"));
    look();
    dns.hosts.put("vllm", List.of());
    look();
    look();
    assertThat(workers.changes).isEmpty();
  }

  @Test
  void aFailureDoesNotEndTheLookups() {
    dns.hosts.put("vllm", List.of("a", "b"));
    dns.hosts.put("sglang", List.of());
    use(NAME, OTHER);
    dns.before =
        () -> {
          throw new NumberFormatException("the port of an SRV record");
        };
    look();
    assertThat(discovery.failures()).isEqualTo(2);
    dns.before = () -> {};
    workers.failing = true;
    dns.hosts.put("vllm", List.of("b", "c"));
    dns.hosts.put("sglang", List.of("s"));
    look();
    assertThat(workers.changes).isEmpty();
    look();
    assertThat(workers.changes).containsExactly("+c:8000", "+s:80", "-a:8000");
  }

  @Test
  void theNumberOfWorkersDoesNotWaitForALookup() throws Exception {
    dns.hosts.put("vllm", List.of("a"));
    use(NAME);
    CountDownLatch begun = new CountDownLatch(1);
    CountDownLatch answers = new CountDownLatch(1);
    dns.before =
        () -> {
          begun.countDown();
          Await.opened("the answer", answers);
        };
    Thread looks = new Thread(this::look, "looks");
    looks.start();
    Await.opened("a lookup", begun);
    CompletableFuture<Integer> read = CompletableFuture.supplyAsync(discovery::workers);
    try {
      Await.until("the number", read::isDone);
    } finally {
      answers.countDown();
      looks.join();
    }
    assertThat(read.join()).isEqualTo(1);
  }

  /** In the end the workers are those of DNS, whatever it answered before. */
  @Test
  void randomAnswersLeadToThoseOfDns() {
    SplittableRandom random = new SplittableRandom(39);
    dns.hosts.put("vllm", List.of());
    use(NAME);
    for (int i = 0; i < 2_000; i++) {
      if (random.nextInt(4) == 0) {
        dns.hosts.remove("vllm");
      } else {
        dns.hosts.put(
            "vllm",
            Stream.of("a", "b", "c", "d", "e").filter(each -> random.nextBoolean()).toList());
      }
      look();
      if (i % 100 == 99 && dns.hosts.containsKey("vllm")) {
        look();
        look();
        assertThat(workers.names())
            .containsExactlyInAnyOrderElementsOf(
                Stream.concat(
                        Stream.of("fixed:1"),
                        dns.hosts.get("vllm").stream().map(host -> host + ":8000"))
                    .toList());
      }
    }
  }

  @Test
  void aRunningGatewayFollowsDns() {
    try (ScriptedEngine engine = ScriptedEngine.good();
        TestGateway gateway =
            TestGateway.of(List.of("dns+http://localhost:" + engine.port())).start()) {
      gateway.works();
      assertThat(engine.received()).isPositive();
      assertThat(gateway.metrics()).contains("kvasir_dns_workers 1.0");
      String changed = gateway.gateway().replaceWorkers(List.of(), List.of());
      assertThat(changed).isEqualTo("0 workers come, 1 go, 0 stay");
      Await.until("the worker has gone", () -> gateway.admin("/kvasir/workers").json().isEmpty());
    }
  }

  @Test
  void lookupsGoOnUntilTheyAreClosed() {
    dns.hosts.put("vllm", List.of());
    try (DnsDiscovery often = new DnsDiscovery(dns, 1)) {
      Object unused = often.use(List.of(NAME), Function.identity());
      AtomicReference<Map<DnsWorkers, List<WorkerSpec>>> listed = new AtomicReference<>(Map.of());
      often.start(listed::set);
      dns.hosts.put("vllm", List.of("a"));
      Await.until("a worker", () -> !listed.get().getOrDefault(NAME, List.of()).isEmpty());
    }
  }
}
