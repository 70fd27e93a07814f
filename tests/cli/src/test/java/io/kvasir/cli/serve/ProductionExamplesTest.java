package io.kvasir.cli.serve;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.kvasir.cli.Outcome;
import io.kvasir.testing.harness.ChildProcess;
import io.kvasir.testing.harness.ReservedPort;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The files of examples/production, which docs/production.md describes, work with this gateway. The
 * programs that read them are asked where they are installed.
 */
@Tag("process")
class ProductionExamplesTest {

  private static final Path ROOT = Path.of(System.getProperty("kvasir.root", "../.."));
  private static final Path EXAMPLES = ROOT.resolve("examples/production");
  private static final Pattern METRIC = Pattern.compile("\\bkvasir_[a-z0-9_]+");
  private static final Pattern EXPRESSION = Pattern.compile("\"expr\": \"((?:[^\"\\\\]|\\\\.)*)\"");

  @TempDir private Path folder;

  private static Set<String> metrics(String text) {
    return METRIC
        .matcher(text)
        .results()
        .map(MatchResult::group)
        .map(name -> name.replaceFirst("_(bucket|count|sum)$", ""))
        .collect(Collectors.toSet());
  }

  @Test
  void alertsAndDashboardsReadMetricsThatExist() throws IOException {
    Set<String> documented = metrics(Files.readString(ROOT.resolve("docs/gateway-reference.md")));
    for (String name : List.of("alerts.yaml", "grafana.json")) {
      assertThat(metrics(Files.readString(EXAMPLES.resolve(name))))
          .as(name)
          .hasSizeGreaterThan(10)
          .isSubsetOf(documented);
    }
  }

  @Test
  void prometheusTakesTheRulesAndTheQueriesOfTheDashboard() throws IOException {
    requireInstalled("promtool", "--version");
    String alerts = EXAMPLES.resolve("alerts.yaml").toString();
    check("promtool", "check", "rules", alerts);
    check("promtool", "check", "config", EXAMPLES.resolve("prometheus.yaml").toString());
    StringBuilder rules = new StringBuilder("groups:\n- name: dashboard\n  rules:\n");
    Matcher query = EXPRESSION.matcher(Files.readString(EXAMPLES.resolve("grafana.json")));
    for (int i = 0; query.find(); i++) {
      String known = query.group(1).replace("$__rate_interval", "5m").replace("$model", ".*");
      rules.append("  - {record: \"panel:").append(i).append("\", expr: \"");
      rules.append(known).append("\"}\n");
    }
    Path queries = Files.writeString(folder.resolve("queries.yaml"), rules);
    assertThat(check("promtool", "check", "rules", queries.toString())).contains("19 rules found");
  }

  @Test
  void systemdTakesTheUnit() throws IOException {
    requireInstalled("systemd-analyze", "--version");
    String unit = Files.readString(EXAMPLES.resolve("kvasir.service"));
    Path local = folder.resolve("kvasir.service");
    Files.writeString(local, unit.replace("/usr/bin/kvasir", "/bin/sh"));
    assertThat(check("systemd-analyze", "verify", local.toString())).doesNotContain("kvasir");
    assertThat(unit).contains("TimeoutStopSec=135");
    assertThat(Files.readString(EXAMPLES.resolve("serve.yaml")))
        .contains("drain_grace_seconds: 5", "drain_seconds: 120");
  }

  @Test
  void theSettingsServeBehindNginx() throws Exception {
    Path keys = folder.resolve("keys");
    String key = Outcome.of(Map.of(), "keys add --name a --file " + keys).out().strip();
    Path adminKey = Files.writeString(folder.resolve("admin.key"), "operators-only\n");
    try (ServingProcess engine = ServingProcess.engine("--ranks", "2", "--speed", "0.2");
        ServingProcess gateway =
            ServingProcess.gateway(
                List.of(engine.url()),
                "--config",
                EXAMPLES.resolve("serve.yaml").toString(),
                "--api-keys-file",
                keys.toString(),
                "--admin-key-file",
                adminKey.toString(),
                "--admin-host",
                "127.0.0.1")) {
      assertThat(ServingProcess.post(gateway.url() + "/v1/completions", "{}").statusCode())
          .isEqualTo(401);
      streamsThroughNginx(gateway, key);
    }
  }

  /** Events of a stream pass nginx before the stream is over. */
  private void streamsThroughNginx(ServingProcess gateway, String key) throws Exception {
    requireInstalled("nginx", "-v");
    requireInstalled("curl", "--version");
    requireInstalled("openssl", "version");
    String certificate = folder.resolve("cert.pem").toString();
    String privateKey = folder.resolve("key.pem").toString();
    List<String> openssl = new ArrayList<>(List.of("openssl", "req", "-x509", "-nodes"));
    openssl.addAll(List.of("-newkey", "rsa:2048", "-days", "2", "-subj", "/CN=localhost"));
    openssl.addAll(List.of("-keyout", privateKey, "-out", certificate));
    check(openssl.toArray(String[]::new));
    try (ReservedPort port = new ReservedPort()) {
      String site =
          Files.readString(EXAMPLES.resolve("nginx.conf"))
              .replace("127.0.0.1:8080", URI.create(gateway.url()).getAuthority())
              .replace("listen 443", "listen 127.0.0.1:" + port.number())
              .replace("/etc/nginx/tls/cert.pem", certificate)
              .replace("/etc/nginx/tls/key.pem", privateKey);
      String all =
          "daemon off; error_log stderr; pid nginx.pid; events {}\nhttp { access_log off;\n"
              + "client_body_temp_path body; proxy_temp_path proxied; fastcgi_temp_path fastcgi;\n"
              + "scgi_temp_path scgi; uwsgi_temp_path uwsgi;\n"
              + site
              + "}\n";
      Path file = Files.writeString(folder.resolve("nginx.conf"), all);
      List<String> nginx = List.of("nginx", "-p", folder.toString(), "-c", file.toString());
      try (ChildProcess front =
              ChildProcess.start("nginx", new ProcessBuilder(nginx).redirectErrorStream(true));
          ChildProcess client = stream(port.number(), key)) {
        client.await("an event", () -> client.output().contains("data: "));
        assertThat(client.output()).as("%s", front.output()).doesNotContain("[DONE]");
        assertThat(client.exitCode()).isZero();
        assertThat(client.output()).contains("data: [DONE]");
      }
    }
  }

  private static ChildProcess stream(int port, String key) throws IOException {
    List<String> curl = new ArrayList<>(List.of("curl", "-sSkN", "--noproxy", "*"));
    curl.addAll(List.of("--retry", "20", "--retry-connrefused", "--retry-delay", "1"));
    curl.addAll(List.of("-H", "authorization: Bearer " + key));
    curl.addAll(List.of("-H", "content-type: application/json", "-d"));
    curl.add("{\"model\":\"kvasir\",\"prompt\":\"Hello\",\"max_tokens\":100,\"stream\":true}");
    curl.add("https://127.0.0.1:" + port + "/v1/completions");
    return ChildProcess.start("curl", new ProcessBuilder(curl).redirectErrorStream(true));
  }

  private static void requireInstalled(String... command) {
    try {
      Tools.Result unused = Tools.run(Path.of("."), Map.of(), command);
    } catch (IOException e) {
      assumeTrue(false, command[0] + " is not installed");
    }
  }

  private static String check(String... command) throws IOException {
    Tools.Result result = Tools.run(Path.of("."), Map.of(), command);
    assertThat(result.exitCode()).as(result.output()).isZero();
    return result.output();
  }
}
