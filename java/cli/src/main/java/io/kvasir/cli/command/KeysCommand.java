package io.kvasir.cli.command;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kvasir.cli.option.Declared;
import io.kvasir.cli.option.DeclaredOptions;
import io.kvasir.cli.option.FormatOption;
import io.kvasir.cli.option.UsageException;
import io.kvasir.cli.option.Values;
import io.kvasir.cli.terminal.Console;
import io.kvasir.cli.terminal.ExitCode;
import io.kvasir.gateway.keys.ClientKey;
import io.kvasir.gateway.keys.IssuedKey;
import io.kvasir.gateway.keys.KeyFile;
import io.kvasir.gateway.keys.KeyLimits;
import io.kvasir.model.Errors;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** {@code kvasir keys}: lists and changes the file of a gateway's API keys. */
@Command(
    name = "keys",
    sortOptions = false,
    abbreviateSynopsis = true,
    description = {
      "Lists and changes the API keys in the file of 'kvasir serve --api-keys-file'. 'add' prints a"
          + " new key, once: the file has only its SHA-256. A running gateway reads the file again"
          + " at SIGHUP.",
      ""
    },
    footer = {
      "",
      "Exit codes: 0 done, 1 the file does not have the key, has the name already, or cannot be"
          + " written, 2 wrong usage or file."
    })
final class KeysCommand extends DeclaredOptions implements Callable<Integer> {

  private static final String FILE = "--file";
  private static final String NAME = "--name";
  private static final String TENANT = "--tenant";
  private static final String MODELS = "--models";
  private static final String SALT = "--cache-salt";
  private static final String KEY = "KEY";
  private static final int MOST = Integer.MAX_VALUE;
  private static final int MAX_CONCURRENT = 1 << 20;
  private static final int MAX_PRIORITY = 1_000;

  private final Console console;

  enum Verb {
    LIST,
    ADD,
    REVOKE
  }

  @Parameters(
      index = "0",
      arity = "0..1",
      paramLabel = "list|add|revoke",
      defaultValue = "list",
      description = "What to do (default: ${DEFAULT-VALUE}).")
  private String verb;

  @Parameters(
      index = "1",
      arity = "0..1",
      paramLabel = KEY,
      description = "For 'revoke': the key's id or name, as 'list' shows them.")
  private @Nullable String key;

  private final Declared<Path> file =
      path(FILE).help(1, "The file of keys; 'add' makes it if it is missing.");

  private final Declared<String> name =
      option(NAME, "NAME", null, text -> named(NAME, text))
          .help(2, "Whose the new key is, in logs.");

  private final Declared<String> tenant =
      option(TENANT, "NAME", null, text -> named(TENANT, text))
          .help(
              3,
              "Those whose keys count together in metrics and share cached blocks (default: NAME of --name).");

  private final Declared<List<String>> models =
      list(MODELS, "MODEL[,MODEL]", null, KeysCommand::model)
          .help(4, "Models that the key may use (default: all).");

  private final Declared<Integer> requests =
      integer("--requests-per-minute", null, 1, MOST)
          .help(5, "Most requests in any 60 s (default: no limit).");

  private final Declared<Integer> tokens =
      integer("--tokens-per-minute", null, 1, MOST)
          .help(6, "Most tokens of prompts and answers in any 60 s (default: no limit).");

  private final Declared<Integer> concurrent =
      integer("--max-concurrent", null, 1, MAX_CONCURRENT)
          .help(7, "Most requests at a time (default: no limit).");

  private final Declared<Integer> priority =
      integer("--priority", null, -MAX_PRIORITY, MAX_PRIORITY)
          .help(
              8,
              "Class of its requests, as of x-kvasir-priority, which can only lower it (default: 0).");

  private final Declared<Boolean> salt =
      flag(SALT, "false")
          .help(9, "Whether the tenant's cached blocks are apart from those of others");

  @Mixin private FormatOption format;

  KeysCommand(Console console) {
    this.console = console;
  }

  private static String named(String option, String text) {
    if (!KeyFile.isName(text)) {
      throw new UsageException(option, KeyFile.nameRule() + ", not '" + Errors.shown(text) + "'");
    }
    return text;
  }

  private static String model(String text) {
    if (!KeyFile.isModel(text.strip())) {
      throw new UsageException(MODELS, "must be names of models, not '" + Errors.shown(text) + "'");
    }
    return text.strip();
  }

  @Override
  public Integer call() throws Exception {
    Verb what = Values.choice("the first word", verb, Verb.class);
    if (!file.isGiven()) {
      throw new UsageException(FILE, "is missing");
    }
    Path path = file.value();
    if (what != Verb.ADD) {
      refuseOptionsOfAdd();
    }
    if ((what == Verb.REVOKE) != (key != null)) {
      throw new UsageException(
          KEY, key == null ? "is missing: revoke needs one" : "has no effect with " + verb);
    }
    return switch (what) {
      case LIST -> {
        show(read(path));
        yield ExitCode.DONE;
      }
      case ADD -> add(path);
      case REVOKE -> {
        List<ClientKey> unused = read(path);
        yield revoke(path);
      }
    };
  }

