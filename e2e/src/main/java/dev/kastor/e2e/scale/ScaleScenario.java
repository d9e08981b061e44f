package dev.kastor.e2e.scale;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.crds.trainingjob.TrainingJobStatus.Phase;
import dev.kastor.e2e.suite.Await;
import dev.kastor.e2e.suite.Progress;
import dev.kastor.e2e.suite.StopAtFailure;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
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
 * Thousands of jobs come at once to a cluster of thousands of nodes; then all of them train, their
 * agents report, and more jobs come one by one.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
@ExtendWith(StopAtFailure.class)
final class ScaleScenario {
  private static final Duration PATIENCE = Duration.ofMinutes(Size.setting("patience", 10));
  private static final int MOST_RESIDENT_MEBIBYTES = 1536;

  /** Summaries come every 30 s or less often: over less than that, jobs would count unequally. */
  private static final Duration STEADY = Duration.ofSeconds(Size.setting("steady", 60));

  private static final int ARRIVALS = Size.setting("arrivals", 200);
  private static final long ENDLESS = 1_000_000;
  private static final Duration CATCH_UP = Duration.ofSeconds(15);
  private static final Duration BETWEEN_ARRIVALS = Duration.ofMillis(200);

  /** The longest that one late job in a hundred waits where the machine is quick. */
  private static final double DECIDED_SECONDS = 1;

  /**
   * The same in times of a round over all jobs in the same run, which is what a busy machine makes
   * long: less than the rest of one round and a whole one, so that nobody waits for the next.
   */
  private static final double DECIDED_ROUNDS = 1.5;

  private final KubernetesClient client = new KubernetesClientBuilder().build();
  private final Audit audit = new Audit();
  private final JobsSeen seen;
  private final Submitted submitted;
  private final PlayedAgents agents;
  private final OperatorProcess operator;

  ScaleScenario() throws Exception {
    Installed chart = new Installed(client);
    seen = new JobsSeen(client);
    submitted = new Submitted(client, seen);
    agents = new PlayedAgents(client, job -> ENDLESS);
    operator =
        new OperatorProcess(
            chart,
            client.getConfiguration(),
            client.getConfiguration().getMasterUrl(),
            Size.heap(),
            Map.of());
  }

  @BeforeAll
  void begin() throws Exception {
    new PlayedNodes(client).make(Size.nodes());
    submitted.makeTeams();
    operator.start();
    operator.awaitReady();
    Progress.say("the operator without a job: " + memory());
  }

  @AfterAll
  void end() {
    agents.close();
    operator.close();
    seen.close();
    client.close();
  }

  @Test
  @Order(1)
  @DisplayName("every job says why it waits or runs within a minute after the last was created")
  void explains() throws Exception {
    long before = audit.here();
    double cpu = operator.cpuSeconds();
    long begun = System.nanoTime();
    List<String> names = submitted.create("job", Size.jobs(), 1);
    long created = System.nanoTime();
    Progress.say("%d jobs created in %.1f s".formatted(Size.jobs(), (created - begun) / 1e9));
    until(
        "every job has a condition with a reason",
        Duration.ofMinutes(3),
        () -> seen.count(times -> times.explained) >= names.size());
    double last =
        names.stream().mapToLong(name -> seen.of(name).explained).max().orElse(0) / 1e9
            - created / 1e9;
    Progress.say(
        "from creation to reason: %s; the last %.1f s after the last was created"
            .formatted(JobsSeen.spread(seen.seconds(names, times -> times.explained)), last));
    until(
        "every job has slots", PATIENCE, () -> seen.count(times -> times.decided) >= names.size());
    until("every job trains", PATIENCE, () -> seen.in(Phase.Running) >= names.size());
    Progress.say(
        "operator: %.0f CPU s, %s; asked for %s"
            .formatted(operator.cpuSeconds() - cpu, memory(), audit.since(before)));
    assertThat(last).isLessThan(60);
  }

