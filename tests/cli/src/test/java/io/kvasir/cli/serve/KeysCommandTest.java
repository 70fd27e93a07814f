package io.kvasir.cli.serve;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.cli.Outcome;
import java.io.IOException;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** API keys that {@code kvasir keys} makes, and a gateway that accepts them. */
@Tag("process")
class KeysCommandTest {

  private static final String ASK = "{\"model\":\"kvasir\",\"prompt\":\"Hello\",\"max_tokens\":2}";

  @TempDir private Path folder;

  private Outcome keys(String words) {
    return Outcome.of(Map.of(), "keys " + words + " --file " + folder.resolve("keys.jsonl"));
  }

  private String add(String words) {
    Outcome added = keys("add " + words);
    assertThat(added.exitCode()).as(added.err()).isZero();
    return added.out().strip();
  }

  @Test
  void keysAreAddedListedAndRevoked() throws IOException {
    String key =
        add(
            "--name alice --tenant team --models m,n --requests-per-minute 60"
                + " --tokens-per-minute 90000 --max-concurrent 4 --priority -1 --cache-salt true");
    assertThat(key).matches("kv-[a-z0-9]{12}-[A-Za-z0-9_-]{43}");
    String id = key.substring(3, 15);
    String text = Files.readString(folder.resolve("keys.jsonl"));
    assertThat(text).contains(id).doesNotContain(key.substring(16));
    Outcome second = keys("add --name bob --tenant team --format json");
    assertThat(second.json().path("key").asText()).startsWith("kv-");
    assertThat(second.json().path("cache_salt").asBoolean()).as("as alice of the team").isTrue();

    Outcome listed = keys("list");
    assertThat(listed.out()).contains(id, "alice", "bob", "team", "90000", "m,n");
    assertThat(listed.out()).doesNotContain(key.substring(16));
    assertThat(keys("list --format json").json()).hasSize(2);

    Outcome again = keys("add --name alice");
    assertThat(again.exitCode()).isEqualTo(1);
    assertThat(again.err()).contains("has a key of alice already");
    assertThat(keys("revoke " + id).exitCode()).isZero();
    assertThat(keys("revoke " + id).exitCode()).isEqualTo(1);
    assertThat(keys("revoke bob").exitCode()).isZero();
    assertThat(keys("list --format json").json()).isEmpty();
  }

  private static int ask(ServingProcess gateway, String key) throws Exception {
    return ServingProcess.post(
            gateway.url() + "/v1/completions", ASK, "authorization", "Bearer " + key)
        .statusCode();
  }

  @Test
  void aGatewayServesKeysAndReadsThemAgainAtAHangUp() throws Exception {
    ServingProcess.requireHangUps();
    String first = add("--name alice --requests-per-minute 3");
    try (ServingProcess gateway =
        ServingProcess.embedded(
            "--api-keys-file",
            folder.resolve("keys.jsonl").toString(),
            "--access-log",
            "-",
            "--startup-probe",
            "--verbose")) {
      assertThat(gateway.output()).contains("API keys     1 key of 1 tenant in ");
      assertThat(ask(gateway, first)).isEqualTo(200);
      String second = add("--name bob");
      assertThat(ask(gateway, second)).isEqualTo(401);
      gateway.hangUp();
      gateway.await("the key", () -> gateway.output().contains("1 API key comes, 0 go, 1 stays"));
      assertThat(ask(gateway, second)).isEqualTo(200);

      Files.writeString(folder.resolve("keys.jsonl"), first + "\n");
      gateway.hangUp();
      gateway.await("an error", () -> gateway.output().contains("the API keys stay as they are: "));
      assertThat(ask(gateway, second)).isEqualTo(200);
      assertThat(ask(gateway, first)).isEqualTo(200);
      assertThat(ask(gateway, first)).isEqualTo(200);
      HttpResponse<String> limited =
          ServingProcess.post(gateway.url() + "/v1/completions", ASK, "x-api-key", first);
      assertThat(limited.statusCode()).isEqualTo(429);
      assertThat(limited.headers().firstValue("x-ratelimit-remaining-requests")).contains("0");
      gateway.await(
          "the startup probe", () -> gateway.output().contains("kvasir: model kvasir, responses:"));
      gateway.await("a log line", () -> gateway.output().contains("\"key\":\"alice\""));
      String all =
          gateway.output()
              + ServingProcess.get(gateway.metricsUrl()).body()
              + limited.body()
              + limited.headers();
      assertThat(all)
          .doesNotContain("not served")
          .doesNotContain(first.substring(16))
          .doesNotContain(second.substring(16));
    }
  }

  /** A wrong key file keeps the workers too; a wrong file of workers does not hold up keys. */
  @Test
  void aHangUpWithAWrongFileSaysWhatStays() throws Exception {
    ServingProcess.requireHangUps();
    Path file = folder.resolve("keys.jsonl");
    Path config = folder.resolve("serve.yaml");
    String first = add("--name alice");
    String good = Files.readString(file);
    try (ServingProcess engine = ServingProcess.engine()) {
      String worker = "worker: [" + engine.url() + "]\n";
      Files.writeString(config, worker);
      try (ServingProcess gateway =
          ServingProcess.gateway(
              List.of(), "--config", config.toString(), "--api-keys-file", file.toString())) {
        Files.writeString(file, "wrong\n");
        gateway.hangUp();
        gateway.await("keys", () -> gateway.output().contains("the API keys stay as they are: "));
        assertThat(gateway.output())
            .contains("the workers stay as they are: --api-keys-file is wrong");
        assertThat(ask(gateway, first)).isEqualTo(200);

        Files.writeString(file, good);
        String second = add("--name bob");
        Files.writeString(config, "worker: [nonsense]\n");
        gateway.hangUp();
        gateway.await("a key", () -> gateway.output().contains("1 API key comes"));
        assertThat(ask(gateway, second)).isEqualTo(200);
      }
    }
  }
}
