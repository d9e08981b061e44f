package dev.kastor.local.rehearsal;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.local.AgentEntryPoint;
import dev.kastor.local.Installation;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Records the agent that was built, and has local mode's command line start it. */
final class AgentRehearsalIT {
  private static final Path BUILT =
      Path.of(System.getProperty("kastor.root")).resolve("training-agent/target").normalize();
  private static final String AGENT = "dev.kastor.agent.Agent source: ";

  @TempDir Path root;

  /**
   * What a process said and where its JVM had the agent's first class from.
   *
   * @param output of an agent that is told of no job: that it cannot start
   */
  private record Start(String output, String source) {}

  @Test
  void anAgentHasItsClassesFromTheCacheOfItsJarsAndOfNoOthers() throws Exception {
    Path target = root.resolve("training-agent/target");
    link(BUILT, target);
    link(BUILT.resolve("lib"), target.resolve("lib"));
    Installation checkout = new Installation(root);
    Start before = start(checkout);
    assertThat(before.output()).startsWith("The agent cannot start: ").hasLineCount(1);
    assertThat(before.source()).startsWith("file:");

    AgentRehearsal.make(checkout);
    Path cache = AgentEntryPoint.cache(checkout);
    assertThat(start(checkout)).isEqualTo(new Start(before.output(), "shared objects file"));
    FileTime made = Files.getLastModifiedTime(cache);
    AgentRehearsal.make(checkout);
    assertThat(Files.getLastModifiedTime(cache)).isEqualTo(made);
    assertThat(files(target)).containsExactlyInAnyOrder(cache, jar(target), target.resolve("lib"));

    // As after a build: another file, so that the jar of the checkout of this test stays as it is.
    Path jar = jar(target);
    byte[] bytes = Files.readAllBytes(jar);
    Files.delete(jar);
    Files.write(jar, bytes);
    assertThat(start(checkout)).isEqualTo(before);
    // One that the JVM refuses.
    Files.writeString(AgentEntryPoint.cache(checkout), "no cache");
    assertThat(start(checkout)).isEqualTo(before);
  }

  private Start start(Installation checkout) throws Exception {
    Path classes = root.resolve("classes.log");
    Path output = root.resolve("output.log");
    AgentEntryPoint agent =
        new AgentEntryPoint(checkout, root.resolve("native"), root.resolve("plugins"));
    List<String> command = new ArrayList<>(agent.command("image"));
    command.add(1, "-Xlog:class+load:file=" + classes);
    ProcessBuilder builder =
        new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(output.toFile());
    builder.environment().clear();
    assertThat(builder.start().waitFor()).isNotZero();
    String source =
        Files.readString(classes, StandardCharsets.UTF_8)
            .lines()
            .filter(line -> line.contains(AGENT))
            .map(line -> line.substring(line.indexOf(AGENT) + AGENT.length()).strip())
            .findFirst()
            .orElseThrow();
    return new Start(Files.readString(output, StandardCharsets.UTF_8), source);
  }

  /** The same files, so that they need no room. */
  private static void link(Path from, Path to) throws IOException {
    Files.createDirectories(to);
    for (Path file : files(from)) {
      if (file.toString().endsWith(".jar")) {
        Files.createLink(to.resolve(file.getFileName()), file);
      }
    }
  }

  private static Path jar(Path folder) throws IOException {
    return files(folder).stream()
        .filter(file -> file.toString().endsWith(".jar"))
        .findFirst()
        .orElseThrow();
  }

  private static List<Path> files(Path folder) throws IOException {
    try (Stream<Path> files = Files.list(folder)) {
      return files.toList();
    }
  }
}
