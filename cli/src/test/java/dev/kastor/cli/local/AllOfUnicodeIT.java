package dev.kastor.cli.local;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.json.JsonWriteFeature;
import com.fasterxml.jackson.databind.ObjectWriter;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.kastor.cli.KastorProcess;
import dev.kastor.cli.KastorShell;
import dev.kastor.crds.trainingjob.TrainingJob;
import dev.kastor.crds.trainingjob.TrainingJobStatus.Phase;
import dev.kastor.local.api.Json;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Jobs whose free texts are drawn from all of Unicode, half of which fail with such a text as their
 * last words, on a real {@code kastor up}. {@code -Dkastor.unicodeJobs=10000} runs as many.
 */
@Tag("slow")
final class AllOfUnicodeIT {
  private static final int JOBS = Integer.getInteger("kastor.unicodeJobs", 40);
  private static final String LAST = "job-" + (JOBS - 1);
  private static final int IN_A_FILE = 100;
  private static final int SLOTS = 200;
  private static final Duration SILENCE = Duration.ofMinutes(10);

  private static final Duration POLL = Duration.ofSeconds(1);

  /** Ended jobs are removed before more come than the local API server keeps. */
  private static final int AT_ONCE = 2_500;

  /** Characters that could act on a terminal, or be taken for the end of a line. */
  private static final Pattern ACTS =
      Pattern.compile("[\\x00-\\x08\\x0B-\\x1F\\x7F-\\x9F\u202A-\u202E\u2066-\u2069\u2028\u2029]");

  private static final ObjectWriter ASCII =
      Json.MAPPER.writer().with(JsonWriteFeature.ESCAPE_NON_ASCII);

  private final long seed = new Random().nextLong();
  private final Random random = new Random(seed);

  @TempDir Path folder;

  /** Any characters but NUL, which no process can be given, and halves of pairs. */
  private String text() {
    StringBuilder text = new StringBuilder("~");
    int length = 1 + random.nextInt(80);
    for (int i = 0; i < length; i++) {
      // Half of them from the first plane, where most languages and all controls are.
      int most = random.nextBoolean() ? 0x2FF : Character.MAX_CODE_POINT;
      int character = 1 + random.nextInt(most);
      if (character < Character.MIN_SURROGATE || character > Character.MAX_SURROGATE) {
        text.appendCodePoint(character);
      }
    }
    return text.toString();
  }

  private static boolean fails(int number) {
    return number % 2 == 1;
  }

  private ObjectNode job(int number) {
    ObjectNode job = Json.object();
    job.put("apiVersion", "kastor.dev/v1alpha1").put("kind", "TrainingJob");
    Json.metadata(job).put("name", "job-" + number).putObject("annotations").put("note", text());
    ObjectNode spec = job.putObject("spec");
    spec.putObject("faultTolerance").put("maxRestarts", 0);
    spec.put("family", "all");
    ObjectNode container =
        spec.putObject("template")
            .putObject("spec")
            .putArray("containers")
            .addObject()
            .put("name", "main")
            .put("image", text());
    container
        .putArray("command")
        .add("sh")
        .add("-c")
        .add("printf '%s\\n' \"$1\"; printf %s \"$WORDS\" >\"$LAST\"; exit " + number % 2)
        .add("sh")
        .add(text());
    var env = container.putArray("env");
    env.addObject().put("name", "LAST").put("value", "/dev/termination-log");
    env.addObject().put("name", "WORDS").put("value", text());
    return job;
  }

  private static boolean ended(Phase phase) {
    return phase == Phase.Succeeded || phase == Phase.Failed;
  }

  private static Map<String, Phase> phases(KubernetesClient client) {
    Map<String, Phase> phases = new TreeMap<>();
    client.resources(TrainingJob.class).inNamespace("default").list().getItems().stream()
        .filter(job -> job.getStatus() != null && job.getStatus().phase() != null)
        .forEach(job -> phases.put(job.getMetadata().getName(), job.getStatus().phase()));
    return phases;
  }

  @Test
  void noTextKeepsAnyJobFromItsEnd() throws Exception {
    try (KastorProcess up = new KastorProcess(folder.resolve("home"));
        KastorShell shell = new KastorShell(folder.resolve("home"), folder)) {
      up.start(folder.resolve("up"), "up", "--slots", Integer.toString(SLOTS), "--port", "0");
      up.await("kastor up says where it is", () -> up.said().contains("kubeconfig"));
      Config config = Config.fromKubeconfig(Files.readString(folder.resolve("home/kubeconfig")));
      try (KubernetesClient client = new KubernetesClientBuilder().withConfig(config).build()) {
        for (int first = 0; first < JOBS; first += AT_ONCE) {
          if (first > 0) {
            shell.succeed("rm", "--all");
          }
          run(client, shell, first, Math.min(JOBS, first + AT_ONCE));
        }
      }
      assertThat(Files.readString(folder.resolve("home/logs/operator.log")))
          .doesNotContain("watch failed", "will stop");
      for (String[] look :
          List.of(
              new String[] {"ls"},
              new String[] {"ls", "-o", "wide"},
              new String[] {"top", "--once"},
              new String[] {"events", LAST},
              new String[] {"describe", LAST},
              new String[] {"why", LAST},
              new String[] {"history", LAST})) {
        String said = shell.succeed(look);
        assertThat(said).as("%s, seed %d", List.of(look), seed).doesNotContainPattern(ACTS);
        assertThat(said).isNotBlank();
      }
    }
  }

  /** Submits the jobs of these numbers and waits until each has ended as it should. */
  private void run(KubernetesClient client, KastorShell shell, int from, int to) throws Exception {
    for (int first = from; first < to; first += IN_A_FILE) {
      StringBuilder jobs = new StringBuilder();
      for (int number = first; number < Math.min(to, first + IN_A_FILE); number++) {
        // YAML forbids many characters, but not their escapes.
        String job = ASCII.writeValueAsString(job(number)).replace("\u007F", "\\u007F");
        jobs.append("---\n").append(job).append('\n');
      }
      Path file = Files.writeString(folder.resolve("jobs.yaml"), jobs);
      shell.succeed("submit", file.toString());
    }
    awaitEnds(client, to - from);
    Map<String, Phase> phases = phases(client);
    assertThat(phases).as("seed %d", seed).hasSize(to - from);
    for (int number = from; number < to; number++) {
      assertThat(phases.get("job-" + number))
          .as("job-%d, seed %d", number, seed)
          .isEqualTo(fails(number) ? Phase.Failed : Phase.Succeeded);
    }
  }

  /** Waits for as long as there is always another that ends. */
  private static void awaitEnds(KubernetesClient client, int jobs) throws InterruptedException {
    long before = -1;
    long due = System.nanoTime() + SILENCE.toNanos();
    while (true) {
      Map<String, Phase> phases = phases(client);
      long ended = phases.values().stream().filter(AllOfUnicodeIT::ended).count();
      if (ended == jobs) {
        return;
      }
      if (ended > before) {
        before = ended;
        due = System.nanoTime() + SILENCE.toNanos();
      }
      assertThat(System.nanoTime()).as("%d of %d ended: %s", ended, jobs, phases).isLessThan(due);
      Thread.sleep(POLL);
    }
  }
}
