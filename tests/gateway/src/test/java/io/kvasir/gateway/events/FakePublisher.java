package io.kvasir.gateway.events;

import io.kvasir.testing.harness.Await;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.LongPredicate;
import org.zeromq.SocketType;
import org.zeromq.ZContext;
import org.zeromq.ZMQ;
import org.zeromq.ZMQException;

/**
 * The publisher of one rank: numbered batches on one socket, the last ones again on another. Its
 * replay socket answers like vLLM's: only to three frames, and with an end marker.
 */
final class FakePublisher implements AutoCloseable {

  /** A batch and its number. */
  private static final class Batch {
    final long number;
    final byte[] payload;

    Batch(long number, byte[] payload) {
      this.number = number;
      this.payload = payload;
    }
  }

  private final boolean topicInReplay;
  private final int ring;
  private final LinkedBlockingQueue<Runnable> commands = new LinkedBlockingQueue<>();
  private final ZContext context = new ZContext();
  private final Thread thread;
  private final Deque<Batch> kept = new ArrayDeque<>();
  private ZMQ.Socket live;
  private ZMQ.Socket replay;
  private int livePort;
  private int replayPort;
  private long next;
  private LongPredicate holes = number -> false;
  private volatile boolean answersReplay = true;
  private volatile boolean closing;
  private volatile int replays;
  private volatile boolean subscribed;

  FakePublisher(boolean topicInReplay, int ring) {
    this.topicInReplay = topicInReplay;
    this.ring = ring;
    thread = new Thread(this::run, "fake-publisher");
    thread.setDaemon(true);
    thread.start();
    await(() -> {});
  }

  String live() {
    return "tcp://127.0.0.1:" + livePort;
  }

  String replay() {
    return "tcp://127.0.0.1:" + replayPort;
  }

  int replays() {
    return replays;
  }

  /** Whether a subscriber has connected since the start, or the restart. */
  boolean subscribed() {
    return subscribed;
  }

  /** Publishes a batch; without effect on subscribers that are not connected yet. */
  void publish(byte[]... payloads) {
    await(
        () -> {
          for (byte[] payload : payloads) {
            byte[] number = keep(payload);
            live.send("kv-events", ZMQ.SNDMORE);
            live.send(number, ZMQ.SNDMORE);
            live.send(payload);
          }
        });
  }

  /** Numbers and keeps batches that no subscriber receives. */
  void lose(byte[]... payloads) {
    await(
        () -> {
          for (byte[] payload : payloads) {
            keep(payload);
          }
        });
  }

  /** Leaves numbers out, as engines do that number batches before they drop them. */
  void skip(int numbers) {
    await(() -> next += numbers);
  }

  /** Sends a live message as it is. */
  void send(byte[]... frames) {
    await(
        () -> {
          for (int i = 0; i < frames.length; i++) {
            live.send(frames[i], i < frames.length - 1 ? ZMQ.SNDMORE : 0);
          }
        });
  }

  /** Ends like a killed process and begins again with number 0 on the same ports. */
  void restart() {
    await(
        () -> {
          closeSockets();
          kept.clear();
          next = 0;
          subscribed = false;
          open();
        });
  }

  /** Leaves batches out of the next replay, which ends properly all the same. */
  void holesInNextReplay(LongPredicate numbers) {
    await(() -> holes = numbers);
  }

  void answerReplay(boolean answers) {
    answersReplay = answers;
  }

  private byte[] keep(byte[] payload) {
    kept.addLast(new Batch(next, payload));
    if (kept.size() > ring) {
      kept.removeFirst();
    }
    return bytes(next++);
  }

  private static byte[] bytes(long number) {
    return ByteBuffer.allocate(Long.BYTES).putLong(number).array();
  }

  private void await(Runnable command) {
    CountDownLatch done = new CountDownLatch(1);
    commands.add(
        () -> {
          command.run();
          done.countDown();
        });
    Await.opened("the publisher's thread", done);
  }

  private void open() {
    live = context.createSocket(SocketType.XPUB);
    live.setSndHWM(100_000);
    live.setLinger(0);
    replay = context.createSocket(SocketType.ROUTER);
    replay.setSndHWM(0);
    replay.setLinger(0);
    livePort = bind(live, livePort);
    replayPort = bind(replay, replayPort);
  }

  private static int bind(ZMQ.Socket socket, int port) {
    if (port == 0) {
      return socket.bindToRandomPort("tcp://127.0.0.1");
    }
    Await.until("the old socket, which closes in the background", () -> binds(socket, port));
    return port;
  }

  private static boolean binds(ZMQ.Socket socket, int port) {
    try {
      return socket.bind("tcp://127.0.0.1:" + port);
    } catch (ZMQException e) {
      return false;
    }
  }

  private void closeSockets() {
    live.close();
    replay.close();
  }

  private void run() {
    open();
    while (!closing) {
      try {
        Runnable command = commands.poll(2, TimeUnit.MILLISECONDS);
        if (command != null) {
          command.run();
        }
      } catch (InterruptedException e) {
        break;
      }
      serveReplay();
      byte[] subscription = live.recv(ZMQ.DONTWAIT);
      if (subscription != null && subscription[0] == 1) {
        subscribed = true;
      }
    }
    closeSockets();
    context.close();
  }

  @SuppressWarnings("NonAtomicVolatileUpdate") // one thread writes
  private void serveReplay() {
    byte[] identity = replay.recv(ZMQ.DONTWAIT);
    if (identity == null) {
      return;
    }
    byte[] empty = replay.hasReceiveMore() ? replay.recv() : null;
    byte[] start = replay.hasReceiveMore() ? replay.recv() : null;
    boolean more = replay.hasReceiveMore();
    while (replay.hasReceiveMore()) {
      replay.recv();
    }
    if (start == null || empty == null || empty.length != 0 || more || !answersReplay) {
      return;
    }
    long from = ByteBuffer.wrap(start).getLong();
    replays++;
    for (Batch batch : kept) {
      if (batch.number >= from && !holes.test(batch.number)) {
        answer(identity, "kv-events", bytes(batch.number), batch.payload);
      }
    }
    holes = number -> false;
    answer(identity, "", bytes(-1), new byte[0]);
  }

  private void answer(byte[] identity, String topic, byte[] number, byte[] payload) {
    replay.send(identity, ZMQ.SNDMORE);
    replay.send(new byte[0], ZMQ.SNDMORE);
    if (topicInReplay) {
      replay.send(topic, ZMQ.SNDMORE);
    }
    replay.send(number, ZMQ.SNDMORE);
    replay.send(payload);
  }

  @Override
  public void close() {
    closing = true;
    Await.end(thread);
  }
}
