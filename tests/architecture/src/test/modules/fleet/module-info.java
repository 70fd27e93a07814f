/** Uses the fleet half alone. */
module example.fleet {
  requires io.kvasir.fleet;
}
