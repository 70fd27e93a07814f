package io.kvasir.gateway.worker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kvasir.exchange.EngineFlavor;
import java.util.Random;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class WorkerSpecTest {

  private static final String NODES = "http://h:1,ranks=8,ranks_per_node=4,events=";

  private static EventEndpoints endpoints(String text) {
    WorkerProfile profile = WorkerProfile.of(WorkerSpec.parse(text), WorkerFacts.NONE);
    assertThat(profile.problems()).isEmpty();
    return profile.events();
  }

  @Test
  void anUrlAloneStatesNothingElse() {
    WorkerSpec spec = WorkerSpec.parse("http://h:8000/x/");
    assertThat(spec.name()).isEqualTo("h:8000/x");
    assertThat(spec.flavor()).isEqualTo(EngineFlavor.VLLM);
    assertThat(spec.ranks()).isZero();
    assertThat(spec.balancing()).isNull();
    assertThat(spec.events()).isNull();
    WorkerProfile profile = WorkerProfile.of(spec, WorkerFacts.NONE);
    assertThat(profile.ranks()).isEqualTo(1);
    assertThat(profile.rankOffset()).isZero();
    assertThat(profile.balancing()).isEqualTo(LoadBalancing.INTERNAL);
  }

  @Test
  void basePortsGrowWithTheRank() {
    EventEndpoints endpoints =
        endpoints(
            "http://h:1,flavor=sglang,ranks=3,events=tcp://e:5557,replay=tcp://[::1]:5657,topic=kv");
    assertThat(endpoints.live()).containsExactly("tcp://e:5557", "tcp://e:5558", "tcp://e:5559");
    assertThat(endpoints.replay(2)).isEqualTo("tcp://[::1]:5659");
    assertThat(endpoints.topic()).isEqualTo("kv");
    assertThat(endpoints.bind()).isFalse();
    assertThat(endpoints("http://h:1,events=tcp://e:9").replay(0)).isNull();
  }

  @Test
  void theRankOffsetCountsInPortsAndPatterns() {
    String node = "http://h:1,lb=hybrid,ranks=2,rank_offset=4,";
    assertThat(endpoints(node + "events=tcp://e:5557").live())
        .containsExactly("tcp://e:5561", "tcp://e:5562");
    assertThat(endpoints(node + "ranks_per_node=2,events=tcp://n{n}-{l}:{7000+r}").live())
        .containsExactly("tcp://n2-0:7004", "tcp://n2-1:7005");
  }

  @Test
  void patternsNameNodes() {
    assertThat(endpoints(NODES + "tcp://node-{n}:{5557+r},replay=tcp://node-{1+n}:{6000+l}").live())
        .containsExactly(
            "tcp://node-0:5557",
            "tcp://node-0:5558",
            "tcp://node-0:5559",
            "tcp://node-0:5560",
            "tcp://node-1:5561",
            "tcp://node-1:5562",
            "tcp://node-1:5563",
            "tcp://node-1:5564");
    assertThat(endpoints(NODES + "tcp://node-{1+n}:{6000+l}").live(5))
        .isEqualTo("tcp://node-2:6001");
  }

  @Test
  void aListHasTheEndpointOfEachRankAndTheirNumber() {
    WorkerSpec spec =
        WorkerSpec.parse("http://h:1,events=tcp://a:1,events=tcp://b:1,replay=tcp://c:7");
    assertThat(spec.ranks()).isEqualTo(2);
    EventEndpoints endpoints = WorkerProfile.of(spec, WorkerFacts.NONE).events();
    assertThat(endpoints.live()).containsExactly("tcp://a:1", "tcp://b:1");
    assertThat(endpoints.replay()).containsExactly("tcp://c:7", "tcp://c:8");
  }

  @Test
  void boundEndpointsAreTheGatewaysOwn() {
    EventEndpoints endpoints =
        endpoints("http://h:1,ranks=2,bind=true,events=tcp://*:5557,replay=tcp://e:5557");
    assertThat(endpoints.bind()).isTrue();
    assertThat(endpoints.live(1)).isEqualTo("tcp://*:5558");
  }

  @Test
  void rolesHaveTheDialectOfTheEngine() {
    assertThat(WorkerSpec.parse("http://h:1").disagg()).isEqualTo(DisaggSpec.WHOLE);
    assertThat(WorkerSpec.parse("http://h:1,role=both").disagg()).isEqualTo(DisaggSpec.WHOLE);
    DisaggSpec context = WorkerSpec.parse("http://h:1,flavor=trtllm,role=context").disagg();
    assertThat(context.role()).isEqualTo(WorkerRole.PREFILL);
    assertThat(context.dialect()).isEqualTo(DisaggDialect.TRTLLM);
    DisaggSpec decode = WorkerSpec.parse("http://h:1,flavor=sglang", WorkerRole.DECODE).disagg();
    assertThat(decode.role()).isEqualTo(WorkerRole.DECODE);
    assertThat(decode.dialect()).isEqualTo(DisaggDialect.BOOTSTRAP);
    assertThat(decode.decodesWhole()).isFalse();
    assertThat(WorkerSpec.parse("http://h:1,role=generation").disagg().decodesWhole()).isTrue();
  }

  @Test
  void addressesOfTransfersAreTheWorkersOwnUnlessStated() {
    DisaggSpec mooncake = WorkerSpec.parse("http://h:1,role=prefill,disagg=mooncake").disagg();
    assertThat(mooncake.bootstrapUrl()).isEqualTo("http://h:8998");
    assertThat(
            WorkerSpec.parse("http://[::1]:1,flavor=sglang,role=prefill,bootstrap_port=9")
                .disagg()
                .bootstrapUrl())
        .isEqualTo("http://[::1]:9");
    DisaggSpec push =
        WorkerSpec.parse(
                "http://h:1,ranks=2,role=prefill,disagg=nixl_push,side_channel=n:5,engine_id=e_{r},tp_size=4")
            .disagg();
    assertThat(push.sideChannelHost() + push.sideChannelPort()).isEqualTo("n5");
    assertThat(push.engineId(1)).isEqualTo("e_1");
    assertThat(push.tpSize()).isEqualTo(4);
    assertThat(WorkerSpec.parse("http://h:1,role=prefill,disagg=nixl_push,engine_id=e{r}").disagg())
        .matches(spec -> spec.sideChannelPort() == 5600 && spec.tpSize() == 1)
        .matches(spec -> "e0".equals(spec.engineId(0)));
  }

  @Test
  void anOptionsRoleIsNotContradicted() {
    assertThat(WorkerSpec.parse("http://h:1,role=context", WorkerRole.PREFILL).disagg().role())
        .isEqualTo(WorkerRole.PREFILL);
    assertThatThrownBy(() -> WorkerSpec.parse("http://h:1,role=decode", WorkerRole.PREFILL))
        .hasMessage("role=decode contradicts --prefill");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "h:1 | the URL must be http://host:port",
        "http://h:0 | the URL must be http://host:port",
        "http://h:65536 | the URL must be http://host:port",
        "http://h:1/v1 | the URL must be http://h:1, without /v1: the gateway adds the paths",
        "http://h:1/v1/ | the URL must be http://h:1, without /v1: the gateway adds the paths",
        "http://h:1/v1/models,ranks=2 | the URL must be http://h:1, without /v1/models: the gateway",
        "https://h/x/v1/chat/completions | the URL must be https://h/x, without /v1/chat/completions",
        "http://h:1/health | the URL must be http://h:1, without /health: the gateway adds",
        "http://h:1/a/../b | the path of the URL must have letters, digits,",
        "http://h:1/a//b | the path of the URL must have letters, digits,",
        "http://h:1/a;b | the path of the URL must have letters, digits,",
        "http://h:1/%2e%2e | the path of the URL must have letters, digits,",
        "http://h:1,wat=1 | must be URL[,KEY=VALUE]... with the keys flavor, ranks,",
        "http://h:1,ranks | must be URL[,KEY=VALUE]... with the keys",
        "http://h:1,ranks=2,ranks=3 | ranks must not be repeated",
        "http://h:1,ranks=0 | ranks must be 1 to 4096, not '0'",
        "http://h:1,ranks=4097 | ranks must be 1 to 4096, not '4097'",
        "http://h:1,ranks=-1 | ranks must be 1 to 4096, not '-1'",
        "http://h:1,ca=x | ca must be left out without https",
        "http://h:1,insecure=true | insecure must be left out without https",
        "https://h:1,insecure=yes | insecure must be one of false, true, not 'yes'",
        "https://h:1,insecure=true,ca=x | only one of ca and insecure must be given",
        "https://h:1,ca=/no/such/file | ca '/no/such/file' cannot be read",
        "https://h:1,ca=/dev/null | ca '/dev/null' has no certificates",
        "https://h:1,renderer=http://r:1,renderer_ca=x | renderer_ca must be left out without",
        "http://h:1,renderer=https://r:1,renderer_ca=/no/such | renderer_ca '/no/such' cannot be",
        "https://h:1,renderer_insecure=true | renderer must be given with renderer_insecure",
        "http://h:1,weight=0 | weight must be above 0 and at most 1, not '0'",
        "http://h:1,weight=1.01 | weight must be above 0 and at most 1, not '1.01'",
        "http://h:1,weight=NaN | weight must be above 0 and at most 1, not 'NaN'",
        "http://h:1,flavor=VLLM | flavor must be one of vllm, sglang, trtllm, not 'VLLM'",
        "http://h:1,lb=none | lb must be one of internal, hybrid, external, not 'none'",
        "http://h:1,lb=external,ranks=2 | ranks must be 1 with lb=external",
        "http://h:1,lb=hybrid,flavor=sglang | lb must be left out with flavor=sglang",
        "http://h:1,renderer=http://r:2,flavor=sglang | renderer must be left out with flavor=sglang",
        "http://h:1,renderer=r:2 | renderer must be http://host:port, not 'r:2'",
        "http://h:1,rank_offset=4000,ranks=97 | rank_offset and ranks together must be at most",
        "http://h:1,role=encode | role must be one of both, prefill, decode, not 'encode'",
        "http://h:1,disagg=nixl | disagg needs role=prefill or role=decode",
        "http://h:1,role=prefill,disagg=bootstrap | disagg=bootstrap does not fit flavor=vllm, which has nixl, nixl_push, mooncake",
        "http://h:1,role=prefill,disagg=MoRI-IO | disagg=MoRI-IO is not supported; supported are nixl, nixl_push, mooncake, bootstrap, trtllm",
        "http://h:1,role=decode,disagg=p2pnccl | disagg=p2pnccl is not supported; supported are",
        "http://h:1,role=decode,disagg=nixxl | disagg must be one of nixl, nixl_push, mooncake, bootstrap, trtllm, not 'nixxl'",
        "http://h:1,role=prefill,bootstrap_port=9 | bootstrap_port needs role=prefill and disagg=mooncake or disagg=bootstrap",
        "http://h:1,role=decode,disagg=mooncake,bootstrap=h:9 | bootstrap needs role=prefill and",
        "http://h:1,role=prefill,tp_size=2 | tp_size needs role=prefill and disagg=nixl_push",
        "http://h:1,role=prefill,disagg=mooncake,bootstrap=h:9,bootstrap_port=9 | only one of bootstrap and bootstrap_port",
        "http://h:1,role=prefill,disagg=mooncake,bootstrap=http://h:9 | bootstrap must be HOST or HOST:PORT",
        "http://h:1,role=prefill,disagg=mooncake,bootstrap=h:0 | bootstrap: the port must be 1 to 65535, not 0",
        "http://h:1,ranks=2,role=prefill,disagg=nixl_push,engine_id=e | engine_id must have {r} where the rank's number is",
        "http://h:1,role=prefill,disagg=nixl_push,engine_id=e | engine_id must have {r} where the rank's number is",
        "http://h:1,role=prefill,disagg=nixl_push | engine_id must be given with role=prefill and disagg=nixl_push",
        "http://h:1,role=prefill,disagg=nixl_push,engine_id=e{r},tp_size=0 | tp_size must be 1 to 1024, not '0'",
        "http://h:1,block_size=0 | block_size must be 1 to 1048576, not '0'",
        "http://h:1,bind=yes | bind must be one of false, true, not 'yes'",
        "http://h:1,topic=kv | replay, topic, bind and ranks_per_node need events",
        "http://h:1,replay=tcp://e:1 | replay, topic, bind and ranks_per_node need events",
        "http://h:1,events=ipc:///x | events must begin with tcp://, the only transport",
        "http://h:1,events=tcp://e | events must be tcp://HOST:PORT",
        "http://h:1,events=tcp://e: | events must be tcp://HOST:PORT",
        "http://h:1,events=tcp://:1 | events must be tcp://HOST:PORT",
        "http://h:1,events=tcp://e:x | events must be tcp://HOST:PORT",
        "http://h:1,events=tcp://e:{5557+q} | events must be tcp://HOST:PORT",
        "http://h:1,events=tcp://e:1/x | events must be tcp://HOST:PORT",
        "http://h:1,events=tcp://e:0 | events of rank 0: the port must be 1 to 65535, not 0",
        "http://h:1,ranks=3,events=tcp://e:65534 | events of rank 2: the port must be 1 to 65535",
        "http://h:1,events=tcp://*:5557 | names no host to connect to; it needs bind=true",
        "http://h:1,events=tcp://0.0.0.0:5557 | names no host to connect to; it needs bind=true",
        "http://h:1,events=tcp://e:1,replay=tcp://*:5 | names no host to connect to",
        "http://h:1,ranks=4,events=tcp://e:5557,replay=tcp://e:5559 | replay of rank 0: 'tcp://e:5559' is that of events of rank 2 too",
        "http://h:1,ranks=4,events=tcp://e:5557,replay=tcp://E:5555 | replay of rank 2: 'tcp://E:5557' is that of events of rank 0 too",
        "http://h:1,ranks=2,events=tcp://e-{n}:1,ranks_per_node=2 | events of rank 1: 'tcp://e-0:1' is that of events of rank 0 too",
        "http://h:1,events=tcp://a:1,events=tcp://a:1 | events of rank 1: 'tcp://a:1' is that of",
        "http://h:1,ranks=3,events=tcp://a:1,events=tcp://b:1 | events must have an endpoint for each of the 3 ranks, not 2",
        "http://h:1,events=tcp://a:1,events=tcp://b:{r} | events must be one pattern or a list of",
        "http://h:1,forward_pass_metrics=tcp://e:0 | forward_pass_metrics of rank 0: the port must be 1 to 65535, not 0",
        "http://h:1,forward_pass_metrics=e:1 | forward_pass_metrics must begin with tcp://, the only",
        "http://h:1,forward_pass_metrics=tcp://*:1 | forward_pass_metrics of rank 0: 'tcp://*:1' names no host to connect to",
        "http://h:1,forward_pass_metrics=tcp://e-{n}:1 | forward_pass_metrics has {n} or {l}, which need",
        "http://h:1,ranks=3,forward_pass_metrics=tcp://a:1,forward_pass_metrics=tcp://b:1 | forward_pass_metrics must have an endpoint for each of the 3 ranks, not 2",
        "http://h:1,events=tcp://node-{n}:{5557+r} | events has {n} or {l}, which need ranks_per_node",
      })
  void whatIsWrongIsNamed(String text, String message) {
    assertThatThrownBy(() -> WorkerSpec.parse(text))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(message);
  }

  @Test
  void stepsHaveABasePortOrAListOfEndpoints() {
    assertThat(WorkerSpec.parse("http://h:1").forwardPasses(2, 0)).isEmpty();
    assertThat(
            WorkerSpec.parse("http://h:1,forward_pass_metrics=tcp://e:20380").forwardPasses(2, 6))
        .containsExactly("tcp://e:20386", "tcp://e:20387");
    WorkerSpec listed =
        WorkerSpec.parse(
            "http://h:1,forward_pass_metrics=tcp://a:1,forward_pass_metrics=tcp://b:1");
    assertThat(listed.ranks()).isEqualTo(2);
    assertThat(listed.forwardPasses(2, 0)).containsExactly("tcp://a:1", "tcp://b:1");
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 7, 64})
  void aTensorRtLlmWorkerCanHaveRanks(int ranks) {
    WorkerSpec spec = WorkerSpec.parse("http://h:1,flavor=trtllm,ranks=" + ranks);
    assertThat(WorkerProfile.of(spec, WorkerFacts.NONE).ranks()).isEqualTo(ranks);
  }

  @Test
  void randomPatternsGiveWhatASlowReplacementGives() {
    long seed = Long.getLong("kvasir.test.seed", 46);
    for (int i = 0; i < 2_000; i++) {
      Random random = new Random(seed + i);
      int perNode = 1 + random.nextInt(5);
      int ranks = 1 + random.nextInt(12);
      int offset = random.nextInt(20);
      int base = 1_000 + random.nextInt(5_000);
      String host = new String[] {"h", "h-{n}", "h{3+n}.x", "{l}-{n}"}[random.nextInt(4)];
      String port = new String[] {"" + base, "{" + base + "+r}", base + "{r}"}[random.nextInt(3)];
      String pattern = "tcp://" + host + ":" + port;
      boolean plain = !pattern.contains("{");
      String expected =
          IntStream.range(offset, offset + ranks)
              .mapToObj(
                  rank ->
                      plain
                          ? "tcp://" + host + ":" + (base + rank)
                          : pattern
                              .replace("{n}", "" + rank / perNode)
                              .replace("{3+n}", "" + (3 + rank / perNode))
                              .replace("{l}", "" + rank % perNode)
                              .replace("{" + base + "+r}", "" + (base + rank))
                              .replace("{r}", "" + rank))
              .collect(Collectors.joining(" "));
      String text =
          "http://h:1,ranks=%d,rank_offset=%d,ranks_per_node=%d,events=%s"
              .formatted(ranks, offset, perNode, pattern);
      String got;
      try {
        got = String.join(" ", endpoints(text).live());
      } catch (IllegalArgumentException e) {
        boolean repeats =
            IntStream.range(0, ranks).mapToObj(r -> expected.split(" ", -1)[r]).distinct().count()
                < ranks;
        boolean tooHigh = expected.matches(".*:\\d{6,}( .*)?|.*:6[6-9]\\d{3}( .*)?");
        assertThat(repeats || tooHigh).as("-Dkvasir.test.seed=%d: %s: %s", seed, text, e).isTrue();
        continue;
      }
      assertThat(got).as("-Dkvasir.test.seed=%d: %s", seed, text).isEqualTo(expected);
    }
  }

  @Test
  void randomTextsAreReadOrRefused() {
    long seed = Long.getLong("kvasir.test.seed", 47);
    String[] parts = {
      "http://h:1",
      ",",
      "events=",
      "replay=",
      "tcp://",
      "e",
      ":",
      "5557",
      "{",
      "5557+",
      "r",
      "n",
      "}",
      "*",
      "ranks=",
      "4",
      "ranks_per_node=",
      "bind=true",
      "topic=",
      "=",
      "é",
      "\u0000",
      "65535",
      "rank_offset=",
      "lb=hybrid",
      "block_size=",
      "[::1]",
      "99999999999"
    };
    for (int i = 0; i < 20_000; i++) {
      Random random = new Random(seed + i);
      StringBuilder text = new StringBuilder("http://h:1,");
      for (int j = random.nextInt(14); j > 0; j--) {
        text.append(parts[random.nextInt(parts.length)]);
      }
      try {
        WorkerSpec spec = WorkerSpec.parse(text.toString());
        assertThat(WorkerProfile.of(spec, WorkerFacts.NONE).problems()).isEmpty();
      } catch (IllegalArgumentException e) {
        assertThat(e).as("-Dkvasir.test.seed=%d: %s", seed, text).hasMessageMatching("(?s).{10,}");
        assertThat(e).isNotInstanceOf(NumberFormatException.class);
      }
    }
  }
}
