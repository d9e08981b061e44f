package dev.kastor.e2e.attack;

import static dev.kastor.e2e.attack.Strategy.Aim.ACCESS;
import static dev.kastor.e2e.attack.Strategy.Aim.GPUS;
import static dev.kastor.e2e.attack.Strategy.Aim.OPERATOR;
import static dev.kastor.e2e.attack.Strategy.Aim.RANK;

import dev.kastor.crds.trainingjob.TrainingJob;
import io.fabric8.kubernetes.api.model.EnvVar;
import io.fabric8.kubernetes.api.model.SecretBuilder;
import io.fabric8.kubernetes.api.model.ServiceBuilder;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** TrainingJobs, and the names that their parts need. */
final class JobStrategies {
  private static final String PINNED = "kastor.dev/pinned";
  private static final String KUEUE = "kueue.x-k8s.io/queue-name";
  private static final int LOWEST = -1000;
  private static final int HIGHEST = 1000;
  private static final int LEVELS = 12;
  private static final int CHURN = 60;

  private JobStrategies() {}

  static List<Strategy> all() {
    return List.of(
        new Strategy(
            "a pinned job with GPUs that its queue borrows",
            GPUS,
            hostile -> {
              hostile.make(pinned(Shapes.gang("squatter", Lab.HOSTILE_QUEUE, 0, 6)));
              hostile.untilHeld("squatter", 6);
            }),
        new Strategy(
            "pinned jobs of the lowest priority",
            GPUS,
            hostile -> {
              hostile.make(pinned(Shapes.gang("low-0", Lab.SHARED_QUEUE, LOWEST, 1)));
              hostile.make(pinned(Shapes.gang("low-1", Lab.SHARED_QUEUE, LOWEST, 1)));
              hostile.make(pinned(Shapes.gang("low-2", Lab.HOSTILE_QUEUE, LOWEST, 2)));
              hostile.untilHeld("low-1", 1);
            }),
        new Strategy(
            "the highest priority everywhere",
            RANK,
            hostile -> {
              for (int i = 0; i < 4; i++) {
                hostile.make(Shapes.gang("vain-" + i, Lab.HOSTILE_QUEUE, HIGHEST, 1 + i));
                hostile.make(Shapes.gang("vainer-" + i, Lab.SHARED_QUEUE, HIGHEST, 1 + i));
              }
              hostile.untilHeld("vain-0", 1);
            }),
        new Strategy(
            "a priority of its own for each of many jobs",
            GPUS,
            hostile -> {
              for (int i = 0; i < LEVELS; i++) {
                hostile.make(Shapes.gang("level-" + i, Lab.HOSTILE_QUEUE, i, 1));
              }
              hostile.untilHeld("level-0", 1);
            }),
        new Strategy("markers of Kastor's on jobs", GPUS, JobStrategies::markers),
        new Strategy("a Service and Secrets whose names jobs need", ACCESS, JobStrategies::names),
        new Strategy("a profile of another team", ACCESS, JobStrategies::profile),
        new Strategy("a queue of another team", ACCESS, JobStrategies::queue),
        new Strategy(
            "sixty jobs that come and go",
            OPERATOR,
            hostile -> {
              for (int i = 0; i < CHURN; i++) {
                String name = "churn-" + i;
                hostile.make(Shapes.gang(name, Lab.HOSTILE_QUEUE, 0, 1));
                if (i % 2 == 0) {
                  hostile.end(name);
                }
              }
            }),
        new Strategy("parameters larger than a process may have", OPERATOR, JobStrategies::large),
        new Strategy("parameters with names of variables", OPERATOR, JobStrategies::variables),
        new Strategy("control characters in a template", OPERATOR, JobStrategies::control));
  }

  private static TrainingJob pinned(TrainingJob job) {
    return Shapes.annotated(job, PINNED, "here");
  }

  private static void markers(Hostile hostile) throws Exception {
    TrainingJob held = Shapes.gang("held", Lab.HOSTILE_QUEUE, 0, 1);
    held.getMetadata().getLabels().put(KUEUE, "somebody");
    hostile.make(Shapes.annotated(held, "kastor.dev/held-for-kueue", "true"));
    hostile.promise(
        Promise.inARound(
            "a job of Kueue's holds nothing before Kueue admits it",
            () -> hostile.jobs().running("held").isEmpty()));
    TrainingJob dressed = Shapes.gang("dressed", Lab.HOSTILE_QUEUE, 0, 1);
    for (String key : List.of("node", "gang-first", "gang-size", "allocation", "generation")) {
      Shapes.annotated(dressed, "kastor.dev/" + key, "2147483647");
    }
    dressed.getMetadata().getLabels().put("kastor.dev/job", Honest.TRAINS);
    hostile.make(dressed);
    hostile.untilHeld("dressed", 1);
  }

