package dev.kastor.scheduler.policy.replay;

import dev.kastor.scheduler.live.LiveCluster;
import dev.kastor.scheduler.policy.PolicyFactory;
import dev.kastor.scheduler.whatif.Answer;
import dev.kastor.scheduler.whatif.OverdueException;
import dev.kastor.scheduler.whatif.Supposition;
import java.time.Duration;
import java.util.List;
import java.util.function.BiFunction;
import java.util.function.BooleanSupplier;

/**
 * Replayer of the future of live clusters, a service that {@link java.util.ServiceLoader} finds.
 * Stateless; a replay runs in the thread that asks.
 */
public interface Replayer {
  /**
   * Replays a cluster without and with changes.
   *
   * @param policies makes policies by name and seed
   * @param unknown how long a job trains with its fewest replicas of which nobody knows it
   * @param overdue whether to give up; asked at each decision of a replay
   * @throws IllegalArgumentException if a change, or a policy, names what there is not
   * @throws OverdueException if {@code overdue} said so
   */
  Answer answer(
      LiveCluster cluster,
      List<Supposition> suppositions,
      BiFunction<String, Long, PolicyFactory> policies,
      Duration unknown,
      BooleanSupplier overdue);
}
