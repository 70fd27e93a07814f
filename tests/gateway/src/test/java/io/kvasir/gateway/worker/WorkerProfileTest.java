package io.kvasir.gateway.worker;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** What is stated goes before what the engine says, and contradictions are named. */
class WorkerProfileTest {

  private static final EventEndpoints FOUND =
      new EventEndpoints(List.of("tcp://h:1", "tcp://h:2"), List.of(), "kv", false);

  private static WorkerProfile profile(String spec, WorkerFacts facts) {
    return WorkerProfile.of(WorkerSpec.parse(spec), facts);
  }

  private static WorkerFacts facts(int blockSize, int ranks, int first, EventEndpoints events) {
    return new WorkerFacts("0.30.0", blockSize, 9, ranks, first, events, false, null, Map.of());
  }

  @Test
  void whatIsNotStatedIsTheEngines() {
    WorkerProfile profile = profile("http://h:1", facts(16, 2, 0, FOUND));
    assertThat(profile)
        .isEqualTo(
            new WorkerProfile(
                EngineVersion.parse("0.30.0"),
                2,
                0,
                LoadBalancing.INTERNAL,
                16,
                9,
                FOUND,
                false,
                8_998,
                List.of(),
                List.of()));
  }

  @Test
  void whatIsStatedGoesFirst() {
    WorkerProfile profile =
        profile(
            "http://h:1,ranks=4,block_size=32,rank_offset=4,events=tcp://e:7,topic=x",
            facts(16, 2, 2, FOUND));
    assertThat(profile.ranks()).isEqualTo(4);
    assertThat(profile.blockSize()).isEqualTo(32);
    assertThat(profile.rankOffset()).isEqualTo(4);
    assertThat(profile.events().live(3)).isEqualTo("tcp://e:14");
    assertThat(profile.problems())
        .containsExactly(
            "ranks is stated as 4, but the engine says 2",
            "rank_offset is stated as 4, but the engine says 2",
            "block_size is stated as 32, but the engine says 16",
            "topic is stated as x, not as kv");
  }

  @Test
  void theRoleIsStatedAndTheBootstrapPortIsTheEngines() {
    WorkerFacts facts =
        new WorkerFacts(
            null, 0, 0, 0, -1, null, false, new DisaggFacts(WorkerRole.PREFILL, 9_001), Map.of());
    String sglang = "http://h:1,flavor=sglang";
    assertThat(profile(sglang + ",role=prefill", facts).bootstrapPort()).isEqualTo(9_001);
    assertThat(profile(sglang + ",role=prefill", facts).problems()).isEmpty();
    assertThat(profile(sglang + ",role=prefill,bootstrap_port=7", facts).bootstrapPort())
        .isEqualTo(7);
    assertThat(profile(sglang + ",role=prefill,bootstrap_port=7", facts).problems())
        .containsExactly("bootstrap_port is stated as 7, but the engine says 9001");
    assertThat(profile(sglang + ",role=decode", facts).problems())
        .containsExactly("role is decode, but the engine says prefill");
    assertThat(profile(sglang, facts).problems())
        .containsExactly("role is both, but the engine says prefill");
  }

  @Test
  void theFirstRankShowsHowRanksShareUrls() {
    assertThat(profile("http://h:1", facts(0, 4, 4, null)).balancing())
        .isEqualTo(LoadBalancing.HYBRID);
    assertThat(profile("http://h:1", facts(0, 1, 3, null)).balancing())
        .isEqualTo(LoadBalancing.EXTERNAL);
    assertThat(profile("http://h:1,lb=hybrid", facts(0, 4, 0, null)).balancing())
        .isEqualTo(LoadBalancing.HYBRID);
  }

  @Test
  void aPatternFitsTheRanksThatTheEngineHas() {
    assertThat(profile("http://h:1,events=tcp://e:7", facts(0, 3, 0, null)).events().ranks())
        .isEqualTo(3);
    WorkerProfile high = profile("http://h:1,events=tcp://e:65535", facts(0, 3, 0, null));
    assertThat(high.events()).isNull();
    assertThat(high.problems()).singleElement().asString().contains("events of rank 1: the port");
  }

  @Test
  void endpointsOfAnotherNumberOfRanksAreNotUsed() {
    WorkerProfile profile = profile("http://h:1,ranks=3", facts(0, 2, 0, FOUND));
    assertThat(profile.events()).isNull();
    assertThat(profile.problems())
        .contains("the engine names event endpoints of 2 ranks instead of 3");
  }
}
