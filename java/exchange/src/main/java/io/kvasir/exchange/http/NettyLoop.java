package io.kvasir.exchange.http;

import io.kvasir.exchange.EventLoop;
import io.vertx.core.Context;
import io.vertx.core.internal.ContextInternal;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

/**
 * An event loop of Netty. Vert.x's own timers and tasks cost several times as much.
 *
 * @param netty the loop
 */
record NettyLoop(io.netty.channel.EventLoop netty) implements EventLoop {

  /**
   * The loop of a Vert.x context.
   *
   * @param context the context
   */
  NettyLoop(Context context) {
    this(((ContextInternal) context).nettyEventLoop());
  }

  @Override
  public void execute(Runnable action) {
    netty.execute(action);
  }

  @Override
  public Timer after(long delayMs, Runnable action) {
    Future<?> planned = netty.schedule(action, delayMs, TimeUnit.MILLISECONDS);
    return () -> planned.cancel(false);
  }
}
