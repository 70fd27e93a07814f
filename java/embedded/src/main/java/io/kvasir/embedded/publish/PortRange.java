package io.kvasir.embedded.publish;

import java.io.IOException;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import org.zeromq.ZMQ;
import org.zeromq.ZMQException;

/** Binds sockets to ports in a row. Stateless. */
final class PortRange {

  private static final int ATTEMPTS = 100;
  private static final int FIRST = 20_000;
  private static final int END = 32_000; // below the ports of outgoing connections

  private PortRange() {}

  /**
   * Binds each socket to the port behind the one before it.
   *
   * @param port the first port; 0 to search for free ones
   * @return the first port
   * @throws IOException if a port is in use, or no free ones are found; sockets may be bound
   */
  static int bind(List<ZMQ.Socket> sockets, String host, int port) throws IOException {
    if (port > 0) {
      int free = tryBind(sockets, host, port);
      if (free < sockets.size()) {
        throw new IOException("Port " + (port + free) + " of " + host + " cannot be opened");
      }
      return port;
    }
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
      int first = ThreadLocalRandom.current().nextInt(FIRST, END - sockets.size());
      int bound = tryBind(sockets, host, first);
      if (bound == sockets.size()) {
        return first;
      }
      for (int i = 0; i < bound; i++) {
        sockets.get(i).unbind(endpoint(host, first + i));
      }
    }
    throw new IOException("There are no " + sockets.size() + " free ports in a row");
  }

  /** Binds as many sockets as possible; returns their number. */
  private static int tryBind(List<ZMQ.Socket> sockets, String host, int first) {
    for (int i = 0; i < sockets.size(); i++) {
      try {
        if (!sockets.get(i).bind(endpoint(host, first + i))) {
          return i;
        }
      } catch (ZMQException e) {
        return i;
      }
    }
    return sockets.size();
  }

  private static String endpoint(String host, int port) {
    return "tcp://" + host + ":" + port;
  }
}
