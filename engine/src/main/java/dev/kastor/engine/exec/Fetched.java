package dev.kastor.engine.exec;

/** Listener to a run that is told of each value that was fetched as soon as it is there. */
@FunctionalInterface
public interface Fetched {
  /** Listener that does nothing. */
  Fetched NOBODY = (_, _) -> {};

  /**
   * Takes notice of a value.
   *
   * @param fetch its number among what was fetched
   * @param value held until this returns, and then as long as the results of the run
   */
  void there(int fetch, Value value);
}
