package io.kvasir.gateway.keys;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFileAttributeView;
import java.nio.file.attribute.PosixFileAttributes;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A file of keys: a line of JSON for each key, without the key itself. A file that has one wrong
 * line is refused as a whole. Stateless.
 */
public final class KeyFile {

  private static final int MAX_BYTES = 16 << 20;
  private static final Set<PosixFilePermission> WRITTEN_BY_OTHERS =
      Set.of(PosixFilePermission.GROUP_WRITE, PosixFilePermission.OTHERS_WRITE);
  private static final Set<PosixFilePermission> OF_OWNER =
      PosixFilePermissions.fromString("rw-------");

  private KeyFile() {}

  /** The lines that were read so far. */
  private static final class Lines {

    private final List<ClientKey> keys = new ArrayList<>();
    private final Set<String> names = new HashSet<>();
    private final Set<String> ids = new HashSet<>();
    private final Map<String, String> salts = new HashMap<>();

    void add(ClientKey key) {
      if (!ids.add(key.id()) || !ids.add(key.sha256())) {
        throw new IllegalArgumentException("id and sha256 must not be those of a line before");
      }
      if (!names.add(key.name())) {
        throw new IllegalArgumentException("name must not be that of a line before");
      }
      String salt = Objects.toString(key.cacheSalt(), "");
      if (!salts.computeIfAbsent(key.tenant(), tenant -> salt).equals(salt)) {
        throw new IllegalArgumentException("cache_salt must be the same for all keys of a tenant");
      }
      keys.add(key);
    }
  }

  /**
   * Reads a file.
   *
   * @param file its path
   * @return its keys, in its order
   * @throws IOException if it cannot be read
   * @throws IllegalArgumentException naming file, line and field if something is wrong, or if other
   *     users may write the file
   */
  public static List<ClientKey> read(Path file) throws IOException {
    for (PosixFilePermission permission : Files.getPosixFilePermissions(file)) {
      if (WRITTEN_BY_OTHERS.contains(permission)) {
        throw new IllegalArgumentException(
            file + " must be writable by its owner only (chmod 600 " + file + ")");
      }
    }
    Lines lines = new Lines();
    int number = 0;
    for (String line : text(file).split("\n", -1)) {
      number++;
      if (!line.isBlank()) {
        try {
          lines.add(KeyLine.read(line));
        } catch (IllegalArgumentException e) {
          throw new IllegalArgumentException(file + ":" + number + ": " + e.getMessage(), e);
        }
      }
    }
    return lines.keys;
  }

  private static String text(Path file) throws IOException {
    try (InputStream in = Files.newInputStream(file)) {
      byte[] bytes = in.readNBytes(MAX_BYTES + 1);
      if (bytes.length > MAX_BYTES) {
        throw new IllegalArgumentException(file + ": keys have at most " + MAX_BYTES + " bytes");
      }
      return StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
    } catch (CharacterCodingException e) {
      throw new IllegalArgumentException(file + ": must be UTF-8", e);
    }
  }

  /**
   * Changes a file. A lock on a second file, which stays, keeps all other callers in all processes
   * from changing it at the same time.
   *
   * @param file its path; a file that is missing has no keys
   * @param change makes the keys that the file is to have of those that it has; null to leave it
   * @throws IOException if it cannot be read or written; it is as before then
   * @throws IllegalArgumentException as of {@link #read}
   */
  public static void update(Path file, Change change) throws IOException {
    Path target = target(file);
    Path lock = target.resolveSibling("." + target.getFileName() + ".lock");
    synchronized (KeyFile.class) { // a process has a lock only once
      try (FileChannel channel =
              FileChannel.open(
                  lock,
                  Set.of(StandardOpenOption.CREATE, StandardOpenOption.WRITE),
                  PosixFilePermissions.asFileAttribute(OF_OWNER));
          FileLock held = channel.lock()) {
        boolean exists = Files.exists(target);
        if (exists) {
          giveToOwnerOf(target, lock);
        }
        List<ClientKey> keys = change.of(exists ? read(target) : List.of());
        if (keys != null && held.isValid()) {
          write(target, keys);
        }
      }
    }
  }

  /** Changes the keys of a file. */
  @FunctionalInterface
  public interface Change {

    /**
     * {@return the keys that the file is to have; null for those that it has}
     *
     * @param keys those that it has
     */
    @Nullable List<ClientKey> of(List<ClientKey> keys);
  }

  private static Path target(Path file) throws IOException {
    return Files.exists(file) ? file.toRealPath() : file.toAbsolutePath();
  }

  /**
   * Replaces a file, at once: readers see the keys before or these. A new file is readable by its
   * owner only; one that exists keeps its owner, group and mode.
   *
   * @param file its path
   * @param keys its keys
   * @throws IOException if it cannot be written; it is as before then
   */
  public static void write(Path file, List<ClientKey> keys) throws IOException {
    StringBuilder lines = new StringBuilder();
    keys.forEach(key -> lines.append(KeyLine.write(key)).append('\n'));
    Path target = target(file);
    Path next =
        Files.createTempFile(
            Objects.requireNonNull(target.getParent()),
            ".keys-",
            ".next",
            PosixFilePermissions.asFileAttribute(OF_OWNER));
    try {
      Files.writeString(next, lines);
      if (Files.exists(target)) {
        giveToOwnerOf(target, next);
        Files.setPosixFilePermissions(next, Files.getPosixFilePermissions(target));
      }
      Files.move(next, target, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    } finally {
      Files.deleteIfExists(next);
    }
  }

  /** Sets owner and group to those of another file, if they differ. */
  private static void giveToOwnerOf(Path like, Path file) throws IOException {
    PosixFileAttributes wanted = Files.readAttributes(like, PosixFileAttributes.class);
    PosixFileAttributes now = Files.readAttributes(file, PosixFileAttributes.class);
    PosixFileAttributeView view = Files.getFileAttributeView(file, PosixFileAttributeView.class);
    if (!now.group().equals(wanted.group())) {
      view.setGroup(wanted.group());
    }
    if (!now.owner().equals(wanted.owner())) {
      view.setOwner(wanted.owner());
    }
  }

  /**
   * {@return whether a name can be that of a key or a tenant}
   *
   * @param text the name
   */
  public static boolean isName(String text) {
    return KeyLine.isName(text);
  }

  /** {@return what a name must be, in words} */
  public static String nameRule() {
    return KeyLine.nameRule();
  }

  /**
   * {@return whether a text can be the name of a model}
   *
   * @param text the name
   */
  public static boolean isModel(String text) {
    return KeyLine.isModel(text);
  }
}
