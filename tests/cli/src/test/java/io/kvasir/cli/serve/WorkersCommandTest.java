package io.kvasir.cli.serve;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.cli.Outcome;
import io.kvasir.testing.harness.TestCertificates;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Workers of a running gateway, changed by {@code kvasir workers} and by its file. */
@Tag("process")
class WorkersCommandTest {

  private final List<ServingProcess> open = new ArrayList<>();

  @TempDir private Path folder;

  @AfterEach
  void close() {
    for (int i = open.size() - 1; i >= 0; i--) {
      open.get(i).close();
    }
  }

  private ServingProcess with(ServingProcess process) {
    open.add(process);
    return process;
  }

  private ServingProcess engine() throws IOException {
    return with(ServingProcess.engine("--ranks", "2"));
  }

  private static String id(ServingProcess engine) {
    return URI.create(engine.url()).getAuthority();
  }

  private static Outcome workers(ServingProcess gateway, String words) {
    return Outcome.of(Map.of(), "workers --admin-url " + gateway.adminUrl() + words);
  }

  @Test
  void workersAreListedAddedDrainedAndRemoved() throws Exception {
    Path key = Files.writeString(folder.resolve("admin.key"), "operators-only\n");
    String withKey = " --admin-key-file " + key;
    ServingProcess first = engine();
    ServingProcess second = engine();
    ServingProcess gateway =
        with(ServingProcess.gateway(List.of(first.url()), "--admin-key-file", key.toString()));
    Outcome refused = workers(gateway, " add " + second.url());
    assertThat(refused.exitCode()).isEqualTo(1);
    assertThat(refused.err()).contains("Authorization");

    assertThat(workers(gateway, " add " + second.url() + withKey).exitCode()).isZero();
    assertThat(workers(gateway, "").out()).contains(id(first), id(second), "serving");
    assertThat(workers(gateway, " drain " + id(first) + withKey).out()).contains("cordoned");
    assertThat(workers(gateway, " uncordon " + id(first) + withKey).out()).contains("serving");
    assertThat(workers(gateway, " weight " + id(first) + " 0.25" + withKey).out()).contains("0.25");
    assertThat(workers(gateway, " weight " + id(first) + " 2" + withKey).exitCode()).isEqualTo(2);
    assertThat(workers(gateway, " weight " + id(first) + withKey).exitCode()).isEqualTo(2);
    assertThat(workers(gateway, " remove " + id(first) + withKey).exitCode()).isZero();
    assertThat(workers(gateway, " --format json").json()).hasSize(1);
    assertThat(ServingProcess.post(gateway.url() + "/v1/completions", ask()).statusCode())
        .isEqualTo(200);

    Outcome unknown = workers(gateway, " cordon x:1" + withKey);
    assertThat(unknown.exitCode()).isEqualTo(1);
    assertThat(unknown.err()).contains("there is no worker 'x:1'");
    assertThat(workers(gateway, " remove").exitCode()).isEqualTo(2);
    Outcome nowhere = Outcome.of(Map.of(), "workers --admin-url http://127.0.0.1:1");
    assertThat(nowhere.exitCode()).isEqualTo(1);
    assertThat(nowhere.err()).contains("no gateway has its admin port at");
  }

  @Test
  void anAdminPortMayAskForACertificate() throws Exception {
    TestCertificates files = new TestCertificates(folder);
    KeyStore server = files.keys("server", "EC");
    KeyStore operator = files.keys("operator", "RSA");
    Path authority = files.certificate("server", server);
    String own = certificate(files, "operator", operator);
    ServingProcess gateway =
        with(
            ServingProcess.embedded(
                "--admin-ssl-certfile",
                authority.toString(),
                "--admin-ssl-keyfile",
                files.key("server", server).toString(),
                "--admin-ssl-ca-certs",
                folder.resolve("operator.crt").toString()));
    String trusting = " --ssl-ca-certs " + authority;
    assertThat(workers(gateway, trusting + own).out()).contains("serving");
    Outcome top =
        Outcome.of(Map.of(), "top --once --admin-url " + gateway.adminUrl() + trusting + own);
    assertThat(top.out()).contains("1 of 1 workers take requests");

    assertThat(workers(gateway, trusting).exitCode()).isEqualTo(1); // shows no certificate
    Outcome untrusted = workers(gateway, own);
    assertThat(untrusted.exitCode()).isEqualTo(1);
    assertThat(untrusted.err()).contains(gateway.adminUrl(), "do not agree on TLS");
    Outcome half = workers(gateway, " --ssl-keyfile " + authority);
    assertThat(half.exitCode()).isEqualTo(2);
    assertThat(half.err()).contains("--ssl-keyfile needs --ssl-certfile too");
    Outcome plain = Outcome.of(Map.of(), "workers" + trusting);
    assertThat(plain.exitCode()).isEqualTo(2);
    assertThat(plain.err()).contains("--ssl-ca-certs needs --admin-url https://HOST:PORT");
  }

