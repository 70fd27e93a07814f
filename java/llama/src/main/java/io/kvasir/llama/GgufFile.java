package io.kvasir.llama;

import io.kvasir.embedded.InvalidModelException;
import io.kvasir.model.Errors;
import java.io.BufferedInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The facts of a GGUF file that llama.cpp does not report through its binding. Immutable.
 *
 * <p>Only the metadata at the file's head is read. Damage there is reported; llama.cpp checks the
 * rest.
 */
final class GgufFile {

  private static final int MAX_ENTRIES = 1 << 16;
  private static final int MAX_TEXT_BYTES = 1 << 24;
  private static final int TYPE_BOOL = 7;
  private static final int TYPE_TEXT = 8;
  private static final int TYPE_ARRAY = 9;

  /** Bytes of a value by its type; 0 for types without a fixed size. */
  private static final int[] SIZES = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};

  /** Tokenizers whose prompts begin with a leading token unless the file says otherwise. */
  private static final Set<String> LEADING = Set.of("llama", "bert");

  /** The same of byte-pair encodings, by the name of what splits the text first. */
  private static final Set<String> LEADING_PRE =
      Set.of("llama3", "llama-v3", "llama-bpe", "falcon3", "pixtral");

  private final Map<String, Object> values = new HashMap<>();
  private final Map<String, Long> lengths = new HashMap<>();
  private final ByteBuffer number = ByteBuffer.allocate(8).order(ByteOrder.LITTLE_ENDIAN);

  private GgufFile() {}

  /**
   * Reads a file's metadata.
   *
   * @throws InvalidModelException if the file cannot be read or is no GGUF model
   */
  static GgufFile read(Path path) throws InvalidModelException {
    GgufFile file = new GgufFile();
    if (Files.isDirectory(path)) {
      throw new InvalidModelException("is a folder");
    }
    try (InputStream in = new BufferedInputStream(Files.newInputStream(path), 1 << 16)) {
      file.readHead(in);
    } catch (NoSuchFileException e) {
      throw new InvalidModelException("does not exist", e);
    } catch (EOFException e) {
      throw new InvalidModelException("is damaged: it ends within its metadata", e);
    } catch (IOException e) {
      throw new InvalidModelException("cannot be read: " + Errors.reason(e), e);
    }
    file.requireModel();
    return file;
  }

  private void readHead(InputStream in) throws IOException, InvalidModelException {
    byte[] magic = in.readNBytes(4);
    if (!new String(magic, StandardCharsets.ISO_8859_1).equals("GGUF")) {
      throw new InvalidModelException("is no GGUF file");
    }
    long version = integer(in, 4);
    if (version < 2 || version > 3) {
      throw new InvalidModelException("is GGUF of version " + version + ", not 2 or 3");
    }
    integer(in, 8);
    long entries = integer(in, 8);
    if (entries < 0 || entries > MAX_ENTRIES) {
      throw new InvalidModelException("is damaged: it has " + entries + " entries of metadata");
    }
    for (long i = 0; i < entries; i++) {
      String key = text(in);
      int type = type(in);
      if (type == TYPE_ARRAY) {
        lengths.put(key, skipArray(in));
      } else {
        values.put(key, value(in, type));
      }
    }
  }

  private int type(InputStream in) throws IOException, InvalidModelException {
    long type = integer(in, 4);
    if (type < 0 || type >= SIZES.length) {
      throw new InvalidModelException("is damaged: it has a value of type " + type);
    }
    return (int) type;
  }

  private Object value(InputStream in, int type) throws IOException, InvalidModelException {
    if (type == TYPE_TEXT) {
      return text(in);
    }
    long bits = integer(in, SIZES[type]);
    return type == TYPE_BOOL ? (Object) (bits != 0) : (Object) bits;
  }

  private long skipArray(InputStream in) throws IOException, InvalidModelException {
    int type = type(in);
    long length = integer(in, 8);
    if (length < 0 || type == TYPE_ARRAY) {
      throw new InvalidModelException("is damaged: it has an array that cannot be read");
    }
    if (type == TYPE_TEXT) {
      for (long i = 0; i < length; i++) {
        in.skipNBytes(textLength(in));
      }
    } else if (length > Long.MAX_VALUE / SIZES[type]) {
      throw new EOFException();
    } else {
      in.skipNBytes(length * SIZES[type]);
    }
    return length;
  }

  private String text(InputStream in) throws IOException, InvalidModelException {
    int length = textLength(in);
    byte[] bytes = in.readNBytes(length);
    if (bytes.length < length) {
      throw new EOFException();
    }
    return new String(bytes, StandardCharsets.UTF_8);
  }

  private int textLength(InputStream in) throws IOException, InvalidModelException {
    long length = integer(in, 8);
    if (length < 0 || length > MAX_TEXT_BYTES) {
      throw new InvalidModelException("is damaged: it has a text of " + length + " bytes");
    }
    return (int) length;
  }

  /** A little-endian integer; the shorter ones without a sign. */
  private long integer(InputStream in, int bytes) throws IOException {
    number.clear().putLong(0, 0);
    if (in.readNBytes(number.array(), 0, bytes) < bytes) {
      throw new EOFException();
    }
    return number.getLong(0);
  }

  private void requireModel() throws InvalidModelException {
    if (architecture().isEmpty()) {
      throw new InvalidModelException("is no model: general.architecture is missing");
    }
    if (vocabularySize() < 1) {
      throw new InvalidModelException("is no model with text: tokenizer.ggml.tokens is missing");
    }
  }

  private String architecture() {
    return text("general.architecture");
  }

  /** Number of tokens in the model's vocabulary. */
  int vocabularySize() {
    return (int) Math.min(Integer.MAX_VALUE, lengths.getOrDefault("tokenizer.ggml.tokens", 0L));
  }

  /** Tokens of context that the model was made for; 0 if the file does not say. */
  int contextLength() {
    Long length = integer(architecture() + ".context_length");
    return length == null ? 0 : (int) Math.max(0, Math.min(Integer.MAX_VALUE, length));
  }

  /** The token with which prompts begin; -1 if there is none. llama.cpp's rules. */
  int leadingToken() {
    String model = text("tokenizer.ggml.model");
    boolean byDefault =
        LEADING.contains(model)
            || (model.equals("gpt2") && LEADING_PRE.contains(text("tokenizer.ggml.pre")));
    Object stated = values.get("tokenizer.ggml.add_bos_token");
    boolean wanted = stated instanceof Boolean flag ? flag : byDefault;
    Long token = integer("tokenizer.ggml.bos_token_id");
    if (token == null && model.equals("llama")) {
      token = 1L;
    }
    return wanted && token != null && token >= 0 && token < vocabularySize()
        ? token.intValue()
        : -1;
  }

  private String text(String key) {
    return values.get(key) instanceof String text ? text : "";
  }

  private @Nullable Long integer(String key) {
    return values.get(key) instanceof Long value ? value : null;
  }
}