  @Test
  @Order(2)
  @DisplayName("while all train and report, nothing is listed and little is written")
  void staysQuiet() throws Exception {
    Thread.sleep(Duration.ofSeconds(Size.setting("settle", 30)));
    long place = audit.here();
    double cpu = operator.cpuSeconds();
    long reports = agents.reports();
    agents.forgetLatencies();
    Thread.sleep(STEADY);
    Map<String, Integer> requests = audit.since(place);
    double seconds = STEADY.toSeconds();
    int writes = Audit.count(requests, "patch trainingjobs/status");
    Progress.say(
        "%d s: operator %.2f cores, %s; %.0f reports/s, %s; %d status writes (%.2f a job in 30 s); asked for %s"
            .formatted(
                STEADY.toSeconds(),
                (operator.cpuSeconds() - cpu) / seconds,
                memory(),
                (agents.reports() - reports) / seconds,
                JobsSeen.spread(agents.latencies()),
                writes,
                writes * 30.0 / seconds / Size.jobs(),
                requests));
    assertThat(Audit.count(requests, "list")).as("lists").isZero();
    assertThat(writes * 30.0 / seconds)
        .as("status writes in 30 s")
        .isLessThanOrEqualTo(Size.jobs() * 1.02);
    assertThat(agents.failures())
        .as("failed requests of agents; the operator refused %s", operator.refused())
        .isEmpty();
  }

  @Test
  @Order(3)
  @DisplayName(
      "a job that comes to a loaded cluster is decided on within a second, or without waiting for a next round")
  void decidesSoon() throws Exception {
    collectAndSettle();
    List<String> names = new ArrayList<>();
    double rounds = operator.counted("kastor_decision_seconds_count");
    double deciding = operator.counted("kastor_decision_seconds_sum");
    double served = operator.counted("kastor_jobs_served_at_once_total");
    for (int i = 0; i < ARRIVALS; i++) {
      var job = Submitted.job("late", i, 1);
      submitted.create(job);
      names.add(Submitted.name(job));
      Thread.sleep(BETWEEN_ARRIVALS);
    }
    until(
        "all late jobs are decided on",
        PATIENCE,
        () -> names.stream().allMatch(name -> seen.of(name).decided != 0));
    double[] waits = seen.seconds(names, times -> times.decided);
    rounds = operator.counted("kastor_decision_seconds_count") - rounds;
    deciding = operator.counted("kastor_decision_seconds_sum") - deciding;
    served = operator.counted("kastor_jobs_served_at_once_total") - served;
    Progress.say(
        "from arrival to decision: %s; to a reason: %s; %.0f served at once; %.0f rounds of %.3f s"
            .formatted(
                JobsSeen.spread(waits),
                JobsSeen.spread(seen.seconds(names, times -> times.explained)),
                served,
                rounds,
                deciding / Math.max(1, rounds)));
    Progress.say("who waited longest: " + longest(names));
    assertThat(JobsSeen.quantile(waits, 0.99))
        .isLessThanOrEqualTo(
            Math.max(DECIDED_SECONDS, DECIDED_ROUNDS * deciding / Math.max(1, rounds)));
  }

  @Test
  @Order(4)
  @DisplayName("the operator's memory stays within 1.5 GiB")
  void staysSmall() throws Exception {
    Progress.say(
        "operator: %s; heap in use after a full collection: %.0f MiB"
            .formatted(memory(), operator.liveMebibytes()));
    assertThat(operator.peakResidentMebibytes()).isLessThanOrEqualTo(MOST_RESIDENT_MEBIBYTES);
  }

  @Test
  @Order(5)
  @DisplayName("jobs that are deleted leave nothing behind")
  void leavesNothing() throws Exception {
    submitted.clear(PATIENCE);
  }

  /**
   * Collects the garbage of this process, which plays ten thousand agents and watches all objects:
   * seconds in which it stands still are not the operator's. Then waits until the agents have
   * caught up.
   */
  private static void collectAndSettle() throws InterruptedException {
    System.gc();
    // What ten thousand agents held back meanwhile comes at once.
    Thread.sleep(CATCH_UP);
  }

  /**
   * When the few that waited longest for a decision came, which tells whether they came together.
   */
  private String longest(List<String> names) {
    long first = seen.of(names.getFirst()).created;
    return names.stream()
        .map(seen::of)
        .sorted(Comparator.comparingLong(times -> times.created - times.decided))
        .limit(10)
        .map(times ->
            "%.2f s from %.1f s on"
                .formatted((times.decided - times.created) / 1e9, (times.created - first) / 1e9))
        .collect(Collectors.joining(", "));
  }

  private String memory() throws Exception {
    return "%d MiB resident (most %d)"
        .formatted(operator.residentMebibytes(), operator.peakResidentMebibytes());
  }

  private void until(String what, Duration limit, java.util.concurrent.Callable<Boolean> condition)
      throws Exception {
    Await.until(what, limit, () -> seen.phases() + " " + agents.failures(), condition);
  }
}
