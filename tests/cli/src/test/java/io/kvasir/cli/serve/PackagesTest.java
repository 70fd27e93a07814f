package io.kvasir.cli.serve;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.kvasir.testing.harness.ChildProcess;
import io.kvasir.testing.harness.LongRuns;
import java.io.IOException;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The packages that {@code .ci/packages} makes answer a request where there is no JDK. Usually of
 * the jars that Maven has built for this run; {@code KVASIR_LONG=1} makes them as a release does,
 * twice.
 */
@Tag("process")
class PackagesTest {

  private static final Path ROOT =
      Path.of(System.getProperty("kvasir.root", "../..")).toAbsolutePath().normalize();
  private static final Pattern LAYER = Pattern.compile("\"([0-9a-f]{64}\\.tar\\.gz)\"");

  /** Runs a command in the folder as in a container: another user, and nothing can be written. */
  private static final String CONTAINED =
      """
      mkdir -p "$1/proc" "$1/dev"
      mount --bind "$1" "$1" && mount -o remount,bind,ro "$1" || exit 1
      mount --rbind /dev "$1/dev" && mount --rbind /proc "$1/proc" || exit 1
      root=$1
      shift
      exec chroot --userspec=65532:65532 "$root" "$@"
      """;

  @TempDir private static Path folder;
  private static Path packages;
  private static Path tools;

  @BeforeAll
  static void makePackages() throws Exception {
    assumeTrue(
        Files.isExecutable(Path.of(System.getProperty("java.home"), "bin/jlink")),
        "this JDK has no jlink");
    requireInstalled("dpkg-deb", "--version");
    requireInstalled("mvn", "--version");
    packages = folder.resolve("packages");
    make(packages);
    // What a package needs where it is called through a link, and no java.
    tools = Files.createDirectory(folder.resolve("tools"));
    for (String name : List.of("readlink", "dirname")) {
      Files.createSymbolicLink(tools.resolve(name), Path.of("/usr/bin", name));
    }
  }

  private static void make(Path into) throws Exception {
    List<String> command = new ArrayList<>(List.of(ROOT.resolve(".ci/packages").toString()));
    if (!LongRuns.on()) {
      command.add("--built");
    }
    command.add(into.toString());
    try (ChildProcess script =
        ChildProcess.start(".ci/packages", new ProcessBuilder(command).redirectErrorStream(true))) {
      assertThat(script.process().waitFor()).as(script.output()).isZero();
    }
  }

  private static Path made(String pattern) throws IOException {
    try (Stream<Path> files = Files.list(packages)) {
      return files.filter(file -> file.toString().matches(pattern)).findFirst().orElseThrow();
    }
  }

  @Test
  void theFolderOfTheTarAnswersAChat() throws Exception {
    Path unpacked = Files.createDirectory(folder.resolve("tar"));
    check("tar", "-xzf", made(".*-linux-\\w+\\.tar\\.gz").toString(), "-C", "" + unpacked);
    try (Stream<Path> folders = Files.list(unpacked)) {
      Path kvasir = folders.findFirst().orElseThrow().resolve("kvasir");
      answersAChat(List.of(kvasir.toString()));
    }
  }

  @Test
  void theDebianPackageAnswersAChat() throws Exception {
    String deb = made(".*\\.deb").toString();
    Path unpacked = folder.resolve("deb");
    check("dpkg-deb", "-x", deb, unpacked.toString());
    assertThat(check("dpkg-deb", "-f", deb)).contains("Package: kvasir\n", "libc6 (>= 2.");
    assertThat(check("dpkg-deb", "-I", deb, "conffiles"))
        .isEqualTo("/etc/kvasir/serve.yaml\n/etc/kvasir/serve.schema.json\n");
    String unit = Files.readString(unpacked.resolve("usr/lib/systemd/system/kvasir.service"));
    assertThat(unit).contains("ExecStart=/usr/bin/kvasir serve --config /etc/kvasir/serve.yaml\n");
    answersAChat(List.of(unpacked.resolve("usr/bin/kvasir").toString()));
  }

