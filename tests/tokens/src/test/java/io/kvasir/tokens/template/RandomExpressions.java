package io.kvasir.tokens.template;

import java.util.Random;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** Writes random expressions; many are errors. */
final class RandomExpressions {

  /** The variables that expressions use. */
  static final String VARIABLES =
      """
      {"s": "Hello, wörld \\ud83d\\ude00!", "t": " two\\nlines\\t", "e": "", "n": 7, "m": -3,
       "big": 123456789012345678901234567890, "f": 2.5, "g": -0.1, "z": null, "yes": true,
       "l": [3, 1, 2], "w": ["b", "A", "c", "a"], "mixed": [1, "1", null, 2.0, true, [1]],
       "d": {"a": 1, "items": 2, "b": {"c": [1, 2]}, "A": "x"}, "empty": {},
       "ms": [{"role": "user", "content": "hi", "n": 2}, {"role": "tool", "content": null, "n": 1},
              {"role": "user", "content": ["x"], "k": "v"}]}
      """;

  private static final String[] ATOMS = {
    "s",
    "t",
    "e",
    "n",
    "m",
    "big",
    "f",
    "g",
    "z",
    "yes",
    "l",
    "w",
    "mixed",
    "d",
    "empty",
    "ms",
    "nothing",
    "0",
    "1",
    "2",
    "-1",
    "10",
    "3.0",
    "0.5",
    "1e20",
    "1e-7",
    "12345678901234567890",
    "'a'",
    "'b'",
    "''",
    "'A'",
    "' '",
    "'1'",
    "'0x1f'",
    "'2.5'",
    "'äß'",
    "'\\u00e9\\x41\\n'",
    "\"it's\"",
    "'items'",
    "'role'",
    "'b.c'",
    "'a,b'",
    "none",
    "true",
    "false",
    "[]",
    "()",
    "{}",
    "(1,)",
    "(1, 'a')",
    "{'a': 1, 'b': none}",
    "{1: 2, true: 3}",
    "['x', 'y']",
    "range(3)",
    "range(5, 0, -2)",
    "d.items()",
    "d.keys()",
    "d.values()",
    "namespace(a=1)",
    "dict(a=1)",
    "ms[0]",
    "'😀é'",
    "'%s-%d'",
    "1_000",
    "0x1F",
    "'\\t\\x7f\\u200b'",
    "'ǅ'",
    "'user'",
    "'hi there you'",
    "ms[2].content",
    "'\\\\'",
    "'inf'",
    "nothing.x"
  };
  private static final String[] BINARY = {
    "+", "-", "*", "/", "//", "%", "**", "~", "==", "!=", "<", "<=", ">", ">=", "in", "not in",
    "and", "or", "+", "~", "==", "in"
  };
  private static final String[] ATTRIBUTES = {
    "a", "b", "c", "items", "role", "content", "n", "0", "1", "real", "keys", "append", "upper",
    "start", "foo", "update", "_x"
  };
  private static final String[] FILTERS = {
    "upper",
    "lower",
    "title",
    "capitalize",
    "trim",
    "length",
    "count",
    "string",
    "int",
    "float",
    "abs",
    "round",
    "list",
    "first",
    "last",
    "reverse",
    "sort",
    "unique",
    "sum",
    "min",
    "max",
    "tojson",
    "items",
    "dictsort",
    "default",
    "join",
    "wordcount",
    "indent",
    "list|length",
    "safe",
    "e"
  };
  private static final String[] FILTERS_WITH = {
    "trim(#)",
    "replace(#, #)",
    "replace(#, #, #)",
    "join(#)",
    "join(', ', #)",
    "default(#)",
    "d(#, true)",
    "int(#)",
    "int(#, #)",
    "float(#)",
    "round(#)",
    "round(#, 'floor')",
    "round(1, 'ceil')",
    "list",
    "map('upper')|list",
    "map(attribute=#)|list",
    "map(attribute='n', default=#)|list",
    "map('int')|join",
    "map('default', #)|list",
    "select|list",
    "reject|list",
    "select('string')|list",
    "select(#)|list",
    "selectattr('role')|list",
    "selectattr('role', '==', #)|list",
    "rejectattr('n', 'gt', #)|list",
    "selectattr(#, 'defined')|list",
    "sort(reverse=true)",
    "sort(attribute=#)",
    "sort(case_sensitive=true)",
    "dictsort(true)",
    "dictsort(by='value')",
    "dictsort(reverse=true)",
    "unique(true)|list",
    "unique(attribute=#)|list",
    "reverse|list",
    "sum(start=#)",
    "sum(attribute=#)",
    "min(attribute='n')",
    "max(true)",
    "batch(2)|list",
    "batch(#, #)|list",
    "slice(2)|list",
    "slice(#, #)|list",
    "indent(#)",
    "indent(2, true)",
    "indent(1, true, true)",
    "tojson(indent=2)",
    "tojson(indent=#)",
    "tojson(sort_keys=true)",
    "tojson(separators=(',', ':'))",
    "tojson(ensure_ascii=true)",
    "truncate(#)",
    "truncate(9, true)",
    "truncate(8, false, '', 0)",
    "format(#)",
    "format(#, #)",
    "center(#)",
    "groupby('role')|list",
    "groupby(#)|list",
    "groupby('n', default=#)|list",
    "attr(#)",
    "items|list",
    "first|upper",
    "map('first')|list",
    "sort|join(',')",
    "length ** 2"
  };
  private static final String[] TESTS = {
    "defined",
    "undefined",
    "none",
    "string",
    "mapping",
    "sequence",
    "iterable",
    "number",
    "integer",
    "float",
    "boolean",
    "true",
    "false",
    "odd",
    "even",
    "divisibleby #",
    "eq #",
    "ne(#)",
    "lt #",
    "gt(#)",
    "in #",
    "lower",
    "upper",
    "callable",
    "filter",
    "test",
    "sameas none",
    "equalto(#)",
    "divisibleby(#)",
    "le #",
    "ge #",
    "escaped"
  };
  private static final String[] METHODS = {
    "strip()",
    "strip(#)",
    "lstrip(#)",
    "rstrip()",
    "split()",
    "split(#)",
    "split(#, #)",
    "split(none, #)",
    "split(maxsplit=#)",
    "rsplit(#, 1)",
    "rsplit(none, 1)",
    "splitlines()",
    "splitlines(true)",
    "startswith(#)",
    "endswith(#)",
    "startswith((#, #))",
    "startswith(#, #)",
    "endswith(#, #, #)",
    "upper()",
    "lower()",
    "title()",
    "capitalize()",
    "replace(#, #)",
    "replace(#, #, #)",
    "find(#)",
    "find(#, #)",
    "rfind(#)",
    "index(#)",
    "index(#, #)",
    "count(#)",
    "count(#, #)",
    "join(#)",
    "isdigit()",
    "isalpha()",
    "isalnum()",
    "isspace()",
    "islower()",
    "isupper()",
    "isdecimal()",
    "isascii()",
    "removeprefix(#)",
    "removesuffix(#)",
    "zfill(#)",
    "ljust(#)",
    "rjust(#, '*')",
    "center(#)",
    "partition(#)",
    "rpartition(#)",
    "items()",
    "keys()",
    "values()",
    "get(#)",
    "get(#, #)",
    "copy()",
    "append(#)",
    "pop()",
    "update(#)",
    "format(#)",
    "format(a=#)",
    "items()|list",
    "isprintable()"
  };

