package io.kvasir.engine.pool.shared;

import static java.nio.file.StandardOpenOption.CREATE_NEW;
import static java.nio.file.StandardOpenOption.READ;
import static java.nio.file.StandardOpenOption.WRITE;

import io.kvasir.internal.nativelib.FileLibrary;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.charset.Charset;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Arrays;
import java.util.Set;

/**
 * Files that belong to this process's user and are closed to all others. Anything else is refused
 * by an {@link IOException} that names the path and the reason.
 *
 * <p>An existing file is checked on a descriptor that gives no access, and then opened through that
 * descriptor. Another user can therefore not exchange the file between the check and the opening,
 * and a FIFO or a device is never opened.
 *
 * <p>Stateless.
 */
final class PrivateFiles {

  // Bits of a mode, as Linux defines them.
  private static final long TYPE = 0170000;
  private static final long REGULAR_FILE = 0100000;
  private static final long FOLDER = 0040000;
  private static final long OTHERS = 0077;

  private static final int NO_ENTRY = 2;

  /** The encoding of paths. */
  private static final Charset PATHS =
      Charset.forName(System.getProperty("sun.jnu.encoding", Charset.defaultCharset().name()));

  private static final FileAttribute<Set<PosixFilePermission>> FILE_MODE =
      PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"));

  private PrivateFiles() {}

  /** Creates a file. Nothing may have its path yet. */
  static FileChannel create(Path file) throws IOException {
    return FileChannel.open(file, Set.<OpenOption>of(CREATE_NEW, READ, WRITE), FILE_MODE);
  }

  /**
   * Opens a file. Never waits.
   *
   * @throws NoSuchFileException if nothing has the path
   */
  static FileChannel open(Path file, OpenOption... options) throws IOException {
    try (Entry entry = Entry.of(file)) {
      entry.require(REGULAR_FILE);
      return FileChannel.open(entry.descriptorPath(), options);
    }
  }

  /** Deletes a file if there is one. */
  static void delete(Path file) throws IOException {
    try (Entry entry = Entry.of(file)) {
      entry.require(REGULAR_FILE);
      Files.deleteIfExists(file);
    } catch (NoSuchFileException e) {
      // There is none.
    }
  }

  /** Whether a path is a folder of this user, possibly open to others. */
  static boolean isOwnFolder(Path path) {
    try (Entry entry = Entry.of(path)) {
      return (entry.mode & TYPE) == FOLDER && entry.owner == FileLibrary.kvasir_user();
    } catch (IOException e) {
      return false;
    }
  }

  /** What has a path, held by a descriptor. */
  private static final class Entry implements AutoCloseable {

    private final Path path;
    private final int descriptor;
    private final long mode;
    private final long owner;

    private Entry(Path path, int descriptor, long mode, long owner) {
      this.path = path;
      this.descriptor = descriptor;
      this.mode = mode;
      this.owner = owner;
    }

    static Entry of(Path path) throws IOException {
      byte[] name = path.toString().getBytes(PATHS);
      long[] facts = new long[2];
      int descriptor = FileLibrary.kvasir_path_open(Arrays.copyOf(name, name.length + 1), facts);
      if (descriptor == -NO_ENTRY) {
        throw new NoSuchFileException(path.toString());
      }
      if (descriptor < 0) {
        throw new IOException(
            "cannot open " + path + ": " + FileLibrary.kvasir_error_text(-descriptor));
      }
      return new Entry(path, descriptor, facts[0], facts[1]);
    }

    void require(long type) throws IOException {
      if ((mode & TYPE) != type) {
        throw new IOException(
            path + " is a " + typeName(mode & TYPE) + " and not a " + typeName(type));
      }
      long user = FileLibrary.kvasir_user();
      if (owner != user) {
        throw new IOException(
            path + " belongs to user " + owner + " and not to user " + user + " of this process");
      }
      if ((mode & OTHERS) != 0) {
        throw new IOException(
            path
                + " is open to other users: its mode is "
                + Long.toOctalString(mode & ~TYPE)
                + " and must end in 00");
      }
    }

    /** The path by which this process can open the entry itself, whatever has its path now. */
    Path descriptorPath() throws IOException {
      Path link = Path.of("/proc/self/fd", Integer.toString(descriptor));
      if (!Files.exists(link)) {
        throw new IOException("cannot open " + path + ": " + link + " is missing");
      }
      return link;
    }

    private static String typeName(long type) {
      return switch ((int) type) {
        case 0010000 -> "FIFO";
        case 0020000, 0060000 -> "device";
        case (int) FOLDER -> "folder";
        case (int) REGULAR_FILE -> "regular file";
        case 0120000 -> "symbolic link";
        case 0140000 -> "socket";
        default -> "special file";
      };
    }

    @Override
    public void close() {
      FileLibrary.kvasir_path_close(descriptor);
    }
  }
}
