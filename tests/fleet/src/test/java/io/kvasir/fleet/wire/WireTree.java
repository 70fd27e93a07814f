package io.kvasir.fleet.wire;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.msgpack.core.ExtensionTypeHeader;
import org.msgpack.core.MessageFormat;
import org.msgpack.core.MessagePack;
import org.msgpack.core.MessagePackException;
import org.msgpack.core.MessageUnpacker;

/**
 * The values of a payload as a tree, by msgpack-core, as far as they can be read. A container whose
 * count is above the number of remaining bytes cannot.
 */
final class WireTree {

  private final MessageUnpacker unpacker;
  private final int length;
  private final List<Node> roots = new ArrayList<>();
  private boolean whole;

  private WireTree(byte[] payload) {
    this.unpacker = MessagePack.newDefaultUnpacker(payload);
    this.length = payload.length;
  }

  /** A value with its place in the payload. */
  static final class Node {
    final int from;
    int to;

    /** Where the content of a text begins. */
    int valueFrom;

    /** BigInteger, Double, String with one character a byte, byte[], a name for other scalars. */
    Object value;

    /** Elements, or keys and values in turn. */
    final List<Node> children = new ArrayList<>();

    /** As declared. */
    int count;

    boolean complete;

    Node(int from) {
      this.from = from;
    }

    boolean isArray() {
      return value == Kind.ARRAY;
    }

    boolean isMap() {
      return value == Kind.MAP;
    }

    boolean isNil() {
      return value == Kind.NIL;
    }

    /** How deep containers are nested. */
    int height() {
      int highest = 0;
      for (Node child : children) {
        highest = Math.max(highest, child.height());
      }
      return isArray() || isMap() ? highest + 1 : 0;
    }
  }

  private enum Kind {
    NIL,
    OTHER,
    ARRAY,
    MAP
  }

  static WireTree parse(byte[] payload) {
    WireTree tree = new WireTree(payload);
    try {
      tree.read(tree.roots);
      tree.whole = tree.at() == payload.length;
    } catch (IOException | MessagePackException e) {
      tree.whole = false;
    }
    return tree;
  }

  /** Null if not even its head can be read. */
  Node root() {
    return roots.isEmpty() ? null : roots.get(0);
  }

  /** Whether there is one value and nothing behind it. */
  boolean whole() {
    return whole;
  }

  private int at() {
    return (int) unpacker.getTotalReadBytes();
  }

  private void read(List<Node> siblings) throws IOException {
    Node node = new Node(at());
    MessageFormat format = unpacker.getNextFormat();
    switch (format.getValueType()) {
      case NIL -> {
        unpacker.unpackNil();
        node.value = Kind.NIL;
      }
      case BOOLEAN -> {
        unpacker.unpackBoolean();
        node.value = Kind.OTHER;
      }
      case INTEGER -> node.value = unpacker.unpackBigInteger();
      case FLOAT -> node.value = unpacker.unpackDouble();
      case STRING -> {
        int bytes = fitting(unpacker.unpackRawStringHeader());
        node.valueFrom = at();
        node.value = new String(unpacker.readPayload(bytes), StandardCharsets.ISO_8859_1);
      }
      case BINARY -> {
        int bytes = fitting(unpacker.unpackBinaryHeader());
        node.valueFrom = at();
        node.value = unpacker.readPayload(bytes);
      }
      case EXTENSION -> {
        ExtensionTypeHeader head = unpacker.unpackExtensionTypeHeader();
        unpacker.readPayload(fitting(head.getLength()));
        node.value = Kind.OTHER;
      }
      case ARRAY -> {
        node.value = Kind.ARRAY;
        node.count = fitting(unpacker.unpackArrayHeader());
        readChildren(siblings, node, node.count);
      }
      case MAP -> {
        node.value = Kind.MAP;
        node.count = unpacker.unpackMapHeader();
        readChildren(siblings, node, fitting(2L * node.count));
      }
    }
    node.to = at();
    node.complete = true;
    if (!node.isArray() && !node.isMap()) {
      siblings.add(node);
    }
  }

  private void readChildren(List<Node> siblings, Node node, int count) throws IOException {
    siblings.add(node);
    for (int i = 0; i < count; i++) {
      read(node.children);
    }
  }

  private int fitting(long count) throws IOException {
    if (count > length - at()) {
      throw new IOException("too short for " + count + " values");
    }
    return (int) count;
  }
}
