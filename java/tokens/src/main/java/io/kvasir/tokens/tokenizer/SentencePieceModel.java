package io.kvasir.tokens.tokenizer;

import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * The part of a SentencePiece model that decides how texts are divided: {@code ModelProto} of its
 * {@code sentencepiece_model.proto}. Immutable.
 *
 * @param pieces the tokens, by id
 * @param algorithm how texts are divided
 * @param unknown the id of what no piece covers
 */
record SentencePieceModel(List<Piece> pieces, Algorithm algorithm, int unknown) {

  // Fields of the messages, and the wire types of protobuf.
  private static final int MODEL_PIECE = 1;
  private static final int MODEL_TRAINER = 2;
  private static final int PIECE_TEXT = 1;
  private static final int PIECE_SCORE = 2;
  private static final int PIECE_KIND = 3;
  private static final int TRAINER_ALGORITHM = 3;
  private static final int TRAINER_UNKNOWN = 40;
  private static final int VARINT = 0;
  private static final int EIGHT_BYTES = 1;
  private static final int BYTES = 2;
  private static final int FOUR_BYTES = 5;

  private static final int MAX_PIECES = 1 << 20;
  private static final int MAX_VARINT_BITS = 64;

  /** How a model divides texts, by the number in its file. */
  enum Algorithm {
    /** The most probable division. */
    UNIGRAM,
    /** By merges of pairs. */
    BPE,
    /** By words, which no engine's models do. */
    WORD,
    /** By characters, which no engine's models do. */
    CHAR
  }

  /** What a piece is, by the number in the file. */
  enum Kind {
    /** A part of texts. */
    NORMAL,
    /** What stands for everything else. */
    UNKNOWN,
    /** A token that no text has, such as {@code <s>}. */
    CONTROL,
    /** A part of texts that is never divided. */
    USER_DEFINED,
    /** A byte of a character that has no piece. */
    BYTE,
    /** Not used. */
    UNUSED
  }

  /**
   * A token.
   *
   * @param text what it stands for, with {@code \u2581} for a space
   * @param score its rank among others: the higher, the earlier
   */
  record Piece(String text, float score, Kind kind) {}

  /** Copies the list. */
  SentencePieceModel {
    pieces = List.copyOf(pieces);
  }

  /** Whether a file of this beginning can be one: its first field is a piece. */
  static boolean begins(byte[] bytes) {
    return bytes[0] == (MODEL_PIECE << 3 | BYTES);
  }

  /**
   * Reads a model. O(bytes).
   *
   * @param file for messages
   * @param bytes its contents
   * @return the model
   * @throws TokenizerException if it is damaged
   */
  static SentencePieceModel read(Path file, byte[] bytes) throws TokenizerException {
    List<Piece> pieces = new ArrayList<>();
    Set<String> texts = new HashSet<>();
    int algorithm = 1;
    int unknown = 0;
    try {
      ByteBuffer in = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
      while (in.hasRemaining()) {
        int tag = number(in);
        if (tag == (MODEL_PIECE << 3 | BYTES)) {
          Piece piece = piece(part(in));
          if (!texts.add(piece.text()) || pieces.size() == MAX_PIECES) {
            throw new TokenizerException(
                file, "has piece '" + piece.text() + "' twice, or more than " + MAX_PIECES);
          }
          pieces.add(piece);
        } else if (tag == (MODEL_TRAINER << 3 | BYTES)) {
          ByteBuffer trainer = part(in);
          while (trainer.hasRemaining()) {
            int field = number(trainer);
            if (field == (TRAINER_ALGORITHM << 3 | VARINT)) {
              algorithm = number(trainer);
            } else if (field == (TRAINER_UNKNOWN << 3 | VARINT)) {
              unknown = number(trainer);
            } else {
              skip(trainer, field);
            }
          }
        } else {
          skip(in, tag);
        }
      }
    } catch (BufferUnderflowException | IllegalArgumentException e) {
      throw new TokenizerException(file, "is no SentencePiece model, or damaged", e);
    }
    if (algorithm < 1 || algorithm > Algorithm.values().length || unknown >= pieces.size()) {
      throw new TokenizerException(
          file, "has model type " + algorithm + " and unknown piece " + unknown);
    }
    return new SentencePieceModel(pieces, Algorithm.values()[algorithm - 1], unknown);
  }

  private static Piece piece(ByteBuffer in) {
    String text = "";
    float score = 0;
    Kind kind = Kind.NORMAL;
    while (in.hasRemaining()) {
      int field = number(in);
      if (field == (PIECE_TEXT << 3 | BYTES)) {
        text = StandardCharsets.UTF_8.decode(part(in)).toString();
      } else if (field == (PIECE_SCORE << 3 | FOUR_BYTES)) {
        score = in.getFloat();
      } else if (field == (PIECE_KIND << 3 | VARINT)) {
        kind = kind(number(in));
      } else {
        skip(in, field);
      }
    }
    return new Piece(text, score, kind);
  }

  private static Kind kind(int number) {
    return switch (number) {
      case 1 -> Kind.NORMAL;
      case 2 -> Kind.UNKNOWN;
      case 3 -> Kind.CONTROL;
      case 4 -> Kind.USER_DEFINED;
      case 5 -> Kind.UNUSED;
      case 6 -> Kind.BYTE;
      default -> throw new IllegalArgumentException("kind " + number);
    };
  }

  /** A number of 31 bits. */
  private static int number(ByteBuffer in) {
    long value = 0;
    for (int shift = 0; shift < MAX_VARINT_BITS; shift += 7) {
      byte next = in.get();
      value |= (next & 0x7fL) << shift;
      if (next >= 0) {
        if (value < 0 || value > Integer.MAX_VALUE) {
          return Integer.MAX_VALUE; // such as an id of -1, for a piece that is not there
        }
        return (int) value;
      }
    }
    throw new IllegalArgumentException("a number has no end");
  }

  private static ByteBuffer part(ByteBuffer in) {
    int length = number(in);
    if (length > in.remaining()) {
      throw new IllegalArgumentException("a field goes on behind the end");
    }
    ByteBuffer part = in.slice(in.position(), length).order(ByteOrder.LITTLE_ENDIAN);
    in.position(in.position() + length);
    return part;
  }

  private static void skip(ByteBuffer in, int tag) {
    switch (tag & 7) {
      case VARINT -> number(in);
      case EIGHT_BYTES -> in.getLong();
      case BYTES -> part(in);
      case FOUR_BYTES -> in.getInt();
      default -> throw new IllegalArgumentException("field of type " + (tag & 7));
    }
  }
}
