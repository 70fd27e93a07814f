package io.kvasir.gateway;

import io.kvasir.gateway.worker.DnsWorkers;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.List;

/** Finds the engines behind a name. */
@FunctionalInterface
interface NameLookup {

  /**
   * The hosts and ports of a name, unresolved, each once. Can take as long as DNS does.
   *
   * @throws IOException if there is no answer, or an empty one
   */
  List<InetSocketAddress> find(DnsWorkers workers) throws IOException;
}