  private static void names(Hostile hostile) {
    hostile.keeps(
        new ServiceBuilder()
            .withNewMetadata()
            .withName("named-gang")
            .withNamespace(Lab.HOSTILE)
            .endMetadata()
            .withNewSpec()
            .withClusterIP("None")
            .withSelector(Map.of("app", "mine"))
            .endSpec()
            .build());
    for (String job : List.of("named", "payments")) {
      hostile.keeps(
          new SecretBuilder()
              .withNewMetadata()
              .withName(job + "-ring")
              .withNamespace(Lab.HOSTILE)
              .endMetadata()
              .withData(Map.of("password", "c2VjcmV0"))
              .build());
    }
    hostile.make(Shapes.gang("named", Lab.HOSTILE_QUEUE, 0, 1));
    hostile.make(Shapes.program("payments", Lab.HOSTILE_QUEUE, 0, 1));
    for (String job : List.of("named", "payments")) {
      hostile.promise(
          Promise.inARound(
              "job %s holds no GPU that it cannot use".formatted(job),
              () -> hostile.jobs().allocated(job) == 0));
    }
  }

  private static void profile(Hostile hostile) {
    TrainingJob job = Shapes.gang("disguised", Lab.HOSTILE_QUEUE, 0, 1);
    hostile.make(Shapes.with(job, "/spec", Map.of("profile", Lab.FOREIGN)));
    hostile.promise(
        Promise.inARound(
            "no pod has the profile of another team",
            () -> hostile.jobs().pods("disguised").isEmpty()));
  }

  private static void queue(Hostile hostile) {
    hostile.make(Shapes.gang("guest", Lab.HONEST_QUEUE, HIGHEST, 2));
    hostile.promise(
        Promise.inARound(
            "no pod is in the queue of another team",
            () -> hostile.jobs().pods("guest").isEmpty()));
  }

  private static void large(Hostile hostile) throws Exception {
    Map<String, String> parameters = new TreeMap<>();
    for (int i = 0; i < 64; i++) {
      parameters.put("p" + i, "x".repeat(1024));
    }
    hostile.make(program("large", parameters));
    parameters.replaceAll((key, value) -> "\u00e9".repeat(1024));
    hostile.make(program("larger", parameters));
  }

  private static void variables(Hostile hostile) throws Exception {
    String value = "$(KASTOR_POD)/$$(KASTOR_JOB_UID)/$(HOME)";
    hostile.make(program("variable", Map.of("path", value)));
    hostile.untilHeld("variable", 1);
    hostile.promise(
        Promise.inARound(
            "a kubelet leaves the job's parameters as they are",
            () ->
                hostile.jobs().pods("variable").stream()
                    .flatMap(pod -> pod.getSpec().getContainers().getFirst().getEnv().stream())
                    .filter(variable -> "KASTOR_JOB_SPEC".equals(variable.getName()))
                    .map(EnvVar::getValue)
                    .allMatch(spec -> spec.contains("$$(KASTOR_POD)/$$$$(KASTOR_JOB_UID)"))));
  }

  private static TrainingJob program(String name, Map<String, String> parameters) {
    return Shapes.with(
        Shapes.program(name, Lab.HOSTILE_QUEUE, 0, 1),
        "/spec/program",
        Map.of("parameters", parameters));
  }

  private static void control(Hostile hostile) {
    Instant begun = Instant.now();
    TrainingJob job = Shapes.gang("forger", Lab.HOSTILE_QUEUE, 0, 1);
    String forged = "\u001b]0;x\u0007\u001b[2J\r\n12:00:00.000 INFO  [AllocationWriter] forged";
    hostile.make(
        Shapes.with(job, "/spec/template/spec", Map.of("nodeSelector", Map.of("pool", forged))));
    hostile.promise(
        Promise.inARound(
            "no control character reaches the log",
            () -> !hostile.operator().logsControlCharacters(begun)));
    hostile.promise(
        Promise.inARound(
            "no line of the log is a tenant's",
            () ->
                hostile
                    .operator()
                    .log(begun)
                    .lines()
                    .noneMatch(line -> line.startsWith("12:00:00.000"))));
  }
}
