package dev.kastor.local;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class AgentEntryPointTest {
  private static final String CACHE = "-XX:AOTCache=";

  @TempDir Path root;

  private Path file(String path, String... lines) throws Exception {
    Path file = root.resolve(path);
    Files.createDirectories(file.getParent());
    return Files.write(file, List.of(lines));
  }

  private AgentEntryPoint agent(Installation installation) throws LocalException {
    return new AgentEntryPoint(installation, root.resolve("native"), root.resolve("plugins"));
  }

  @Test
  void inACheckoutTheCacheIsThatOfTheJarsAsTheyAre() throws Exception {
    Installation checkout = new Installation(root);
    file("training-agent/target/training-agent-1.jar", "agent");
    Path library = file("training-agent/target/lib/library.jar", "library");
    AgentEntryPoint agent = agent(checkout);
    Path first = AgentEntryPoint.cache(checkout);
    assertThat(agent.command("image"))
        .isEqualTo(agent.withoutCache())
        .noneMatch(option -> option.startsWith(CACHE));

    Files.createFile(first);
    assertThat(agent.command("image"))
        .contains(CACHE + first, "-Xlog:aot=off")
        .containsAll(agent.withoutCache());

    // The same time with another size, the same size with another time, one jar more, one less.
    FileTime time = Files.getLastModifiedTime(library);
    Files.writeString(library, "longer than before");
    Files.setLastModifiedTime(library, time);
    Path second = AgentEntryPoint.cache(checkout);
    Files.setLastModifiedTime(library, FileTime.fromMillis(time.toMillis() - 1));
    Path third = AgentEntryPoint.cache(checkout);
    Path added = file("training-agent/target/lib/another.jar", "another");
    Path fourth = AgentEntryPoint.cache(checkout);
    assertThat(List.of(first, second, third, fourth)).doesNotHaveDuplicates();
    assertThat(agent.command("image")).isEqualTo(agent.withoutCache());
    Files.delete(added);
    assertThat(AgentEntryPoint.cache(checkout)).isEqualTo(third);
  }

  @Test
  void agentsStartWithoutACacheWhileTheirJarsAreBuilt() throws Exception {
    Path jar = file("training-agent/target/training-agent-1.jar", "agent");
    AgentEntryPoint agent = agent(new Installation(root));
    Files.delete(jar);
    assertThat(agent.command("image")).isEqualTo(agent.withoutCache());
  }

  @Test
  void aReleaseHasOneCacheForGood() throws Exception {
    file("release", "VERSION=1.2.3", "COMMIT=0123abc");
    file("lib/agent.jar");
    file("lib/agent.classpath", "lib/agent.jar");
    AgentEntryPoint agent = agent(new Installation(root));
    assertThat(agent.command("image")).isEqualTo(agent.withoutCache());
    Path cache = file("lib/agent.aot");
    assertThat(agent.command("image")).contains(CACHE + cache);
  }
}
