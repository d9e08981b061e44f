package dev.kastor.agent.bench;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.engine.train.ServerPlan;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntToLongFunction;
import org.junit.jupiter.api.Test;

class SimulatedWorkersTest {
  private static final long MILLI = 1_000_000;

  private static List<SimulatedWorkers.Update> updates(
      ServerPlan plan, int workers, int count, IntToLongFunction nanos) {
    SimulatedWorkers simulated = new SimulatedWorkers(plan, workers, nanos);
    List<SimulatedWorkers.Update> updates = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      updates.add(simulated.next());
    }
    return updates;
  }

  @Test
  void aStepWithoutBackupWorkersTakesWhatTheSlowestTakes() {
    ServerPlan steps = new ServerPlan(1, false, 0, 0);
    assertThat(updates(steps, 4, 3, rank -> (rank + 1) * 10L * MILLI))
        .extracting(SimulatedWorkers.Update::nanos)
        .containsExactly(40 * MILLI, 80 * MILLI, 120 * MILLI);
  }

  @Test
  void aBackupWorkerComputesTheShareOfOneThatStandsStill() {
    ServerPlan steps = new ServerPlan(1, false, 1, 0);
    assertThat(updates(steps, 2, 3, rank -> rank == 0 ? 1000 * MILLI : 10 * MILLI))
        .extracting(SimulatedWorkers.Update::nanos)
        .containsExactly(10 * MILLI, 20 * MILLI, 30 * MILLI);
  }

  @Test
  void stalenessIsWhatTheOthersUpdatedMeanwhile() {
    ServerPlan asynchronous = new ServerPlan(1, true, 0, 0);
    List<SimulatedWorkers.Update> updates =
        updates(asynchronous, 2, 11, rank -> rank == 0 ? 101 * MILLI : 10 * MILLI);
    assertThat(updates.subList(0, 10))
        .extracting(SimulatedWorkers.Update::staleness)
        .containsOnly(0L);
    assertThat(updates.getLast()).isEqualTo(new SimulatedWorkers.Update(101 * MILLI, 10));
  }

  @Test
  void aBoundOfStalenessHolds() {
    ServerPlan asynchronous = new ServerPlan(1, true, 0, 3);
    assertThat(updates(asynchronous, 3, 100, rank -> rank == 0 ? 500 * MILLI : 10 * MILLI))
        .extracting(SimulatedWorkers.Update::staleness)
        .allMatch(staleness -> staleness <= 3);
  }
}
