package io.kvasir.gateway.disagg;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SigningKeyTest {

  @TempDir private Path folder;

  private SigningKey ofFile(byte... bytes) throws IOException {
    return SigningKey.ofFile("file", Files.write(folder.resolve("key"), bytes).toString());
  }

  @Test
  void aFileThatIsNoTextIsTakenAsBytes() throws IOException {
    byte[] key = {(byte) 0xff, 'a', (byte) 0xc3, 0, '\n', (byte) 0x80};

    assertThat(ofFile(key).bytes()).isEqualTo(key);
  }

  @Test
  void lineEndsBehindTheKeyOfAFileAreNoPartOfIt() throws IOException {
    byte[] key = " \u00e9\n key ".getBytes(StandardCharsets.UTF_8);
    String text = new String(key, StandardCharsets.UTF_8) + "\r\n\n";

    assertThat(ofFile(text.getBytes(StandardCharsets.UTF_8)).bytes()).isEqualTo(key);
    assertThat(SigningKey.of("text", " \u00e9\n key ").bytes()).isEqualTo(key);
  }

  @Test
  void keysHave1To8192Bytes() throws IOException {
    assertThat(ofFile(new byte[SigningKey.MAX_BYTES]).bytes()).hasSize(SigningKey.MAX_BYTES);
    for (byte[] wrong : new byte[][] {{}, {'\n', '\r'}, new byte[SigningKey.MAX_BYTES + 1]}) {
      assertThatIllegalArgumentException()
          .isThrownBy(() -> ofFile(wrong))
          .withMessageEndingWith("must have a key of 1 to 8192 bytes");
    }
    assertThatIllegalArgumentException()
        .isThrownBy(() -> SigningKey.ofFile("file", folder.toString()))
        .withMessageContaining("cannot be read");
  }
}
