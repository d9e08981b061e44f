package dev.kastor.e2e.scale;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.crds.trainingjob.TrainingJob;
import dev.kastor.crds.trainingjob.TrainingJobStatus.Phase;
import dev.kastor.e2e.cluster.GpuWatch;
import dev.kastor.e2e.suite.Await;
import dev.kastor.e2e.suite.Progress;
import dev.kastor.e2e.suite.StopAtFailure;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Jobs come and end for some minutes while the operator is killed, the API server restarted, etcd
 * stalled and requests refused; then the faults stop and everything has to end well.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
@ExtendWith(StopAtFailure.class)
final class SoakScenario {
  private static final Duration PATIENCE = Duration.ofMinutes(5);
  private static final Duration BETWEEN_FAULTS = Duration.ofSeconds(Size.setting("between", 12));
  private static final long SEED = Size.setting("seed", 1);

  /** Jobs that are unfinished at any time, at most. */
  private static final int LIVE = Size.setting("live", 60);

  /** Jobs that have succeeded and are still there, at most; older ones are deleted. */
  private static final int KEPT = 100;

  private static final int MOST_REPLICAS = 2;

  /** Steps of the shortest job and those that the longest has more: 10 s to 40 s. */
  private static final int LEAST_STEPS = 500;

  private static final int MORE_STEPS = 1500;

  /** Between two moments of a cluster that has as many jobs at both. */
  private static final double MOST_GROWTH_MEBIBYTES = 8;

  private final KubernetesClient client = new KubernetesClientBuilder().build();
  private final Random random = new Random(SEED);
  private final Faults faults = new Faults();
  // Before whoever watches TrainingJobs: it brings their definition.
  private final Installed chart = new Installed(client, "summaryInterval=5s");
  private final JobsSeen seen = new JobsSeen(client);
  private final Submitted submitted = new Submitted(client, seen);
  private final GpuWatch gpus = new GpuWatch(client);
  private final Monotone monotone = new Monotone(client);
  private final MemoryLine resident = new MemoryLine();
  private final Map<String, Integer> done = new TreeMap<>();
  private final List<String> names = new ArrayList<>();
  private final Set<String> removed = new HashSet<>();
  private long calm;
  private final PlayedAgents agents =
      new PlayedAgents(client, job -> LEAST_STEPS + Math.floorMod(job.hashCode(), MORE_STEPS));
  private final FaultyLine line;
  private final OperatorProcess operator;

  SoakScenario() throws Exception {
    Config config = client.getConfiguration();
    line =
        new FaultyLine(
            URI.create(config.getMasterUrl()),
            Tls.trusting(OperatorProcess.authority()).getSocketFactory(),
            new Random(SEED));
    operator =
        new OperatorProcess(
            chart, config, line.url(), Size.heap(), Map.of("KASTOR_ROUND_INTERVAL", "5s"));
  }

  @BeforeAll
  void begin() throws Exception {
    Progress.say("seed %d, %d minutes".formatted(SEED, Size.minutes()));
    new PlayedNodes(client).make(Math.min(Size.nodes(), LIVE));
    submitted.makeTeams();
    operator.start();
    operator.awaitReady();
  }

  @AfterAll
  void end() throws Exception {
    agents.close();
    operator.close();
    line.close();
    gpus.close();
    monotone.close();
    seen.close();
    client.close();
  }

