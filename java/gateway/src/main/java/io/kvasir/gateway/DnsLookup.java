package io.kvasir.gateway;

import io.kvasir.gateway.worker.DnsWorkers;
import io.kvasir.model.Errors;
import java.io.IOException;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import java.util.stream.Stream;
import javax.naming.Context;
import javax.naming.NamingException;
import javax.naming.directory.Attribute;
import javax.naming.directory.DirContext;
import javax.naming.directory.InitialDirContext;
import org.jspecify.annotations.Nullable;

/**
 * Asks DNS: for addresses as all programs of the machine do, its files and search domains included;
 * for SRV records the servers of the machine. Of a name with addresses of both families, only those
 * of IPv4 count, so that an engine with two addresses is one worker.
 */
final class DnsLookup implements NameLookup {

  /** The servers of the machine. */
  static final String OF_THE_MACHINE = "dns:";

  private static final String SRV = "SRV";

  private final String servers;

  /**
   * Prepares to ask.
   *
   * @param servers the servers for SRV records, {@code dns://HOST:PORT}, or {@link #OF_THE_MACHINE}
   */
  DnsLookup(String servers) {
    this.servers = servers;
  }

  @Override
  public List<InetSocketAddress> find(DnsWorkers workers) throws IOException {
    return workers.services() ? services(workers.name()) : addresses(workers);
  }

  private static List<InetSocketAddress> addresses(DnsWorkers workers) throws IOException {
    List<InetAddress> all = List.of(InetAddress.getAllByName(workers.name()));
    boolean hasFour = all.stream().anyMatch(Inet4Address.class::isInstance);
    return all.stream()
        .filter(each -> !hasFour || each instanceof Inet4Address)
        .map(InetAddress::getHostAddress)
        .distinct()
        .map(host -> InetSocketAddress.createUnresolved(host, workers.port()))
        .toList();
  }

  /** Of the records with the lowest priority, as RFC 2782 has it; weights do not count. */
  private List<InetSocketAddress> services(String name) throws IOException {
    List<String[]> records = new ArrayList<>();
    try {
      Attribute attribute = ask(name);
      for (int i = 0; attribute != null && i < attribute.size(); i++) {
        String[] fields = attribute.get(i).toString().split(" ", -1); // priority weight port host
        if (fields.length != 4) {
          throw new IOException("an SRV record of " + name + " has not four fields");
        }
        records.add(fields);
      }
    } catch (NamingException e) {
      throw new IOException("the SRV records of " + name + ": " + Errors.reason(e), e);
    }
    int lowest = records.stream().mapToInt(each -> Integer.parseInt(each[0])).min().orElse(0);
    Stream<InetSocketAddress> first =
        records.stream()
            .filter(each -> Integer.parseInt(each[0]) == lowest)
            .map(
                each ->
                    InetSocketAddress.createUnresolved(
                        each[3].replaceFirst("\\.$", ""), Integer.parseInt(each[2])));
    List<InetSocketAddress> found = first.distinct().toList();
    if (found.isEmpty()) {
      throw new IOException(name + " has no SRV records");
    }
    return found;
  }

  /** The records of a name; null for none. They are text: no object is looked up or read. */
  @SuppressWarnings("BanJNDI")
  private @Nullable Attribute ask(String name) throws NamingException {
    Properties environment = new Properties();
    environment.setProperty(Context.INITIAL_CONTEXT_FACTORY, "com.sun.jndi.dns.DnsContextFactory");
    environment.setProperty(Context.PROVIDER_URL, servers);
    DirContext context = new InitialDirContext(environment);
    try {
      return context.getAttributes(name, new String[] {SRV}).get(SRV);
    } finally {
      context.close();
    }
  }
}
