package dev.kastor.local.kubelet;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.kastor.local.api.Json;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class SpareProcessesTest {
  private static final Duration QUIET = Duration.ofSeconds(3);
  private static final Duration PATIENCE = Duration.ofMinutes(2);

  /** Says what it was given, and that it waited for it. */
  private static final String PROGRAM =
      "test \"$KASTOR_SPARE\" = true || exit 3; echo loaded; : > \"$KASTOR_LOCAL_FOLDER/ready\";"
          + " read -r line; echo \"$line\"";

  @TempDir Path folder;
  private long now = 1;
  private SpareProcesses spares;

  @BeforeEach
  void begin() {
    begin(2);
  }

  private void begin(int most) {
    spares = new SpareProcesses(most, folder.resolve("pods"), () -> now);
  }

  @AfterEach
  void close() {
    spares.close();
  }

  private PodCommand pod(String namespace, String name, Map<String, String> environment)
      throws IOException {
    return pod(namespace, name, environment, PROGRAM);
  }

  private PodCommand pod(
      String namespace, String name, Map<String, String> environment, String program)
      throws IOException {
    Path own = PrivateFiles.directory(folder.resolve("pods").resolve(name));
    return new PodCommand(
        namespace,
        true,
        List.of("sh", "-c", program),
        environment,
        own,
        own,
        folder.resolve("logs").resolve(name),
        own.resolve("end"));
  }

  private Optional<PodProcess> take(String name) throws IOException {
    return spares.take(pod("default", name, Map.of("KASTOR_POD", name)));
  }

  private void pass(Duration time) {
    now += time.toNanos();
    spares.step();
  }

  /** Folders of processes that wait or waited. */
  private List<String> waiting() throws IOException {
    try (Stream<Path> found = Files.list(folder.resolve("pods"))) {
      return found
          .map(path -> String.valueOf(path.getFileName()))
          .filter(name -> name.startsWith("spare"))
          .sorted()
          .toList();
    }
  }

  /** Lets a spare start, and waits until it is ready. */
  private void spare() throws IOException, InterruptedException {
    List<String> before = waiting();
    pass(QUIET);
    List<String> fresh = new ArrayList<>(waiting());
    fresh.removeAll(before);
    assertThat(fresh).hasSize(1);
    long end = System.nanoTime() + PATIENCE.toNanos();
    while (!Files.exists(folder.resolve("pods").resolve(fresh.getFirst()).resolve("ready"))) {
      assertThat(System.nanoTime()).isLessThan(end);
      Thread.sleep(5);
    }
  }

  private static void awaitEnd(PodProcess process) throws InterruptedException {
    long end = System.nanoTime() + PATIENCE.toNanos();
    while (!process.gone()) {
      assertThat(System.nanoTime()).isLessThan(end);
      Thread.sleep(5);
    }
  }

  @Test
  void aPodIsTheProcessThatWaitedForIt() throws Exception {
    assertThat(take("a")).isEmpty();
    assertThat(take("b")).isEmpty();
    spare();

    PodProcess third = take("c").orElseThrow();
    awaitEnd(third);

    assertThat(third.exitCode()).isZero();
    JsonNode line = Json.MAPPER.readTree(Files.readString(folder.resolve("logs/c")));
    assertThat(line.at("/environment/KASTOR_POD").asText()).isEqualTo("c");
    assertThat(line.at("/environment/KASTOR_LOCAL_FOLDER").isMissingNode())
        .as("its children are found by the folder that it had as a spare")
        .isTrue();
    assertThat(line.at("/folder").asText()).isEqualTo(folder.resolve("pods/c").toString());
    assertThat(take("d")).isEmpty();
  }

  @Test
  void oneIsStartedAtATimeAndNotWhileReplicasStart() throws Exception {
    take("a");
    take("b");
    pass(QUIET.minusMillis(1));
    assertThat(waiting()).isEmpty();
    pass(Duration.ofMillis(1));
    assertThat(waiting()).hasSize(1);
    pass(QUIET.minusMillis(1));
    assertThat(waiting()).hasSize(1);
    pass(Duration.ofMillis(1));
    assertThat(waiting()).hasSize(2);
    pass(QUIET);
    assertThat(waiting()).hasSize(2);
  }

  @Test
  void onePodMakesNoKind() throws Exception {
    take("a");
    pass(QUIET);
    assertThat(waiting()).isEmpty();
  }

  @Test
  void noneWaitsWhereNoneIsWanted() throws Exception {
    begin(0);
    take("a");
    take("b");
    pass(QUIET);
    assertThat(waiting()).isEmpty();
  }

  @Test
  void podsOfAnotherNamespaceGetNone() throws Exception {
    begin(1);
    take("a");
    take("b");
    spare();
    assertThat(spares.take(pod("other", "c", Map.of()))).isEmpty();
    assertThat(take("d")).isPresent();
  }

  @Test
  void whatAPodOfTheNameSaidBeforeStays() throws Exception {
    begin(1);
    take("a");
    take("b");
    spare();
    Path log = folder.resolve("logs/c");
    Files.createDirectories(folder.resolve("logs"));
    Files.writeString(log, "of the first\n");

    awaitEnd(take("c").orElseThrow());

    assertThat(Files.readAllLines(log)).hasSize(2).first().isEqualTo("of the first");
  }

  @Test
  void aLineThatFillsThePipeIsNotWritten() throws Exception {
    begin(1);
    take("a");
    take("b");
    spare();
    assertThat(spares.take(pod("default", "c", Map.of("KASTOR_JOB_SPEC", "x".repeat(65_536)))))
        .isEmpty();
    assertThat(take("d")).isPresent();
  }

  @Test
  void nothingWaitsForAKindWhoseProcessesEnd() throws Exception {
    begin(1);
    for (String name : List.of("a", "b")) {
      assertThat(spares.take(pod("default", name, Map.of(), "exit 4"))).isEmpty();
    }
    pass(QUIET);
    assertThat(waiting()).hasSize(1);
    long end = System.nanoTime() + PATIENCE.toNanos();
    while (!waiting().isEmpty()) {
      assertThat(System.nanoTime()).isLessThan(end);
      Thread.sleep(5);
      spares.step();
    }
    pass(QUIET);
    assertThat(waiting()).isEmpty();
    assertThat(spares.take(pod("default", "c", Map.of(), "exit 4"))).isEmpty();
  }

  @Test
  void thoseThatNobodyNeededForTenMinutesEnd() throws Exception {
    begin(1);
    take("a");
    take("b");
    pass(Duration.ofMinutes(10));
    assertThat(waiting()).hasSize(1);
    pass(Duration.ofMillis(1));
    assertThat(waiting()).isEmpty();
    assertThat(take("c")).isEmpty();
  }

  @Test
  void threeKindsWaitAtMostTheNewest() throws Exception {
    begin(1);
    for (String kind : List.of("1", "2", "3", "4")) {
      for (String name : List.of("a", "b")) {
        now++;
        spares.take(pod("default", name + kind, Map.of("OWN", kind)));
      }
    }
    for (int i = 0; i < 3; i++) {
      spare();
    }
    pass(QUIET);
    assertThat(waiting()).hasSize(3);
    assertThat(spares.take(pod("default", "c1", Map.of("OWN", "1")))).isEmpty();
    assertThat(spares.take(pod("default", "c2", Map.of("OWN", "2")))).isPresent();
  }

  @Test
  void oneThatStillLoadsIsLeftToLaterPods() throws Exception {
    begin(1);
    String loads = "while ! [ -e \"$KASTOR_LOCAL_FOLDER/go\" ]; do sleep 0.01; done; " + PROGRAM;
    for (String name : List.of("a", "b")) {
      spares.take(pod("default", name, Map.of(), loads));
    }
    pass(QUIET);
    assertThat(spares.take(pod("default", "c", Map.of(), loads))).isEmpty();

    Path own = folder.resolve("pods").resolve(waiting().getFirst());
    Files.createFile(own.resolve("go"));
    long end = System.nanoTime() + PATIENCE.toNanos();
    while (!Files.exists(own.resolve("ready"))) {
      assertThat(System.nanoTime()).isLessThan(end);
      Thread.sleep(5);
    }
    assertThat(spares.take(pod("default", "d", Map.of(), loads))).isPresent();
  }

  @Test
  void aLongLogIsNotCopied() throws Exception {
    begin(1);
    take("a");
    take("b");
    spare();
    Files.createDirectories(folder.resolve("logs"));
    Files.write(folder.resolve("logs/c"), new byte[(1 << 20) + 1]);
    assertThat(take("c")).isEmpty();
    assertThat(take("d")).isPresent();
  }

  @Test
  void noneStartsAfterTheEnd() throws Exception {
    take("a");
    take("b");
    spares.close();
    pass(QUIET);
    assertThat(waiting()).isEmpty();
    assertThat(take("c")).isEmpty();
  }
}
