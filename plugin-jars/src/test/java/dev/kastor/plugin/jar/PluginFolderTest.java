package dev.kastor.plugin.jar;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kastor.plugin.Plugin;
import dev.kastor.plugin.Registry;
import dev.kastor.testkit.SourceJar;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Public, as its kind of plug-in is for those in jars. */
@Tag("never-retried")
public final class PluginFolderTest {
  /** A kind of plug-in. */
  public interface Greeting extends Plugin {
    String text();
  }

  private record BuiltIn(String name, String text) implements Greeting {
    @Override
    public String description() {
      return "Greets.";
    }
  }

  private static final Registry<Greeting> BUILT_IN =
      Registry.of("greeting", List.of(new BuiltIn("hello", "Hello.")));

  @TempDir private Path folder;
  @TempDir private Path sources;

  private Path source(String name, String text) throws Exception {
    return Files.writeString(
        sources.resolve(text + ".java"),
        """
        public final class %s implements dev.kastor.plugin.jar.PluginFolderTest.Greeting {
          @Override public String name() { return "%s"; }
          @Override public String description() { return "Greets."; }
          @Override public String text() { return "%s"; }
        }
        """
            .formatted(text, name, text));
  }

  private void jar(String name, String text) throws Exception {
    SourceJar.make(
        folder.resolve(text + ".jar"),
        List.of(source(name, text)),
        Greeting.class.getName(),
        List.of(text));
  }

  private Registry<Greeting> read() throws PluginException {
    return new PluginFolder(folder).addTo(BUILT_IN, Greeting.class);
  }

  @Tag("slow")
  @Test
  void findsThePlugInsOfAllJarsAfterTheBuiltInOnes() throws Exception {
    jar("good-day", "Day");
    jar("good-bye", "Bye");
    Files.writeString(folder.resolve("notes.txt"), "no jar");
    assertThat(read().names()).containsExactly("hello", "good-bye", "good-day");
    assertThat(read().get("good-day").text()).isEqualTo("Day");
  }

  @Tag("slow")
  @Test
  void aFolderThatIsNotThereAddsNothing() throws Exception {
    assertThat(new PluginFolder(folder.resolve("nowhere")).addTo(BUILT_IN, Greeting.class).names())
        .containsExactly("hello");
  }

  @Tag("slow")
  @Test
  void refusesTwoOfOneNameByTheirClasses() throws Exception {
    jar("hello", "Again");
    assertThatThrownBy(this::read)
        .isInstanceOf(PluginException.class)
        .hasMessageContaining(folder.toString())
        .hasMessageContaining("two classes are greeting 'hello'")
        .hasMessageContaining("Again");
  }

  @Tag("slow")
  @Test
  void namesAClassThatIsNotThere() throws Exception {
    SourceJar.make(
        folder.resolve("own.jar"),
        List.of(source("good-day", "Day")),
        Greeting.class.getName(),
        List.of("Absent"));
    assertThatThrownBy(this::read)
        .isInstanceOf(PluginException.class)
        .hasMessageContaining(folder.toString())
        .hasMessageContaining("Absent");
  }
}
