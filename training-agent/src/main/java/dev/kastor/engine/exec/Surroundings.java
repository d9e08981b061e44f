package dev.kastor.engine.exec;

import java.util.function.Supplier;

/** What an action can reach. */
public interface Surroundings {
  /** Where results are allocated. */
  Memory memory();

  /**
   * The session's state of a resource, made when it is first asked for.
   *
   * @param resource its name: equal resources share their state
   */
  <S> S state(Resource<S> resource, Supplier<S> first);
}
