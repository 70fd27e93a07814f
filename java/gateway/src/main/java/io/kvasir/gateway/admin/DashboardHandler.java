package io.kvasir.gateway.admin;

import io.kvasir.exchange.Exchange;
import io.kvasir.exchange.Headers;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.Map;
import java.util.Objects;

/**
 * Serves the page that shows what the JSON of the admin port says: {@code GET /kvasir/dashboard}.
 * Its parts are resources, and a browser that shows it asks nothing but this port.
 *
 * <p>Immutable and thread-safe.
 */
final class DashboardHandler {

  private static final String PATH = "/kvasir/dashboard";
  private static final String SCRIPT = "text/javascript; charset=utf-8";

  /** No inline scripts and styles, no other hosts, no frames. */
  private static final String POLICY =
      "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:;"
          + " base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

  private final Map<String, Part> parts =
      Map.of(
          PATH,
          new Part("dashboard.html", "text/html; charset=utf-8"),
          PATH + "/style.css",
          new Part("style.css", "text/css; charset=utf-8"),
          PATH + "/charts.js",
          new Part("charts.js", SCRIPT),
          PATH + "/main.js",
          new Part("main.js", SCRIPT),
          PATH + "/model.js",
          new Part("model.js", SCRIPT),
          PATH + "/view.js",
          new Part("view.js", SCRIPT));

  /** A file of the page. */
  private static final class Part {

    private final byte[] bytes;
    private final String type;

    Part(String name, String type) {
      this.bytes = read(name);
      this.type = type;
    }

    private static byte[] read(String name) {
      try (InputStream in = DashboardHandler.class.getResourceAsStream("dashboard/" + name)) {
        return Objects.requireNonNull(in, name).readAllBytes();
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }

  /** Whether a path belongs to the page. */
  boolean serves(String path) {
    return parts.containsKey(path);
  }

  /** Answers {@code GET} or {@code HEAD} of such a path. */
  void accept(Exchange exchange, String path) {
    Part part = Objects.requireNonNull(parts.get(path), path);
    exchange.head(
        200,
        new Headers()
            .add("content-type", part.type)
            .add("content-length", Integer.toString(part.bytes.length))
            .add("cache-control", "no-cache")
            .add("content-security-policy", POLICY)
            .add("cross-origin-resource-policy", "same-origin")
            .add("referrer-policy", "no-referrer")
            .add("x-content-type-options", "nosniff")
            .add("x-frame-options", "DENY"));
    if (!exchange.method().equals("HEAD")) {
      exchange.write(Unpooled.wrappedBuffer(part.bytes));
    }
    exchange.end();
  }
}