  @Test
  void theImageAnswersAChat() throws Exception {
    Path image = Files.createDirectory(folder.resolve("image"));
    check("tar", "-xf", made(".*-image\\.tar").toString(), "-C", image.toString());
    assertThat(Files.readString(image.resolve("config.json")))
        .contains("\"User\":\"65532:65532\"", "\"Entrypoint\":[\"/usr/lib/kvasir/kvasir\"]");
    Path root = Files.createDirectory(folder.resolve("image-root"));
    Matcher layers = LAYER.matcher(Files.readString(image.resolve("manifest.json")));
    while (layers.find()) {
      check("tar", "-xzf", image.resolve(layers.group(1)).toString(), "-C", root.toString());
    }
    check("chmod", "755", folder.toString());
    if (mayMount()) {
      String[] words = {"/usr/bin/unshare", "-m", "/bin/sh", "-c", CONTAINED, "sh"};
      List<String> command = new ArrayList<>(List.of(words));
      command.addAll(List.of(root.toString(), "/usr/lib/kvasir/kvasir"));
      answersAChat(command, "/usr/sbin:/usr/bin:/sbin:/bin");
    } else {
      answersAChat(List.of(root.resolve("usr/lib/kvasir/kvasir").toString()));
    }
  }

  @Test
  void twoRunsGiveTheSameBytes() throws Exception {
    assumeTrue(LongRuns.on(), "makes all packages a second time; KVASIR_LONG=1 does");
    Path again = folder.resolve("again");
    make(again);
    try (Stream<Path> files = Files.list(packages)) {
      for (Path file : files.toList()) {
        assertThat(again.resolve(file.getFileName())).hasSameBinaryContentAs(file);
      }
    }
  }

  @Test
  void aFullDiskLeavesNoPackage() throws Exception {
    assumeTrue(mayMount(), "only root can mount a small disk");
    Path small = Files.createDirectory(folder.resolve("small"));
    String script =
        "mount -t tmpfs -o size=9m tmpfs '%s' && '%s' --built '%s' 2>&1; echo code $?; ls -A '%s'"
            .formatted(small, ROOT.resolve(".ci/packages"), small, small);
    String output = check("unshare", "-m", "sh", "-c", script);
    assertThat(output).contains("No space left on device").endsWith("code 1\n");
  }

  @Test
  void wrongUseIsNamed() throws Exception {
    Path file = Files.createFile(folder.resolve("file"));
    assertThat(refusal(Map.of(), "--fast")).contains("unknown option '--fast'");
    assertThat(refusal(Map.of(), "a", "b")).contains("one folder for the packages, not 2: a b");
    assertThat(refusal(Map.of(), file.toString())).contains(file + "' cannot be made");
    assertThat(refusal(Map.of("JAVA_HOME", folder.toString()))).contains(folder + " has no jlink");
    assertThat(refusal(Map.of("SOURCE_DATE_EPOCH", "today"))).contains("1970, not 'today'");
  }

  private static String refusal(Map<String, String> variables, String... words) throws IOException {
    List<String> command = new ArrayList<>(List.of(ROOT.resolve(".ci/packages").toString()));
    command.addAll(List.of(words));
    Tools.Result result = Tools.run(folder, variables, command.toArray(String[]::new));
    assertThat(result.exitCode()).isEqualTo(1);
    return result.output();
  }

  private static boolean mayMount() throws IOException {
    try {
      return Tools.run(Path.of("."), Map.of(), "unshare", "-m", "mount", "--bind", "/", "/mnt")
              .exitCode()
          == 0;
    } catch (IOException e) {
      return false;
    }
  }

  private static void answersAChat(List<String> launcher) throws Exception {
    answersAChat(launcher, tools.toString());
  }

  private static void answersAChat(List<String> launcher, String path) throws Exception {
    List<String> command = new ArrayList<>(launcher);
    command.addAll(List.of("serve", "--port", "0", "--admin-port", "0", "--access-log", "none"));
    command.addAll(List.of("--drain-grace-seconds", "0"));
    ProcessBuilder builder = new ProcessBuilder(command).directory(folder.toFile());
    builder.environment().clear();
    builder.environment().put("PATH", path);
    builder.environment().put("KVASIR_JAVA_OPTIONS", "-XX:TieredStopAtLevel=1 -Xmx512m");
    try (ServingProcess gateway = ServingProcess.packaged(builder)) {
      assertThat(ServingProcess.get(gateway.adminUrl() + "/ready").statusCode()).isEqualTo(200);
      assertThat(ServingProcess.HTTP.send(gateway.chat(""), BodyHandlers.ofString()).body())
          .contains("\"choices\"");
      gateway.terminate();
      assertThat(gateway.exitCode()).as(gateway.output()).isZero();
    }
  }

  private static void requireInstalled(String... command) {
    try {
      Tools.Result unused = Tools.run(Path.of("."), Map.of(), command);
    } catch (IOException e) {
      assumeTrue(false, command[0] + " is not installed");
    }
  }

  private static String check(String... command) throws IOException {
    Tools.Result result = Tools.run(Path.of("."), Map.of(), command);
    assertThat(result.exitCode()).as(result.output()).isZero();
    return result.output();
  }
}
