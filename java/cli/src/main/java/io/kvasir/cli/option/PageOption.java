package io.kvasir.cli.option;

import io.kvasir.model.Errors;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Where a page with the results goes. */
@Heading("Report")
public final class PageOption {

  private static final String REPORT = "--report";

  @Option(
      names = REPORT,
      paramLabel = "FILE",
      order = 94,
      description =
          "Also writes the results to an HTML page that needs no other file, with charts.")
  private @Nullable String report;

  PageOption() {}

  /** {@return whether a page is wanted} */
  public boolean isWanted() {
    return report != null;
  }

  /**
   * {@return whether the page goes to a file}
   *
   * @param file an absolute path
   */
  public boolean isFile(Path file) {
    return report != null && file(report).equals(file);
  }

  /**
   * Checks where the page goes, if one is wanted.
   *
   * @throws UsageException if it cannot be written
   */
  public void requireWritable() {
    if (report == null) {
      return;
    }
    Path file = file(report);
    Path folder = file.getParent();
    if (folder == null || !Files.isDirectory(folder) || !Files.isWritable(folder)) {
      throw new UsageException(REPORT, "must be a file in a folder that can be written: " + file);
    }
    if (Files.exists(file) && !Files.isRegularFile(file)) {
      throw new UsageException(REPORT, "must be a file, not a folder or a device: " + file);
    }
  }

  private static Path file(String text) {
    return Values.path(REPORT, text).toAbsolutePath();
  }

  /**
   * Writes the page, if one is wanted. An existing file is replaced once the new one is complete,
   * and one behind a symbolic link is replaced there.
   *
   * @param page makes the page
   * @throws IOException naming the option and the file, if it cannot be written
   */
  public void write(Supplier<String> page) throws IOException {
    if (report == null) {
      return;
    }
    Path file = file(report);
    Path target = Files.exists(file) ? file.toRealPath() : file;
    Path partial = target.resolveSibling(target.getFileName() + ".partial");
    try {
      Files.writeString(partial, page.get());
      Files.move(partial, target, StandardCopyOption.REPLACE_EXISTING);
    } catch (IOException e) {
      Files.deleteIfExists(partial);
      throw new IOException(REPORT + " " + file + " cannot be written: " + Errors.reason(e), e);
    }
  }
}
