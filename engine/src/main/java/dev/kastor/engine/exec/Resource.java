package dev.kastor.engine.exec;

/**
 * The name of something that outlives a run, such as a variable; its state belongs to a session.
 *
 * @param <S> the state
 */
public interface Resource<S> {
  /** The class of the state. */
  Class<S> kind();
}