  private static String certificate(TestCertificates files, String name, KeyStore keys) {
    return " --ssl-certfile "
        + files.certificate(name, keys)
        + " --ssl-keyfile "
        + files.key(name, keys);
  }

  private static String ask() {
    return "{\"model\":\"kvasir\",\"prompt\":\"Hello\",\"max_tokens\":2}";
  }

  @Test
  void aHangUpReadsTheWorkersOfTheFile() throws Exception {
    ServingProcess.requireHangUps();
    ServingProcess first = engine();
    ServingProcess second = engine();
    Path file = folder.resolve("serve.yaml");
    Files.writeString(file, "worker: [" + first.url() + "]\n");
    ServingProcess gateway = with(ServingProcess.gateway(List.of(), "--config", file.toString()));

    Files.writeString(file, "worker: [" + first.url() + ", " + second.url() + "]\nport: 1\n");
    gateway.hangUp();
    gateway.await("two workers", () -> gateway.metric("kvasir_worker_healthy") == 2);
    assertThat(gateway.output())
        .contains("1 workers come, 0 go, 1 stay")
        .doesNotContain("need a new start");

    Files.writeString(file, "max_attempts: 2\nworker: [nonsense]\n");
    gateway.hangUp();
    gateway.await("an error", () -> gateway.metric("kvasir_config_reload_failures") == 1);
    assertThat(gateway.output()).contains("the workers stay as they are: ");
    assertThat(gateway.metric("kvasir_config_last_reload_successful")).isZero();
    Files.writeString(file, "");
    gateway.hangUp();
    gateway.await("an error", () -> gateway.metric("kvasir_config_reload_failures") == 2);
    assertThat(gateway.output()).contains("the workers stay as they are: the files name no worker");
    assertThat(gateway.metric("kvasir_worker_healthy")).isEqualTo(2);

    Files.writeString(
        file, "slow_start_seconds: 1\nmax_attempts: 2\nworker: [" + second.url() + "]\n");
    gateway.hangUp();
    gateway.await("one worker", () -> gateway.metric("kvasir_worker_healthy") == 1);
    gateway.await("the reload", () -> gateway.metric("kvasir_config_reloads") == 4);
    assertThat(gateway.output())
        .containsPattern("need a new start: --max-attempts, --slow-start-seconds\\R");
    assertThat(gateway.metric("kvasir_config_last_reload_successful")).isEqualTo(1);
    assertThat(ServingProcess.post(gateway.url() + "/v1/completions", ask()).statusCode())
        .isEqualTo(200);
  }

  @Test
  void aHangUpReadsTheWorkersOfAStructuredFile() throws Exception {
    ServingProcess.requireHangUps();
    ServingProcess first = engine();
    ServingProcess second = engine();
    Path file = folder.resolve("serve.yaml");
    String one = "limits:\n  max_attempts: 2\nworkers:\n  - url: " + first.url() + "\n";
    Files.writeString(file, one);
    ServingProcess gateway = with(ServingProcess.gateway(List.of(), "--config", file.toString()));

    Files.writeString(file, one + "  - url: " + second.url() + "\n    weight: 0.5\n");
    gateway.hangUp();
    gateway.await("two workers", () -> gateway.metric("kvasir_worker_healthy") == 2);
    assertThat(gateway.output())
        .contains("1 workers come, 0 go, 1 stay")
        .doesNotContain("need a new start");
    assertThat(workers(gateway, "").out()).contains(id(second), "0.5");

    Files.writeString(file, one + "  - url: " + second.url() + "\n    weight: 5\n");
    gateway.hangUp();
    gateway.await("an error", () -> gateway.metric("kvasir_config_reload_failures") == 1);
    assertThat(gateway.output())
        .contains("the workers stay as they are: " + file + ":5: workers is wrong: weight must be");
    Files.writeString(file, one + "tls:\n  port: 1\n");
    gateway.hangUp();
    gateway.await("an error", () -> gateway.metric("kvasir_config_reload_failures") == 2);
    assertThat(gateway.output())
        .contains("the workers stay as they are: " + file + ":6: key 'port' belongs outside tls");
    assertThat(gateway.metric("kvasir_worker_healthy")).isEqualTo(2);

    String roles = "disagg:\n  prefill: [{url: %s}]\n  decode:\n    - url: %s\n";
    Files.writeString(file, roles.formatted(first.url(), second.url()));
    gateway.hangUp();
    gateway.await("the reload", () -> gateway.metric("kvasir_config_reloads") == 4);
    assertThat(gateway.output()).containsPattern("need a new start: --max-attempts\\R");
    assertThat(workers(gateway, " --format json").out()).contains("prefill", "decode");
  }
}
