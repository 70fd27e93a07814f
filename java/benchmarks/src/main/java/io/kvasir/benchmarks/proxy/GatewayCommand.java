package io.kvasir.benchmarks.proxy;

import java.util.List;

/** How the gateway is started. */
@FunctionalInterface
public interface GatewayCommand {

  /**
   * The program and its arguments.
   *
   * @param port the port for clients, on 127.0.0.1
   * @param adminPort the port for operators, on 127.0.0.1
   * @param enginePort the port of the engine, on 127.0.0.1
   * @return the command
   */
  List<String> of(int port, int adminPort, int enginePort);
}
