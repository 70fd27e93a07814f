package io.kvasir.tokens.tokenizer;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;

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
    String name = file.toString();
    if (name.endsWith(".json")) {
      return open(file, text(file, bytes), trial, hex(digest));
    }
    Path beside = file.resolveSibling("tokenizer_config.json");
    byte[] config = Files.exists(beside) ? read(beside) : null;
    if (config != null) {
      digest.update(config);
    }
    String settings = config == null ? null : text(beside, config);
    if (name.endsWith(".model") && SentencePieceModel.begins(bytes)) {
      return open(file, SentencePieceJson.of(file, bytes, settings), trial, hex(digest));
    }
    return TiktokenTokenizer.open(
        file, bytes, settings == null ? null : TokenizerConfig.read(beside, settings), hex(digest));
  }

  private static SegmentableTokenizer open(Path file, String json, boolean trial, String digest)
      throws TokenizerException {
    JsonStructure structure = JsonStructure.read(file, json);
    if (trial) {
      TokenizerTrial.run(file, json.getBytes(StandardCharsets.UTF_8));
    }
    return JsonTokenizer.open(file, json, structure, digest);
  }

  private static Path within(Path folder) throws TokenizerException {
    for (String name : new String[] {"tokenizer.json", "tiktoken.model"}) {
      if (Files.exists(folder.resolve(name))) {
        return folder.resolve(name);
      }
    }
    try (DirectoryStream<Path> files = Files.newDirectoryStream(folder, "*.tiktoken")) {
      List<Path> found = new ArrayList<>();
      files.forEach(found::add);
      if (found.size() == 1) {
        return found.get(0);
      }
      if (found.size() > 1) {
        throw new TokenizerException(folder, "has " + found.size() + " files *.tiktoken: name one");
      }
    } catch (IOException e) {
      throw new TokenizerException(folder, "cannot be read: " + e, e);
    }
    if (Files.exists(folder.resolve("tokenizer.model"))) {
      return folder.resolve("tokenizer.model");
    }
    throw new TokenizerException(
        folder, "has no tokenizer.json, tiktoken.model, *.tiktoken or tokenizer.model");
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
