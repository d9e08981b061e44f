package dev.kastor.engine.checkpoint;

import java.nio.file.Path;
import java.time.InstantSource;

/** A process that saves checkpoints until it is killed. */
public final class KilledWriter {
  private KilledWriter() {}

  /**
   * Saves steps 1, 2, … without end, printing each once it is durable.
   *
   * @param args the directory
   */
  public static void main(String[] args) throws Exception {
    CheckpointStore store =
        new CheckpointStore(Path.of(args[0]), "uid-1", 3, InstantSource.system());
    for (long step = 1; ; step++) {
      store.save(States.random(step, 200_000));
      System.out.println(step);
    }
  }
}
