package io.kvasir.cli.option;

import io.kvasir.gateway.GatewaySettings;
import io.kvasir.gateway.keys.KeyFile;
import io.kvasir.model.Errors;
import java.io.IOException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/** Options of the API keys of a gateway's clients. */
@Heading(value = Heading.GATEWAY, block = Block.KEYS)
final class ServeKeys extends DeclaredOptions {

  private static final String KEYS = "--api-keys-file";
  private static final String FORWARD = "--forward-authorization";

  private final Declared<Path> file =
      option(KEYS, "FILE", null, ServeKeys::checked)
          .help(
              13,
              "Serve only clients with an API key of this file, which 'kvasir keys' writes (default:"
                  + " every client).");

  private final Declared<Boolean> forward =
      flag(FORWARD, "false")
          .candidates(Choices.Booleans.class)
          .help(
              13,
              "With --api-keys-file: whether engines receive the fields in which clients present"
                  + " their keys");

  /** The keys; null if no client needs one. */
  GatewaySettings.@Nullable Keys keys() {
    if (file.isGiven()) {
      return new GatewaySettings.Keys(file.value(), forward.value());
    }
    if (forward.value()) {
      throw new UsageException(FORWARD, "needs " + KEYS);
    }
    return null;
  }

  private static Path checked(String text) {
    Path path = Values.path(KEYS, text);
    try {
      KeyFile.read(path);
      return path;
    } catch (IOException | IllegalArgumentException e) {
      throw new UsageException(KEYS, "is wrong: " + Errors.reason(e));
    }
  }
}
