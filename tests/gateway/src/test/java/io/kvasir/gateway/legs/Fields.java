package io.kvasir.gateway.legs;

import com.fasterxml.jackson.databind.JsonNode;
import java.math.BigInteger;
import java.util.HashSet;
import java.util.Iterator;
import java.util.Set;
import java.util.function.Predicate;

/** Checks the members of a JSON object: name, type, range, and that there are no others. */
final class Fields {

  static final Rule NULL = new Rule("null", JsonNode::isNull);
  static final Rule TEXT =
      new Rule("a text", value -> value.isTextual() && !value.textValue().isEmpty());
  static final Rule FLAG = new Rule("true or false", JsonNode::isBoolean);
  static final Rule TRUE = new Rule("true", value -> value.isBoolean() && value.booleanValue());
  static final Rule FALSE = new Rule("false", value -> value.isBoolean() && !value.booleanValue());
  static final Rule OBJECT = new Rule("an object", JsonNode::isObject);
  static final Rule NUMBER = new Rule("a number", JsonNode::isNumber);

  private final String where;
  private final JsonNode node;
  private final Set<String> checked = new HashSet<>();

  /** What a value must be. */
  record Rule(String words, Predicate<JsonNode> holds) {

    Rule or(Rule other) {
      return new Rule(words + " or " + other.words, holds.or(other.holds));
    }
  }

  private Fields(String where, JsonNode node) {
    this.where = where;
    this.node = node;
  }

  static Fields of(String where, JsonNode node) {
    if (!node.isObject()) {
      throw Refused.field(where + " is no object: " + node);
    }
    return new Fields(where, node);
  }

  /** An integer, written as one, within these bounds. */
  static Rule integer(long min, long max) {
    BigInteger low = BigInteger.valueOf(min);
    BigInteger high = BigInteger.valueOf(max);
    return new Rule(
        "an integer from " + min + " to " + max,
        value ->
            value.isIntegralNumber()
                && value.bigIntegerValue().compareTo(low) >= 0
                && value.bigIntegerValue().compareTo(high) <= 0);
  }

  static Rule equal(JsonNode expected) {
    return new Rule(expected.toString(), expected::equals);
  }

  static Rule text(String expected) {
    return new Rule("\"" + expected + "\"", value -> expected.equals(value.textValue()));
  }

  /** An array, not empty, whose elements all follow a rule. */
  static Rule each(Rule rule) {
    return new Rule("an array, each " + rule.words, value -> allHold(rule, value));
  }

  private static boolean allHold(Rule rule, JsonNode value) {
    boolean holds = value.isArray() && !value.isEmpty();
    for (JsonNode element : value) {
      holds &= rule.holds.test(element);
    }
    return holds;
  }

  /** A member that must be there. */
  Fields need(String name, Rule rule) {
    if (!node.has(name)) {
      throw Refused.field(where + " lacks " + name);
    }
    return may(name, rule);
  }

  /** A member that may be there. */
  Fields may(String name, Rule rule) {
    checked.add(name);
    JsonNode value = node.get(name);
    if (value != null && !rule.holds.test(value)) {
      throw Refused.field(where + "." + name + " must be " + rule.words + ", is " + value);
    }
    return this;
  }

  /** There are no other members. */
  void end() {
    for (Iterator<String> names = node.fieldNames(); names.hasNext(); ) {
      String name = names.next();
      if (!checked.contains(name)) {
        throw Refused.field(where + " has the unknown member " + name);
      }
    }
  }
}
