package io.kvasir.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.gateway.RawClient.Reply;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The page at the admin port: what is served, and that it stays small and closed. */
class DashboardTest {

  private static final String PATH = "/kvasir/dashboard";
  private static final int MAX_BYTES = 80_000;
  private static final Pattern PARTS = Pattern.compile("(?:src|href)=\"(dashboard/[^\"]+)\"");
  private static final Pattern IMPORTS = Pattern.compile("from \"\\./([^\"]+)\"");

  /** The page and all that it loads, by path. */
  private static Map<String, String> parts(TestGateway gateway) {
    Map<String, String> parts = new LinkedHashMap<>();
    add(gateway, PATH, parts);
    return parts;
  }

  private static void add(TestGateway gateway, String path, Map<String, String> parts) {
    if (parts.containsKey(path)) {
      return;
    }
    Reply reply = gateway.admin(path);
    assertThat(reply.status()).as(path).isEqualTo(200);
    String text = reply.text();
    parts.put(path, text);
    PARTS
        .matcher(text)
        .results()
        .forEach(found -> add(gateway, "/kvasir/" + found.group(1), parts));
    IMPORTS
        .matcher(text)
        .results()
        .forEach(found -> add(gateway, PATH + "/" + found.group(1), parts));
  }

  @Test
  void thePageIsSmallAndAsksNobodyElse() {
    try (ScriptedEngine engine = ScriptedEngine.good();
        TestGateway gateway = TestGateway.of(engine).start()) {
      Map<String, String> parts = parts(gateway);
      assertThat(parts).containsKeys(PATH, PATH + "/style.css", PATH + "/main.js");
      int bytes =
          parts.values().stream()
              .mapToInt(text -> text.getBytes(StandardCharsets.UTF_8).length)
              .sum();
      assertThat(bytes).isLessThan(MAX_BYTES);
      parts.forEach(
          (path, text) ->
              assertThat(text.replace("http://www.w3.org/2000/svg", ""))
                  .as(path)
                  .doesNotContain("http:", "https:", "url(", "@import")
                  .doesNotContainPattern("(src|href)=\"//")
                  .doesNotContain("innerHTML", "outerHTML", "insertAdjacentHTML", "eval(")
                  .doesNotContain("document.write", "style=\"")
                  .doesNotContainPattern("<[^>]* on\\w+="));
      assertThat(parts.get(PATH))
          .doesNotContainPattern("<script(?![^>]* src=)")
          .doesNotContain("<style");
    }
  }

  @ParameterizedTest
  @CsvSource({
    "'', text/html",
    "?x=1, text/html",
    "/style.css, text/css",
    "/charts.js, text/javascript",
    "/main.js, text/javascript",
    "/model.js, text/javascript",
    "/view.js, text/javascript"
  })
  void eachPartHasItsTypeAndAStrictPolicy(String part, String type) {
    try (ScriptedEngine engine = ScriptedEngine.good();
        TestGateway gateway = TestGateway.of(engine).start()) {
      Reply reply = gateway.admin(PATH + part);
      assertThat(reply.status()).isEqualTo(200);
      assertThat(reply.field("content-type")).startsWith(type);
      assertThat(reply.field("x-content-type-options")).isEqualTo("nosniff");
      assertThat(reply.field("content-security-policy"))
          .contains("default-src 'none'", "script-src 'self'", "frame-ancestors 'none'")
          .doesNotContain("unsafe", "*", "http");
    }
  }

  @Test
  void otherMethodsPathsAndHostsAreRefused() {
    try (ScriptedEngine engine = ScriptedEngine.good();
        TestGateway gateway = TestGateway.of(engine).start()) {
      assertThat(gateway.admin(PATH + "/../main.js").status()).isEqualTo(404);
      assertThat(gateway.admin(PATH + "/other.js").status()).isEqualTo(404);
      assertThat(gateway.get(PATH).status()).as("the public port").isEqualTo(404);
      try (RawClient client = RawClient.to(gateway.gateway().adminPort())) {
        client.send("POST " + PATH + " HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n");
        assertThat(client.reply().status()).isEqualTo(405);
      }
      try (RawClient client = RawClient.to(gateway.gateway().adminPort())) {
        client.send("GET " + PATH + " HTTP/1.1\r\nHost: elsewhere.example\r\n\r\n");
        assertThat(client.reply().status()).isEqualTo(421);
      }
    }
  }
}