  @Test
  @Order(1)
  @DisplayName("jobs come and end while parts of the cluster fail")
  void soaks() throws Exception {
    long whole = Duration.ofMinutes(Size.minutes()).toNanos();
    long until = System.nanoTime() + whole;
    // From then on the operator is left alive, so that what it needs shows.
    calm = until - whole * 2 / 3;
    long half = until - whole / 2;
    double live = 0;
    FutureTask<Boolean> faulty = new FutureTask<>(() -> fail(until), true);
    Thread.ofVirtual().start(faulty);
    while (System.nanoTime() < until) {
      if (faulty.state() == Future.State.FAILED) {
        break;
      }
      submit();
      remove();
      operator.residentIfAlive().ifPresent(resident::add);
      if (live == 0 && System.nanoTime() > half) {
        live = operator.liveMebibytes();
      }
      Thread.sleep(500);
    }
    faulty.get();
    line.refuse(0);
    Progress.say(
        "%d jobs, %d ended; faults: %s; %d requests refused; agents' failed requests: %s; resident memory %s"
            .formatted(
                names.size(),
                seen.count(times -> times.ended),
                done,
                line.refused(),
                agents.failures(),
                resident));
    double more = operator.liveMebibytes() - live;
    Progress.say(
        "heap in use after a full collection: %.1f MiB at half-time, %+.1f MiB since"
            .formatted(live, more));
    assertThat(more).as("MiB that the heap in use has grown by").isLessThan(MOST_GROWTH_MEBIBYTES);
    assertThat(done).as("faults of every kind").hasSizeGreaterThanOrEqualTo(3);
  }

  @Test
  @Order(2)
  @DisplayName(
      "then every job succeeds, none is lost, and nothing went backwards or beyond what there is")
  void endsWell() throws Exception {
    Await.until(
        "all jobs have succeeded",
        PATIENCE,
        () -> seen.phases() + " " + agents.failures(),
        () -> operator.alive() && seen.in(Phase.Succeeded) == names.size() - removed.size());
    assertThat(gpus.most().values())
        .as("GPUs of a node in use")
        .allMatch(most -> most.gpus() <= PlayedNodes.GPUS);
    assertThat(monotone.violations()).as("what went backwards").isEmpty();
    seen.jobs().forEach(SoakScenario::assertNeverRestarted);
  }

  @Test
  @Order(3)
  @DisplayName("jobs that are deleted leave nothing behind")
  void leavesNothing() throws Exception {
    submitted.clear(PATIENCE);
    assertThat(gpus.taken()).isZero();
  }

  private void submit() throws InterruptedException {
    long unfinished = names.size() - removed.size() - seen.count(times -> times.ended);
    for (long i = unfinished; i < LIVE; i++) {
      TrainingJob job = Submitted.job("soak", names.size(), 1 + names.size() % MOST_REPLICAS);
      Patiently.until(() -> submitted.create(job));
      names.add(Submitted.name(job));
    }
  }

  private void remove() throws InterruptedException {
    List<TrainingJob> done =
        seen.jobs().stream()
            .filter(job -> job.getStatus() != null && job.getStatus().phase() == Phase.Succeeded)
            .filter(job -> !removed.contains(Submitted.name(job)))
            .sorted(Comparator.comparing(job -> job.getMetadata().getName()))
            .toList();
    for (TrainingJob job : done.subList(0, Math.max(0, done.size() - KEPT))) {
      assertNeverRestarted(job);
      Patiently.until(() -> client.resource(job).delete());
      removed.add(Submitted.name(job));
    }
  }

  private static void assertNeverRestarted(TrainingJob job) {
    assertThat(job.getStatus().restarts()).as(Submitted.name(job)).isIn(null, 0);
  }

  /** One fault after the other until the time is up. */
  private void fail(long until) {
    try {
      while (System.nanoTime() < until - BETWEEN_FAULTS.toNanos()) {
        Thread.sleep(BETWEEN_FAULTS);
        String fault = failOnce();
        Progress.say("fault: " + fault);
        done.merge(fault, 1, Integer::sum);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (Exception e) {
      throw new IllegalStateException("a fault could not be made", e);
    }
  }

  private String failOnce() throws Exception {
    int drawn = random.nextInt(5);
    return switch (drawn == 0 && System.nanoTime() > calm ? 4 : drawn) {
      case 0 -> {
        operator.kill();
        operator.start();
        yield "operator killed";
      }
      case 1 -> {
        faults.restart("kube-apiserver", Duration.ofSeconds(2));
        yield "API server restarted";
      }
      case 2 -> {
        faults.pause("etcd", Duration.ofSeconds(3));
        yield "etcd stalled";
      }
      default -> {
        line.refuse(0.3);
        Thread.sleep(Duration.ofSeconds(8));
        line.refuse(0);
        yield "requests refused";
      }
    };
  }
}
