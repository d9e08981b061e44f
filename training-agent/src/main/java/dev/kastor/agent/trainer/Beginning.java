package dev.kastor.agent.trainer;

import dev.kastor.engine.checkpoint.CheckpointStore;
import dev.kastor.engine.checkpoint.TrainedParameters;
import java.io.IOException;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * State from which a job goes on where no process has one: its newest checkpoint, or one made of
 * another job's parameters.
 *
 * @param warmStart whose parameters the job begins with; empty for fresh ones
 */
record Beginning(
    String job, Replica replica, Checkpoints checkpoints, Optional<WarmStart> warmStart) {
  private static final Logger log = LoggerFactory.getLogger(Beginning.class);

  /** It; empty where the job begins with fresh parameters. */
  Optional<CheckpointStore.Loaded> newest() throws IOException {
    Optional<CheckpointStore.Loaded> newest = checkpoints.newest();
    return newest.isEmpty() && warmStart.isPresent()
        ? Optional.of(begunWith(warmStart.get()))
        : newest;
  }

  /**
   * The job's first checkpoint, made of another job's parameters. It is saved at once, so that no
   * later start depends on what becomes of that job.
   */
  private CheckpointStore.Loaded begunWith(WarmStart other) throws IOException {
    TrainedParameters trained = other.read(replica.parameters(), replica.statistics());
    replica.startWith(trained);
    checkpoints.save(replica.state());
    log.info("{}: takes the parameters of job {} at step {}", job, other.job(), trained.step());
    return new CheckpointStore.Loaded(replica.step(), replica.state());
  }
}
