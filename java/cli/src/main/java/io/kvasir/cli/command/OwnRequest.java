package io.kvasir.cli.command;

import io.kvasir.gateway.Gateway;
import java.io.IOException;
import java.io.InputStream;
import java.net.HttpURLConnection;
import java.net.URI;
import java.nio.charset.StandardCharsets;

/** A request of the command's own to the gateway that it has started. Stateless. */
final class OwnRequest {

  private static final int TIMEOUT_MS = 30_000;

  private OwnRequest() {}

  /**
   * What the gateway answered.
   *
   * @param status the HTTP status
   * @param text the whole body
   */
  record Answer(int status, String text) {}

  /**
   * Posts JSON over the gateway's public port and waits for the whole answer.
   *
   * @param host the host that the gateway listens on
   */
  static Answer send(Gateway gateway, String host, String path, String body) throws IOException {
    HttpURLConnection connection =
        (HttpURLConnection)
            URI.create("http://" + host + ":" + gateway.port() + path).toURL().openConnection();
    connection.setConnectTimeout(TIMEOUT_MS);
    connection.setReadTimeout(TIMEOUT_MS);
    connection.setRequestProperty("content-type", "application/json");
    connection.setDoOutput(true);
    connection.getOutputStream().write(body.getBytes(StandardCharsets.UTF_8));
    int status = connection.getResponseCode();
    try (InputStream reply =
        status < 400 ? connection.getInputStream() : connection.getErrorStream()) {
      byte[] text = reply == null ? new byte[0] : reply.readAllBytes();
      return new Answer(status, new String(text, StandardCharsets.UTF_8));
    }
  }
}
