package io.kvasir.tokens.tokenizer;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/** Finds and reads the files of a tokenizer, within bounds. Stateless. */
final class TokenizerFiles {

  /** The largest file that is read. */
  static final int MAX_BYTES = 128 << 20;

  private TokenizerFiles() {}

  /**
   * Opens a tokenizer.
   *
   * @param path a folder or a file
   * @param trial whether a {@code tokenizer.json} is tried in another process first
   * @return the tokenizer; the caller closes it
   * @throws TokenizerException if the files are missing or damaged
   */
  static SegmentableTokenizer open(Path path, boolean trial) throws TokenizerException {
    Path file = Files.isDirectory(path) ? within(path) : path;
    byte[] bytes = read(file);
    MessageDigest digest = sha256();
    digest.update(bytes);
    String json = text(file, bytes);
    if (trial) {
      TokenizerTrial.run(file, bytes);
    }
    return JsonTokenizer.open(file, json, hex(digest));
  }

  private static Path within(Path folder) throws TokenizerException {
    Path json = folder.resolve("tokenizer.json");
    if (Files.exists(json)) {
      return json;
    }
    throw new TokenizerException(folder, "has no tokenizer.json");
  }

  /**
   * Reads a regular file.
   *
   * @param file the file
   * @return its bytes, at least one
   * @throws TokenizerException if it is missing, no regular file, empty, too large or unreadable
   */
  static byte[] read(Path file) throws TokenizerException {
    if (!Files.isRegularFile(file)) {
      throw new TokenizerException(file, Files.exists(file) ? "is no regular file" : "is missing");
    }
    try (InputStream in = Files.newInputStream(file)) {
      if (Files.size(file) > MAX_BYTES) {
        throw new TokenizerException(file, "is larger than " + (MAX_BYTES >> 20) + " MiB");
      }
      byte[] bytes = in.readNBytes(MAX_BYTES);
      if (bytes.length == 0) {
        throw new TokenizerException(file, "is empty");
      }
      return bytes;
    } catch (IOException e) {
      throw new TokenizerException(file, "cannot be read: " + e, e);
    }
  }

  /**
   * Decodes UTF-8.
   *
   * @param file for messages
   * @param bytes its bytes
   * @return its text
   * @throws TokenizerException if they are no UTF-8
   */
  static String text(Path file, byte[] bytes) throws TokenizerException {
    try {
      return StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
    } catch (CharacterCodingException e) {
      throw new TokenizerException(file, "is no UTF-8 text", e);
    }
  }

  /** {@return a new SHA-256} */
  static MessageDigest sha256() {
    try {
      return MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException e) {
      throw new AssertionError("every JDK has SHA-256", e);
    }
  }

  private static String hex(MessageDigest digest) {
    return HexFormat.of().formatHex(digest.digest());
  }
}
