package io.kvasir.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.exchange.http.TlsFiles;
import io.kvasir.gateway.proxy.ClientLimits;
import io.kvasir.testing.harness.Await;
import io.kvasir.testing.harness.TestCertificates;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.file.Path;
import java.security.KeyStore;
import java.util.ArrayList;
import java.util.List;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Connections that are open and never speak HTTP. */
@Tag("process")
class SilentConnectionsTest {

  private static final int OF_ONE_CLIENT = 5;

  @TempDir private Path folder;

  @Test
  void theyCountFromTheStartAndAreClosed() throws Exception {
    TestCertificates certificates = new TestCertificates(folder);
    KeyStore keys = certificates.keys("server", "EC");
    TlsFiles files =
        new TlsFiles(
            certificates.certificate("server", keys), certificates.key("server", keys), null);
    List<Socket> silent = new ArrayList<>();
    try (ScriptedEngine engine = ScriptedEngine.good();
        TestGateway gateway =
            TestGateway.of(engine)
                .tls(files)
                .clients(new ClientLimits(0.5, 2 * OF_ONE_CLIENT, 60_000, 1))
                .start()) {
      int port = gateway.gateway().port();
      silent.add(new Socket(InetAddress.getLoopbackAddress(), port)); // no TLS either
      while (silent.size() < OF_ONE_CLIENT) {
        silent.add(streams(TestCertificates.context(null, keys), port));
      }
      Await.until(() -> gateway.metric("kvasir_connections") == OF_ONE_CLIENT);
      try (Socket beyond = new Socket(InetAddress.getLoopbackAddress(), port)) {
        assertThat(isClosed(beyond)).isTrue();
      }
      for (Socket each : silent) {
        assertThat(isClosed(each)).isTrue();
      }
      Await.until(() -> gateway.metric("kvasir_connections") == 0);
      try (RawStreams speaking = new RawStreams(TestCertificates.context(null, keys), port)) {
        assertThat(speaking.frame(RawStreams.SETTINGS, 0, 0, new byte[0])).isTrue();
        assertThat(gateway.metric("kvasir_connections")).isOne();
      }
    } finally {
      for (Socket each : silent) {
        each.close();
      }
    }
  }

  /** A connection that has agreed on HTTP/2, without its first frame. */
  private static Socket streams(SSLContext context, int port) throws IOException {
    SSLSocket socket = (SSLSocket) context.getSocketFactory().createSocket("127.0.0.1", port);
    SSLParameters parameters = socket.getSSLParameters();
    parameters.setApplicationProtocols(new String[] {"h2"});
    socket.setSSLParameters(parameters);
    socket.startHandshake();
    assertThat(socket.getApplicationProtocol()).isEqualTo("h2");
    return socket;
  }

  /** Waits for the other end to close the connection, whatever it sends before. */
  private static boolean isClosed(Socket socket) throws IOException {
    socket.setSoTimeout(Math.toIntExact(Await.limitMs()));
    try {
      while (socket.getInputStream().read() >= 0) {
        // a frame of settings, for example
      }
      return true;
    } catch (SocketTimeoutException e) {
      return false;
    } catch (IOException e) {
      return true; // reset
    }
  }
}
