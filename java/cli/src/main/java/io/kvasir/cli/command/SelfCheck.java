package io.kvasir.cli.command;

import io.kvasir.cli.terminal.Console;
import io.kvasir.gateway.Gateway;
import io.kvasir.gateway.openai.JsonText;
import java.io.IOException;
import java.io.InputStream;
import java.net.HttpURLConnection;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.Iterator;

/** Sends a gateway one streamed request over its public port. Stateless. */
final class SelfCheck {

  private static final int TIMEOUT_MS = 30_000;
  private static final int MAX_SHOWN_BYTES = 2_000;

  private SelfCheck() {}

  /** {@return whether the gateway answered} */
  static boolean run(Gateway gateway, Console console) throws IOException {
    Iterator<String> models = gateway.fleets().models().iterator();
    if (!models.hasNext()) {
      console.note("kvasir: no worker is healthy");
      return false;
    }
    String body =
        "{\"model\":"
            + JsonText.quoted(models.next())
            + ",\"messages\":[{\"role\":\"user\",\"content\":\"Hello\"}],"
            + "\"max_tokens\":4,\"stream\":true}";
    HttpURLConnection connection =
        (HttpURLConnection)
            URI.create("http://127.0.0.1:" + gateway.port() + "/v1/chat/completions")
                .toURL()
                .openConnection();
    connection.setConnectTimeout(TIMEOUT_MS);
    connection.setReadTimeout(TIMEOUT_MS);
    connection.setRequestProperty("content-type", "application/json");
    connection.setDoOutput(true);
    connection.getOutputStream().write(body.getBytes(StandardCharsets.UTF_8));
    int status = connection.getResponseCode();
    try (InputStream reply =
        status < 400 ? connection.getInputStream() : connection.getErrorStream()) {
      String text = new String(reply.readAllBytes(), StandardCharsets.UTF_8);
      boolean answered = status == 200 && text.endsWith("data: [DONE]\n\n");
      console.note(
          answered
              ? "kvasir: the check was answered"
              : "kvasir: the check failed with status "
                  + status
                  + ": "
                  + text.substring(0, Math.min(text.length(), MAX_SHOWN_BYTES)));
      return answered;
    }
  }
}
