package dev.kastor.e2e.attack;

import dev.kastor.crds.trainingjob.TrainingJob;
import dev.kastor.crds.trainingjob.TrainingJobStatus.Phase;
import dev.kastor.e2e.cluster.Chart;
import dev.kastor.e2e.cluster.Jobs;
import dev.kastor.e2e.cluster.SlowStore;
import dev.kastor.e2e.watch.WatcherProcess;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.utils.Serialization;
import java.io.IOException;
import java.nio.file.Files;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentSkipListMap;

/**
 * Tenant who keeps to the rules: jobs that always run, and others that come and claim GPUs which
 * his quota or his priority is good for.
 */
final class Honest {
  /** In the names of his namespace and of all his jobs, and in nothing that others may read. */
  static final String MARK = "payroll";

  static final String TRAINS = "payroll-trains";
  private static final String STAYS = "payroll-stays-";
  private static final String CLAIMS = "payroll-claims-";
  private static final String FIRST = "payroll-first-";
  static final int PRIORITY = 100;
  private static final int EXAMPLES_PER_SECOND = 600;

  private final KubernetesClient client;
  private final WatcherProcess watcher;
  private final Jobs jobs;

  /** Replicas by the name of the job that must have them. */
  private final Map<String, Integer> due = new ConcurrentSkipListMap<>();

  private int stays;
  private int claims;

  Honest(KubernetesClient client, WatcherProcess watcher) {
    this.client = client;
    this.watcher = watcher;
    jobs = new Jobs(client, Lab.HONEST);
  }

  /** Submits what always runs: two of the four GPUs of his queue. */
  void settle() throws IOException {
    String yaml =
        Files.readString(Chart.root().resolve("examples/glyph-mlp.yaml"))
            .replace("maxReplicas: 4", "maxReplicas: 1")
            .replace("steps: 24000", "steps: 2400000")
            .replace("spec:\n", "spec:\n  queue: " + Lab.HONEST_QUEUE + "\n");
    // It always trains, and leaves the processors to the attacks.
    SlowStore store = new SlowStore(client, Lab.HONEST);
    store.make();
    TrainingJob trains =
        Serialization.unmarshal(store.feed(yaml, EXAMPLES_PER_SECOND), TrainingJob.class);
    trains.getMetadata().setName(TRAINS);
    submit(trains, 1);
    stay();
  }

  private void stay() {
    stays++;
    submit(Shapes.gang(STAYS + stays, Lab.HONEST_QUEUE, 0, 1), 1);
  }

  /** Submits again what always runs and was ended, so that the next strategy meets all of it. */
  void restore() {
    String job = STAYS + stays;
    if (jobs.in(Phase.Succeeded, job) || jobs.in(Phase.Failed, job)) {
      end(job);
      stay();
    }
  }

  /**
   * Claims the rest of his quota.
   *
   * @param first whether a job of his is the most important one of the shared queue, too
   */
  void claim(boolean first) {
    claims++;
    submit(Shapes.gang(CLAIMS + claims, Lab.HONEST_QUEUE, 0, 2), 2);
    if (first) {
      submit(Shapes.gang(FIRST + claims, Lab.SHARED_QUEUE, PRIORITY, 2), 2);
    }
  }

  /** Gives up what was claimed. */
  void release() {
    for (String job : List.copyOf(due.keySet())) {
      if (job.startsWith(CLAIMS) || job.startsWith(FIRST)) {
        end(job);
      }
    }
  }

  private void end(String job) {
    due.remove(job);
    watcher.deleting(Lab.HONEST, job);
    client.resources(TrainingJob.class).inNamespace(Lab.HONEST).withName(job).delete();
  }

  /** Jobs with fewer replicas that run than are due, as {@code name: 1 of 2}. */
  List<String> lacking() {
    Map<String, Long> run = new TreeMap<>();
    for (Pod pod :
        client.pods().inNamespace(Lab.HONEST).withLabel("kastor.dev/job").list().getItems()) {
      if (pod.getMetadata().getDeletionTimestamp() == null
          && "Running".equals(pod.getStatus().getPhase())) {
        run.merge(pod.getMetadata().getLabels().get("kastor.dev/job"), 1L, Long::sum);
      }
    }
    return due.entrySet().stream()
        .filter(job -> run.getOrDefault(job.getKey(), 0L) < job.getValue())
        .map(job ->
            "%s: %d of %d"
                .formatted(job.getKey(), run.getOrDefault(job.getKey(), 0L), job.getValue()))
        .toList();
  }

  /** How far the job that trains is. */
  long step() {
    return jobs.step(TRAINS);
  }

  /** The pod of the job that trains. */
  Pod trainer() {
    return jobs.running(TRAINS).getFirst();
  }

  /** The uid of that job, which its owner alone can know. */
  String uid() {
    return client
        .resources(TrainingJob.class)
        .inNamespace(Lab.HONEST)
        .withName(TRAINS)
        .get()
        .getMetadata()
        .getUid();
  }

  /** What its replica has logged. */
  String log() {
    return client
        .pods()
        .inNamespace(Lab.HONEST)
        .withName(trainer().getMetadata().getName())
        .getLog();
  }

  String describe() {
    return jobs.describe();
  }

  private void submit(TrainingJob job, int replicas) {
    client.resources(TrainingJob.class).inNamespace(Lab.HONEST).resource(job).create();
    due.put(job.getMetadata().getName(), replicas);
  }
}
