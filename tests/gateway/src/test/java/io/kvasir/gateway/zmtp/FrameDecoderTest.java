package io.kvasir.gateway.zmtp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Frames in pieces of any size, and what exceeds a bound. */
class FrameDecoderTest {

  private static final long SEED = Long.getLong("kvasir.test.seed", 20261125);

  private final FrameDecoder decoder = new FrameDecoder();

  private FrameDecoder.Found decode(byte[]... parts) throws ZmtpException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    for (byte[] part : parts) {
      bytes.writeBytes(part);
    }
    return decoder.decode(ByteBuffer.wrap(bytes.toByteArray()));
  }

  @Test
  void messagesAreTheSameInPiecesOfAnySize() throws ZmtpException {
    Random random = new Random(SEED);
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    List<byte[][]> sent = new ArrayList<>();
    for (int i = 0; i < 300; i++) {
      byte[][] message = new byte[1 + random.nextInt(FrameDecoder.MAX_FRAMES)][];
      for (int f = 0; f < message.length; f++) {
        message[f] = new byte[random.nextInt(random.nextBoolean() ? 20 : 20_000)];
        random.nextBytes(message[f]);
        bytes.writeBytes(RawPeer.frame(f < message.length - 1 ? FrameDecoder.MORE : 0, message[f]));
        if (random.nextInt(4) == 0) { // libzmq sends heartbeats between frames
          bytes.writeBytes(RawPeer.frame(FrameDecoder.COMMAND, new byte[] {4, 'P', 'I', 'N', 'G'}));
        }
      }
      sent.add(message);
    }
    List<byte[][]> received = new ArrayList<>();
    ByteBuffer all = ByteBuffer.wrap(bytes.toByteArray());
    while (all.hasRemaining()) {
      int length = Math.min(all.remaining(), 1 + random.nextInt(5_000));
      ByteBuffer piece = all.slice(all.position(), length);
      all.position(all.position() + length);
      while (piece.hasRemaining()) {
        if (decoder.decode(piece) == FrameDecoder.Found.MESSAGE) {
          received.add(decoder.takeMessage());
        }
      }
    }
    assertThat(Arrays.deepEquals(received.toArray(), sent.toArray())).as("seed %d", SEED).isTrue();
    assertThat(decoder.heldBytes()).isZero();
  }

  @Test
  void theFifthFrameOfAMessageIsRefused() throws ZmtpException {
    byte[] empty = RawPeer.frame(FrameDecoder.MORE, new byte[0]);
    assertThat(decode(empty, empty, empty, empty)).isEqualTo(FrameDecoder.Found.NOTHING);
    assertThatThrownBy(() -> decode(empty))
        .isInstanceOf(ZmtpException.class)
        .hasMessageContaining("more than 4 frames");
  }

  @Test
  void theFramesOfAMessageHaveOneBoundTogether() throws ZmtpException {
    decode(RawPeer.frame(FrameDecoder.MORE, new byte[FrameDecoder.MAX_MESSAGE_BYTES - 10]));
    assertThatThrownBy(() -> decode(RawPeer.header(0, 11)))
        .isInstanceOf(ZmtpException.class)
        .hasMessageContaining("more than " + FrameDecoder.MAX_MESSAGE_BYTES + " bytes");
  }

  @Test
  void anAnnouncedLengthReservesNothing() throws ZmtpException {
    decode(RawPeer.header(0, FrameDecoder.MAX_MESSAGE_BYTES), new byte[10]);
    assertThat(decoder.heldBytes()).isLessThan(10_000);
  }

  @Test
  void lengthsBeyondTheBoundAreRefused() {
    for (long length : new long[] {FrameDecoder.MAX_MESSAGE_BYTES + 1, Long.MAX_VALUE, -1}) {
      byte[] header = ByteBuffer.allocate(9).put((byte) FrameDecoder.LONG).putLong(length).array();
      assertThatThrownBy(() -> new FrameDecoder().decode(ByteBuffer.wrap(header)))
          .isInstanceOf(ZmtpException.class);
    }
    assertThatThrownBy(() -> decode(RawPeer.header(FrameDecoder.COMMAND, 1 << 20)))
        .isInstanceOf(ZmtpException.class)
        .hasMessageContaining("command");
  }

  @Test
  void flagsThatDoNotExistAreRefused() {
    for (int flags : new int[] {8, 128, FrameDecoder.COMMAND | FrameDecoder.MORE, 255}) {
      assertThatThrownBy(
              () -> new FrameDecoder().decode(ByteBuffer.wrap(new byte[] {(byte) flags})))
          .isInstanceOf(ZmtpException.class);
    }
  }
}