  private final Random random;

  RandomExpressions(Random random) {
    this.random = random;
  }

  private String one(String... choices) {
    return choices[random.nextInt(choices.length)];
  }

  /** An expression, nested at most so deep. */
  String expression(int depth) {
    if (depth == 0 || random.nextInt(8) == 0) {
      return one(ATOMS);
    }
    return switch (random.nextInt(16)) {
      case 0, 1, 2 -> "(" + next(depth) + " " + one(BINARY) + " " + next(depth) + ")";
      case 3 -> next(depth) + " " + one(BINARY) + " " + next(depth);
      case 4 -> next(depth) + "." + one(ATTRIBUTES);
      case 5 -> "(" + next(depth) + ")[" + next(depth) + "]";
      case 6 -> "(" + next(depth) + ")[" + slice(depth) + "]";
      case 7 -> "(" + next(depth) + ")|" + one(FILTERS);
      case 8, 9 -> "(" + next(depth) + ")|" + filled(one(FILTERS_WITH), depth);
      case 10 -> "(" + next(depth) + " is " + one("", "not ") + filled(one(TESTS), depth) + ")";
      case 11, 12 -> "(" + next(depth) + ")." + filled(one(METHODS), depth);
      case 13 -> "(" + next(depth) + " if " + next(depth) + one("", " else " + next(depth)) + ")";
      case 14 -> one("-", "+", "not ", "- ") + next(depth);
      default -> sequence(depth);
    };
  }

  private String next(int depth) {
    return expression(depth - 1);
  }

  private String filled(String form, int depth) {
    String text = form;
    while (text.indexOf('#') >= 0) {
      int at = text.indexOf('#');
      String argument = random.nextBoolean() ? one(ATOMS) : "(" + next(depth) + ")";
      text = text.substring(0, at) + argument + text.substring(at + 1);
    }
    return text;
  }

  private String slice(int depth) {
    String[] bounds = {"", "1", "-1", "2", "0", "n", "-2", "100", "z", next(depth)};
    return one(bounds) + ":" + one(bounds) + one("", "", ":", ":" + one("2", "-1", "-2", "0", "z"));
  }

  private String sequence(int depth) {
    String items =
        IntStream.range(0, random.nextInt(4))
            .mapToObj(i -> next(depth))
            .collect(Collectors.joining(", "));
    return switch (random.nextInt(3)) {
      case 0 -> "[" + items + "]";
      case 1 -> "(" + items + (items.isEmpty() ? "" : ",") + ")";
      default -> "{" + next(depth) + ": " + next(depth) + ", 'k': " + next(depth) + "}";
    };
  }
}
