package io.kvasir.gateway.proxy;

import io.kvasir.fleet.router.legs.Leg;
import io.kvasir.gateway.disagg.LegBody;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The path of a request that one worker serves. Its answer still counts in its conversation.
 *
 * <p>Confined to the request's event loop.
 */
final class OneLeg implements FirstLeg {

  private final Answering answering;
  private final EarlierAnswer earlier;

  OneLeg(Answering answering, EarlierAnswer earlier) {
    this.answering = answering;
    this.earlier = earlier;
  }

  @Override
  public void place() {
    answering.place(Leg.WHOLE, null);
  }

  @Override
  public LegBody body() {
    return LegBody.WHOLE;
  }

  @Override
  public void onSent(ChosenTarget to) {
    earlier.begin();
  }

  @Override
  public @Nullable Consumer<String> onParams(ChosenTarget from) {
    return earlier.receiver(from, false);
  }

  @Override
  public void onBegun() {}

  @Override
  public void onFailed(boolean sent) {}

  @Override
  public boolean losesTransfer() {
    return false;
  }

  @Override
  public void onServed() {
    earlier.onServed();
  }

  @Override
  public void onAlive() {}

  @Override
  public void onOver() {
    earlier.onOver();
  }
}
