package io.kvasir.gateway.events;

/** Passes everything on to another sink. As thread-safe as that one. */
class ForwardingSink implements BatchSink {

  private final BatchSink sink;

  ForwardingSink(BatchSink sink) {
    this.sink = sink;
  }

  @Override
  public boolean onBatch(long number, byte[] payload, boolean last) {
    return sink.onBatch(number, payload, last);
  }

  @Override
  public void onRestart() {
    sink.onRestart();
  }

  @Override
  public void recoverFrom(Feed feed) {
    sink.recoverFrom(feed);
  }

  @Override
  public void retry() {
    sink.retry();
  }

  @Override
  public void onProven(boolean proven) {
    sink.onProven(proven);
  }
}
