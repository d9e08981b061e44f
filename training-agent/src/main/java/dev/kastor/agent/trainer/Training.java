package dev.kastor.agent.trainer;

import dev.kastor.protocol.Outcome;
import java.io.IOException;

/** Part of a process in the training of a job, until the job or its part in it ends. */
public interface Training extends AutoCloseable {
  /** Pays what the first pass would pay, so that others do not wait for us. */
  void warmUp(int atomicBatchSize);

  /** Asks for a checkpoint soon, should we be who saves them; from any thread. */
  void saveSoon();

  /**
   * Trains to the end.
   *
   * @return how it ended
   * @throws IOException if this process cannot go on but another might
   */
  Outcome run() throws IOException, InterruptedException;

  /** Waits for a checkpoint that is being saved. */
  @Override
  void close();
}
