package io.kvasir.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kvasir.gateway.worker.DnsWorkers;
import io.kvasir.gateway.worker.WorkerSpec;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** What the settings, DNS and operators want together. */
class WantedFleetTest {

  private static final DnsWorkers ONE = DnsWorkers.parse("dns+http://one:1", null);
  private static final DnsWorkers TWO = DnsWorkers.parse("dns+http://two:1", null);

  private static WorkerSpec spec(String host, int blockSize) {
    return WorkerSpec.parse("http://%s:1,block_size=%d".formatted(host, blockSize));
  }

  private static Map<DnsWorkers, List<WorkerSpec>> listed(
      List<WorkerSpec> one, List<WorkerSpec> two) {
    Map<DnsWorkers, List<WorkerSpec>> listed = new LinkedHashMap<>();
    listed.put(ONE, one);
    listed.put(TWO, two);
    return listed;
  }

  private static int size(WantedFleet fleet, String host) {
    WorkerSpec spec = fleet.workers().get(host + ":1");
    return spec == null ? 0 : spec.blockSize();
  }

  @Test
  void operatorsComeLastThenTheSettingsThenTheFirstName() {
    WantedFleet fleet =
        WantedFleet.of(
            List.of(spec("a", 1)),
            listed(List.of(spec("a", 2), spec("b", 2)), List.of(spec("b", 3), spec("c", 3))));
    assertThat(size(fleet, "a")).isEqualTo(1);
    assertThat(size(fleet, "b")).isEqualTo(2);
    assertThat(size(fleet, "c")).isEqualTo(3);
    WantedFleet changed = fleet.with(spec("a", 4)).with(spec("d", 4));
    assertThat(size(changed, "a")).isEqualTo(4);
    assertThat(size(changed, "d")).isEqualTo(4);
    assertThat(size(fleet, "a")).as("a snapshot").isEqualTo(1);
  }

  @Test
  void settingsThatAreReadAgainReplaceWhatOperatorsSaidButForCordons() {
    WantedFleet fleet =
        WantedFleet.of(List.of(spec("a", 1), spec("b", 1)), Map.of())
            .with(spec("c", 4))
            .without("a:1")
            .weighed("b:1", 0.5)
            .cordoned("b:1", true)
            .cordoned("c:1", true);
    WantedFleet next = fleet.withSettings(List.of(spec("a", 1), spec("b", 1)), Map.of());
    assertThat(next.workers()).containsOnlyKeys("a:1", "b:1");
    assertThat(next.workers().get("b:1").weight()).isEqualTo(1);
    assertThat(next.cordoned()).containsExactly("b:1");
  }

  @Test
  void whatAnOperatorSaidOfAWorkerEndsWithItsEntryInDns() {
    WantedFleet fleet =
        WantedFleet.of(List.of(), listed(List.of(spec("a", 1), spec("b", 1)), List.of()))
            .with(spec("a", 4))
            .with(spec("own", 4))
            .without("b:1");
    WantedFleet none = fleet.withListed(listed(List.of(), List.of()));
    assertThat(none.workers()).containsOnlyKeys("own:1");
    WantedFleet again = none.withListed(listed(List.of(spec("a", 1), spec("b", 1)), List.of()));
    assertThat(size(again, "a")).isEqualTo(1);
    assertThat(size(again, "b")).isEqualTo(1);
  }

  @Test
  void workersWithRolesHaveOneProtocol() {
    String nixl = ",role=prefill,disagg=nixl";
    WantedFleet fleet = WantedFleet.of(List.of(WorkerSpec.parse("http://a:1" + nixl)), Map.of());
    WorkerSpec other = WorkerSpec.parse("http://b:1,role=decode,flavor=sglang,disagg=bootstrap");
    assertThatThrownBy(() -> fleet.with(other)).hasMessageContaining("disagg must be nixl");
    WantedFleet listed = fleet.withListed(listed(List.of(other), List.of()));
    assertThat(listed.workers()).containsOnlyKeys("a:1");
    assertThat(listed.misfits()).containsOnlyKeys(other);
    assertThat(listed.without("a:1").workers()).as("still not beside it").doesNotContainKey("b:1");
  }

  /** An operator's changes one by one, in the slow and obvious way. */
  private static final class Oracle {

    private Map<String, WorkerSpec> base = new TreeMap<>();
    private final Map<String, WorkerSpec> put = new HashMap<>();
    private final Map<String, Boolean> removed = new HashMap<>();

    void list(Map<String, WorkerSpec> next) {
      for (String name : base.keySet()) {
        if (!next.containsKey(name)) {
          put.remove(name);
          removed.remove(name);
        }
      }
      base = next;
    }

    Map<String, WorkerSpec> workers() {
      Map<String, WorkerSpec> workers = new TreeMap<>(base);
      workers.putAll(put);
      removed.keySet().forEach(workers::remove);
      return workers;
    }
  }

  @Test
  void randomChangesGiveWhatTheyGiveOneByOne() {
    long seed = 39;
    SplittableRandom random = new SplittableRandom(seed);
    Oracle oracle = new Oracle();
    WantedFleet fleet = WantedFleet.of(List.of(), Map.of());
    for (int i = 0; i < 5_000; i++) {
      String host = "h" + random.nextInt(6);
      switch (random.nextInt(3)) {
        case 0 -> {
          List<WorkerSpec> specs =
              Stream.of("h0", "h1", "h2", "h3", "h4", "h5")
                  .filter(each -> random.nextBoolean())
                  .map(each -> spec(each, 1 + random.nextInt(2)))
                  .toList();
          fleet = fleet.withListed(listed(specs, List.of()));
          Map<String, WorkerSpec> next = new TreeMap<>();
          specs.forEach(each -> next.put(each.name(), each));
          oracle.list(next);
        }
        case 1 -> {
          WorkerSpec spec = spec(host, 1 + random.nextInt(3));
          fleet = fleet.with(spec);
          oracle.put.put(spec.name(), spec);
          oracle.removed.remove(spec.name());
        }
        default -> {
          fleet = fleet.without(host + ":1");
          oracle.put.remove(host + ":1");
          oracle.removed.remove(host + ":1");
          if (oracle.base.containsKey(host + ":1")) {
            oracle.removed.put(host + ":1", true);
          }
        }
      }
      assertThat(new TreeMap<>(fleet.workers()))
          .as("after change %d, seed %d", i, seed)
          .isEqualTo(oracle.workers());
    }
  }
}
