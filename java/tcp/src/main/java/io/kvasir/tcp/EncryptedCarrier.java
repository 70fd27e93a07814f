package io.kvasir.tcp;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLEngineResult;
import javax.net.ssl.SSLException;

/**
 * Encrypts a connection with TLS.
 *
 * <p>Confined to one thread.
 */
final class EncryptedCarrier implements Carrier {

  /** More than a record of TLS, whose text has 16 KiB at most. */
  private static final int BUFFER_BYTES = 1 << 15;

  private static final ByteBuffer NOTHING = ByteBuffer.allocate(0);

  private final SocketChannel channel;
  private final SSLEngine engine;

  /** Records that have arrived, from position to limit. */
  private final ByteBuffer incoming;

  /** Decrypted text that was not returned, from position to limit. */
  private final ByteBuffer plain;

  /** Records that were not sent, from position to limit. */
  private final ByteBuffer outgoing;

  private boolean ended;

  EncryptedCarrier(SocketChannel channel, SSLEngine engine) throws SSLException {
    this.channel = channel;
    this.engine = engine;
    this.incoming = ByteBuffer.allocateDirect(BUFFER_BYTES).limit(0);
    this.outgoing = ByteBuffer.allocateDirect(BUFFER_BYTES).limit(0);
    this.plain = ByteBuffer.allocate(BUFFER_BYTES).limit(0);
    engine.beginHandshake();
  }

  /**
   * Continues the handshake.
   *
   * @return the operation that it waits for, a constant of {@link SelectionKey}; 0 when it is
   *     complete
   */
  int handshake() throws IOException {
    try {
      while (flush()) {
        switch (engine.getHandshakeStatus()) {
          case NEED_TASK -> runTasks();
          case NEED_WRAP -> encrypt(NOTHING);
          case NEED_UNWRAP, NEED_UNWRAP_AGAIN -> {
            if (!decryptRecord()) {
              if (ended) {
                throw new SSLException("it closed the connection during the TLS handshake");
              }
              return SelectionKey.OP_READ;
            }
          }
          case FINISHED, NOT_HANDSHAKING -> {
            return 0;
          }
        }
      }
      return SelectionKey.OP_WRITE;
    } catch (SSLException e) {
      alert();
      throw e;
    }
  }

  /** Sends the reason why the handshake fails, if the socket accepts it at once. */
  private void alert() {
    try {
      encrypt(NOTHING);
      flush();
    } catch (IOException ignored) {
      // The peer finds the connection closed instead.
    }
  }

  private void runTasks() {
    for (Runnable task = engine.getDelegatedTask();
        task != null;
        task = engine.getDelegatedTask()) {
      task.run();
    }
  }

  @Override
  public int read(ByteBuffer into) throws IOException {
    while (!plain.hasRemaining()) {
      if (!decryptRecord()) {
        return ended ? -1 : 0;
      }
      // A peer that changes its keys wants an answer.
      if (engine.getHandshakeStatus() == SSLEngineResult.HandshakeStatus.NEED_WRAP && flush()) {
        encrypt(NOTHING);
        flush();
      }
    }
    int bytes = Math.min(plain.remaining(), into.remaining());
    into.put(plain.slice(plain.position(), bytes));
    plain.position(plain.position() + bytes);
    return bytes;
  }

  /** Decrypts the next record, which may hold no text; false if it has not arrived. */
  private boolean decryptRecord() throws IOException {
    while (!ended) {
      plain.clear();
      SSLEngineResult result;
      try {
        result = engine.unwrap(incoming, plain);
      } finally {
        plain.flip();
      }
      switch (result.getStatus()) {
        case OK -> {
          return true;
        }
        case BUFFER_UNDERFLOW -> {
          if (!receive()) {
            return false;
          }
        }
        case CLOSED -> ended = true;
        case BUFFER_OVERFLOW -> throw new SSLException("it sent a record that is too long");
      }
    }
    return false;
  }

  private boolean receive() throws IOException {
    incoming.compact();
    int bytes = channel.read(incoming);
    incoming.flip();
    ended = bytes < 0;
    return bytes > 0;
  }

  @Override
  public boolean write(ByteBuffer from) throws IOException {
    while (flush()) {
      if (!from.hasRemaining()) {
        return true;
      }
      encrypt(from);
    }
    return false;
  }

  /** Encrypts a record; all records before must have been sent. */
  private void encrypt(ByteBuffer from) throws IOException {
    outgoing.clear();
    try {
      SSLEngineResult result = engine.wrap(from, outgoing);
      if (result.bytesProduced() == 0) {
        throw new SSLException("the encryption has ended: " + result.getStatus());
      }
    } finally {
      outgoing.flip();
    }
  }

  private boolean flush() throws IOException {
    if (outgoing.hasRemaining()) {
      channel.write(outgoing);
    }
    return !outgoing.hasRemaining();
  }
}
