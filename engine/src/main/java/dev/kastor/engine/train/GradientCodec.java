package dev.kastor.engine.train;

/**
 * Codec of one replica's gradients, or of the changes of its parameters in rounds of local steps
 * ({@link SyncPolicy}): codes of few bytes stand for them between the replicas.
 *
 * <p>A code may leave a part of a gradient out. What is kept of that for later steps ({@link
 * ErrorFeedback}) belongs to the replica and to its process: it differs from replica to replica and
 * is in no checkpoint, so that a replica that joins has none. What {@link #encode} changes holds
 * after {@link #commit} alone: a step that is taken again has the same code. One thread uses it.
 */
public interface GradientCodec {
  /** Most bytes of a code, at least 1, the same on all replicas: more are never read. */
  long mostBytes();

  /**
   * The code of a gradient.
   *
   * @param gradient mean over the replica's share, all of it finite; stays as it is
   * @return 1 to {@link #mostBytes} bytes
   */
  byte[] encode(float[] gradient);

  /**
   * Adds what a code stands for, which is the same on all replicas.
   *
   * @param code of any replica, this one included
   * @param sum one number for each parameter
   * @throws IllegalArgumentException if the code is damaged; some of it may have been added
   */
  void decode(byte[] code, float[] sum);

  /** Keeps what the last code left out, now that its step was applied; once for each code. */
  void commit();
}
