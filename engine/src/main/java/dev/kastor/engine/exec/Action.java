package dev.kastor.engine.exec;

import dev.kastor.engine.graph.Effect;
import java.util.List;

/** An effect that knows how to take place. */
public interface Action extends Effect {
  /**
   * Takes place once.
   *
   * @param inputs held by the caller until this returns
   * @return a held value for each result
   * @throws InterruptedException if the run ends early while this waits
   */
  List<Value> run(List<Value> inputs, Surroundings surroundings) throws InterruptedException;

  /** Whether it may wait for something outside the run, so that it has a thread of its own. */
  default boolean waits() {
    return false;
  }
}