  private void refuseOptionsOfAdd() {
    for (Declared<?> option :
        List.<Declared<?>>of(name, tenant, models, requests, tokens, concurrent, priority, salt)) {
      if (option.isGiven() && !"false".equals(option.text())) {
        throw option.wrong("has no effect with " + verb);
      }
    }
  }

  private static List<ClientKey> read(Path path) {
    try {
      return KeyFile.read(path);
    } catch (IOException | IllegalArgumentException e) {
      throw new UsageException(FILE, "is wrong: " + Errors.reason(e));
    }
  }

  private int add(Path path) throws IOException, Console.OutputException {
    if (!name.isGiven()) {
      throw new UsageException(NAME, "is missing: add needs one");
    }
    if (Files.exists(path)) {
      List<ClientKey> unused = read(path);
    }
    IssuedKey issued = IssuedKey.next(new SecureRandom());
    String whose = name.value();
    KeyLimits limits =
        new KeyLimits(
            models.orElse(List.of()),
            requests.orElse(0),
            tokens.orElse(0),
            concurrent.orElse(0),
            priority.orElse(0));
    ClientKey unsalted =
        new ClientKey(issued.id(), issued.sha256(), whose, tenant.orElse(whose), limits, null);
    boolean salted = salt.value(); // with this, all options are checked
    List<ClientKey> added = new ArrayList<>();
    KeyFile.update(path, keys -> with(keys, unsalted, salted, added));
    if (added.isEmpty()) {
      console.note(
          "the file has a key of " + whose + " already: revoke it, or choose another name");
      return ExitCode.FAILED;
    }
    if (format.isText()) {
      console.print(issued.text() + "\n");
    } else {
      console.print(json(added.get(0)).put("key", issued.text()) + "\n");
    }
    return ExitCode.DONE;
  }

  /** The keys and a new one, which is added to a list; null if one has its name. */
  private static @Nullable List<ClientKey> with(
      List<ClientKey> keys, ClientKey unsalted, boolean salted, List<ClientKey> added) {
    if (keys.stream().anyMatch(each -> each.name().equals(unsalted.name()))) {
      return null;
    }
    added.add(
        new ClientKey(
            unsalted.id(),
            unsalted.sha256(),
            unsalted.name(),
            unsalted.tenant(),
            unsalted.limits(),
            salt(keys, unsalted.tenant(), salted)));
    List<ClientKey> all = new ArrayList<>(keys);
    all.addAll(added);
    return all;
  }

  /** The salt of a tenant: that of its other keys, or a new one. */
  private static @Nullable String salt(List<ClientKey> keys, String of, boolean salted) {
    for (ClientKey each : keys) {
      if (each.tenant().equals(of)) {
        if (salted && each.cacheSalt() == null) {
          throw new UsageException(SALT, "must be false, as with the other keys of tenant " + of);
        }
        return each.cacheSalt();
      }
    }
    return salted ? IssuedKey.secret(new SecureRandom()) : null;
  }

  private int revoke(Path path) throws IOException {
    AtomicBoolean found = new AtomicBoolean();
    KeyFile.update(
        path,
        keys -> {
          List<ClientKey> left =
              keys.stream()
                  .filter(each -> !each.id().equals(key) && !each.name().equals(key))
                  .toList();
          found.set(left.size() < keys.size());
          return found.get() ? left : null;
        });
    if (!found.get()) {
      console.note("there is no key '" + Errors.shown(key) + "'");
      return ExitCode.FAILED;
    }
    return ExitCode.DONE;
  }

  private void show(List<ClientKey> keys) throws Console.OutputException {
    if (!format.isText()) {
      ArrayNode all = JsonNodeFactory.instance.arrayNode();
      keys.forEach(each -> all.add(json(each)));
      console.print(all + "\n");
      return;
    }
    StringBuilder text =
        new StringBuilder(line("id", "name", "tenant", "requests", "tokens", "at once", "models"));
    for (ClientKey each : keys) {
      KeyLimits limits = each.limits();
      text.append(
          line(
              each.id(),
              each.name(),
              each.tenant(),
              limit(limits.requestsPerMinute()),
              limit(limits.tokensPerMinute()),
              limit(limits.maxConcurrent()),
              limits.models().isEmpty() ? "all" : String.join(",", limits.models())));
    }
    console.print(text.toString());
  }

  private static String limit(long value) {
    return value == 0 ? "-" : Long.toString(value);
  }

  private static String line(Object... cells) {
    return String.format(Locale.ROOT, "%-12s  %-20s  %-20s %9s %11s %8s  %s%n", cells);
  }

  /** A key without its digest and its salt. */
  private static ObjectNode json(ClientKey key) {
    ObjectNode json = JsonNodeFactory.instance.objectNode();
    KeyLimits limits = key.limits();
    json.put("id", key.id()).put("name", key.name()).put("tenant", key.tenant());
    ArrayNode models = json.putArray("models");
    limits.models().forEach(models::add);
    return json.put("requests_per_minute", limits.requestsPerMinute())
        .put("tokens_per_minute", limits.tokensPerMinute())
        .put("max_concurrent", limits.maxConcurrent())
        .put("priority", limits.priority())
        .put("cache_salt", key.cacheSalt() != null);
  }
}
