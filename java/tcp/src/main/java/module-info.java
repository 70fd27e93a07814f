/** Lock-step over TCP: the processes of a worker, as members that authenticate each other. */
module io.kvasir.tcp {
  requires transitive io.kvasir.engine;
  requires org.slf4j;

  exports io.kvasir.tcp;
}
