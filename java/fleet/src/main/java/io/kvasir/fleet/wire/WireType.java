package io.kvasir.fleet.wire;

/** The types of MessagePack values. */
enum WireType {
  NIL,
  BOOLEAN,
  INTEGER,
  FLOAT,
  TEXT,
  BYTES,
  EXTENSION,
  ARRAY,
  MAP
}
