/** Uses the engine half alone. */
module example.engine {
  requires io.kvasir.engine;
}
