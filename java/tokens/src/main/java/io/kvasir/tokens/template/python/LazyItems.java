package io.kvasir.tokens.template.python;

import java.util.Iterator;
import java.util.NoSuchElementException;

/** Items that are computed when they are asked for. Not thread-safe. */
public abstract class LazyItems implements Iterator<Object> {

  private Object next = Missing.MISSING;
  private boolean ended;

  /** The next item, {@link Missing} at the end. */
  protected abstract Object compute();

  @Override
  public boolean hasNext() {
    if (next == Missing.MISSING && !ended) {
      next = compute();
      ended = next == Missing.MISSING;
    }
    return !ended;
  }

  @Override
  public Object next() {
    if (!hasNext()) {
      throw new NoSuchElementException();
    }
    Object item = next;
    next = Missing.MISSING;
    return item;
  }
}
