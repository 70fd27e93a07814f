package io.kvasir.tcp;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;

/** What carries the bytes of a connection. It never blocks. */
interface Carrier {

  /** Reads what has arrived: the number of bytes, or -1 after the last one. */
  int read(ByteBuffer into) throws IOException;

  /** Sends what the socket accepts; whether nothing is left, neither here nor in the buffer. */
  boolean write(ByteBuffer from) throws IOException;

  /** A carrier that sends the bytes as they are. */
  static Carrier plain(SocketChannel channel) {
    return new Carrier() {
      @Override
      public int read(ByteBuffer into) throws IOException {
        return channel.read(into);
      }

      @Override
      public boolean write(ByteBuffer from) throws IOException {
        channel.write(from);
        return !from.hasRemaining();
      }
    };
  }
}
