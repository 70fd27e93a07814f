package io.kvasir.embedded.publish;

import io.kvasir.timing.ForwardPass;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.zeromq.SocketType;
import org.zeromq.ZContext;
import org.zeromq.ZMQ;

/**
 * Publishes the forward-pass metrics of an engine's ranks, each at a port of its own, in the form
 * that vLLM and SGLang share: a MessagePack map. Messages that a subscriber does not take in time
 * are lost.
 *
 * <p>Used by one thread at a time.
 */
public final class StepPublisher implements AutoCloseable {

  private static final byte[] TOPIC = {};
  private static final double NS_PER_SECOND = 1e9;

  private final ZContext context = new ZContext();
  private final List<ZMQ.Socket> ranks = new ArrayList<>();
  private final long[] numbers;
  private final int port;
  private final MessagePack out = new MessagePack();

  private StepPublisher(String host, int firstPort, int count) throws IOException {
    this.numbers = new long[count];
    for (int rank = 0; rank < count; rank++) {
      ZMQ.Socket socket = context.createSocket(SocketType.PUB);
      socket.setLinger(0);
      ranks.add(socket);
    }
    try {
      this.port = PortRange.bind(ranks, host, firstPort);
    } catch (IOException | RuntimeException e) {
      context.close();
      throw e;
    }
  }

  /**
   * Opens the ports.
   *
   * @param host the address that sockets are bound to
   * @param port the port of rank 0; each further rank has the next one; 0 takes free ones
   * @param ranks number of ranks
   * @return the publisher; the caller closes it
   * @throws IOException if a port cannot be opened; nothing stays open
   */
  public static StepPublisher open(String host, int port, int ranks) throws IOException {
    return new StepPublisher(host, port, ranks);
  }

  /** {@return the port of rank 0} */
  public int port() {
    return port;
  }

  /**
   * Publishes a step.
   *
   * @param rank the rank that computed it
   * @param pass the step
   */
  public void publish(int rank, ForwardPass pass) {
    long number = numbers[rank]++;
    out.map(6);
    out.text("version").number(1);
    out.text("worker_id").text("kvasir");
    out.text("dp_rank").number(rank);
    out.text("counter_id").unsigned(number);
    out.text("wall_time").real(pass.durationNs() / NS_PER_SECOND);
    out.text("scheduled_requests").map(5);
    out.text("num_prefill_requests").number(pass.prefillRequests());
    out.text("sum_prefill_tokens").unsigned(pass.prefillTokens());
    out.text("sum_prefill_kv_tokens").unsigned(pass.prefillKvTokens());
    out.text("num_decode_requests").number(pass.decodingRequests());
    out.text("sum_decode_kv_tokens").unsigned(pass.decodeKvTokens());
    ZMQ.Socket socket = ranks.get(rank);
    socket.send(TOPIC, ZMQ.SNDMORE);
    socket.send(ByteBuffer.allocate(Long.BYTES).putLong(number).array(), ZMQ.SNDMORE);
    socket.send(out.take(), 0);
  }

  /** Closes the ports. */
  @Override
  public void close() {
    context.close();
  }
}
