package io.kvasir.cli.option;

import io.kvasir.gateway.GatewaySettings;
import java.util.List;
import java.util.Map;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** The options of a gateway, read as {@code kvasir serve} reads them, without a gateway. */
@Command(name = "serve")
@InBlocks
final class ParsedServe {

  @Mixin private ServeOptions options;
  @Mixin private Settings sources;

  static ParsedServe of(Map<String, String> environment, String... args) {
    ParsedServe serve = new ParsedServe();
    new CommandLine(serve).setDefaultValueProvider(new Environment(environment)).parseArgs(args);
    serve.sources.load();
    return serve;
  }

  GatewaySettings settings() {
    return options.settings(sources);
  }

  List<String> unused() {
    return sources.unused();
  }
}
