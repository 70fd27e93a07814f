package io.kvasir.gateway.worker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Descriptions of workers that DNS lists. */
class DnsWorkersTest {

  private static DnsWorkers of(String text) {
    return DnsWorkers.parse(text, null);
  }

  @Test
  void eachEngineHasTheKeysWithItsHost() {
    DnsWorkers workers =
        of("dns+http://vllm.llm.svc:8000/team,ranks=2,events=tcp://{host}:5557,weight=0.5");
    assertThat(workers.services()).isFalse();
    assertThat(workers.at("10.0.0.7", 8000))
        .isEqualTo(
            WorkerSpec.parse(
                "http://10.0.0.7:8000/team,ranks=2,events=tcp://10.0.0.7:5557,weight=0.5"));
    assertThat(workers.at("fd00::7", 8000).name()).isEqualTo("[fd00::7]:8000/team");
    assertThat(workers).hasToString("dns+http://vllm.llm.svc:8000");
  }

  @Test
  void recordsOfServicesHaveThePorts() {
    DnsWorkers workers = of("dnssrv+https://_http._tcp.vllm.llm.svc");
    assertThat(workers.services()).isTrue();
    assertThat(workers.at("vllm-0.vllm.llm.svc", 9000).url())
        .hasToString("https://vllm-0.vllm.llm.svc:9000");
  }

  @Test
  void anOptionCanStateTheRole() {
    assertThat(DnsWorkers.parse("dns+http://p:80", WorkerRole.PREFILL).example().disagg().role())
        .isEqualTo(WorkerRole.PREFILL);
    assertThat(of("dns+http://p").example().url().getPort()).isEqualTo(80);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "dns+http://          | must be dns+http://name:port or dnssrv+http://name",
        "dns+ftp://a:1        | must be dns+http://name:port",
        "dns+http://u:p@a:1   | must be dns+http://name:port",
        "dns+http://[::1]:1   | must be dns+http://name:port",
        "dns+http://a:0       | the port must be 1 to 65535, not 0",
        "dns+http://a:65536   | the port must be 1 to 65535, not 65536",
        "dns+https://a:1      | must be dns+http://: certificates name no addresses",
        "dnssrv+http://a:1    | must have no port with dnssrv+",
        "dns+http://a:1,wight=1 | unknown at",
        "dns+http://a:1/v1    | without /v1: the gateway adds the paths",
        "dns+http://a:1,events=tcp://a:5557 | events must have {host}",
        "dns+http://a:1,events=tcp://{host}:5557,bind=true | bind must be left out",
        "dns+http://a:1,ranks=0 | ranks must be 1 to 4096, not '0'",
      })
  void whatIsWrongIsNamed(String text, String why) {
    assertThatThrownBy(() -> of(text))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(why)
        .hasMessageNotContaining("u:p");
  }

  @Test
  void otherDescriptionsAreOfOneWorker() {
    assertThat(DnsWorkers.isMeant("http://dns+a:1")).isFalse();
    assertThat(DnsWorkers.isMeant("dns+http://a:1")).isTrue();
    assertThat(DnsWorkers.isMeant("dnssrv+http://a")).isTrue();
  }
}
