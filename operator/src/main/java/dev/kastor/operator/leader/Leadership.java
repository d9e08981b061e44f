package dev.kastor.operator.leader;

import dev.kastor.operator.config.OperatorConfig;
import dev.kastor.operator.leader.Election.Standing;
import dev.kastor.operator.signal.Mandate;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import io.fabric8.kubernetes.client.vertx.VertxHttpClientFactory;
import jakarta.inject.Singleton;
import java.time.InstantSource;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Takes part in the election and acts on what comes out of it: the first time the lease is ours
 * everything starts, when it is another's the process ends at once.
 */
@Singleton
public final class Leadership {
  private static final Logger LOG = LoggerFactory.getLogger(Leadership.class);
  private static final double JITTER = 0.2;
  private static final int EXIT_LOST = 75;

  private final OperatorConfig.LeaderElection config;
  private final Config kubernetes;
  private final KubernetesSerialization serialization;
  private final Mandate mandate;
  private final InstantSource clock;
  private final Object turn = new Object();
  private @Nullable Candidate candidate;
  private volatile boolean stopped;

  private record Candidate(
      KubernetesClient client,
      Election election,
      LeaderLabel label,
      StandbyMove move,
      Timings timings) {}

  public Leadership(
      OperatorConfig config,
      Config kubernetes,
      KubernetesSerialization serialization,
      Mandate mandate,
      InstantSource clock) {
    this.config = config.leaderElection();
    this.kubernetes = kubernetes;
    this.serialization = serialization;
    this.mandate = mandate;
    this.clock = clock;
  }

  /** Whether there is an election at all; without, this operator is taken to be the only one. */
  public boolean contested() {
    return config.enabled();
  }

  /** Leads without an election. */
  public void take() {
    mandate.forever(clock.instant());
  }

  /**
   * Stands for election until the process ends.
   *
   * @param lead called once, in a thread of its own, when the lease is ours
   * @param nodes the nodes that are ready and not cordoned, as of now
   * @throws IllegalArgumentException if the times do not fit together
   */
  public void stand(Runnable lead, Supplier<List<Node>> nodes) throws InterruptedException {
    Candidate own = candidate(nodes);
    candidate = own;
    own.label().drop();
    Standing before = Standing.STANDBY;
    LOG.info("stands by for lease {}", config.leaseName());
    while (!stopped) {
      Standing now = turn(own, before);
      if (now == Standing.LOST) {
        end();
      }
      if (now == Standing.STANDBY && !stopped) {
        own.move().look(own.election().holder());
      }
      if (now == Standing.LEADING) {
        boolean first = !mandate.leads();
        mandate.extend(own.election().writeUntil(), clock.instant());
        if (first) {
          Thread.ofPlatform().daemon().name("lead").start(lead);
        }
        own.label().take();
      }
      before = now;
      double wait = own.timings().retry().toMillis();
      Thread.sleep((long) (wait * ThreadLocalRandom.current().nextDouble(1 - JITTER, 1 + JITTER)));
    }
  }

  /** Writes no more and lets the next one lead. */
  public void resign() {
    stopped = true;
    mandate.end();
    Candidate own = candidate;
    if (own == null) {
      return;
    }
    synchronized (turn) {
      own.label().drop();
      try {
        own.election().release();
      } catch (KubernetesClientException e) {
        LOG.warn("the lease could not be given back: {}", e.getMessage());
      }
    }
  }

  private Standing turn(Candidate own, Standing before) {
    synchronized (turn) {
      if (stopped) {
        return Standing.STANDBY;
      }
      Standing now;
      try {
        now = own.election().attempt();
      } catch (KubernetesClientException e) {
        now = own.election().standing();
        LOG.debug("lease {}: {}", config.leaseName(), e.getMessage());
      }
      if (now != before) {
        LOG.info("lease {}: {} -> {}", config.leaseName(), before, now);
      }
      if (now == Standing.ADRIFT && before != Standing.ADRIFT) {
        LOG.warn(
            "lease {} could not be renewed: agents are answered, nothing is written",
            config.leaseName());
      }
      return now;
    }
  }

  /** What we remember may be old news by now, and a write under way must not follow: no goodbye. */
  private void end() {
    mandate.end();
    LOG.error("lease {} is another's: this process ends at once", config.leaseName());
    Runtime.getRuntime().halt(EXIT_LOST);
  }

  private Candidate candidate(Supplier<List<Node>> nodes) {
    Timings timings =
        new Timings(config.leaseDuration(), config.renewDeadline(), config.retryPeriod());
    KubernetesClient client =
        new KubernetesClientBuilder()
            // With threads of its own: thousands of events of jobs and pods must not hold it up.
            .withHttpClientFactory(new VertxHttpClientFactory())
            .withConfig(kubernetes)
            .withKubernetesSerialization(serialization)
            .build();
    String own = client.getNamespace();
    String namespace = own == null ? "default" : own;
    String identity = config.podName().orElseGet(() -> "kastor-" + UUID.randomUUID());
    return new Candidate(
        client,
        new Election(
            new KubernetesLease(client, namespace, config.leaseName(), clock),
            identity,
            timings,
            System::nanoTime),
        new LeaderLabel(client, namespace, config.podName()),
        new StandbyMove(client, namespace, config.podName(), nodes, clock),
        timings);
  }
}
