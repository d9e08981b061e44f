package dev.kastor.engine.program;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kastor.engine.train.Program;
import dev.kastor.engine.train.ProgramException;
import dev.kastor.testkit.SourceJar;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ProgramJarsTest {
  @TempDir Path folder;
  @TempDir Path sources;

  private Path source(String className, String program) throws IOException {
    return Files.writeString(
        sources.resolve(className + ".java"),
        """
        import dev.kastor.engine.program.*;
        import java.util.Map;
        public final class %s extends NetworkProgram {
          public %s() { super("%s", "Of a test.", Map.of("width", "3", "momentum", "0")); }
          @Override protected Task task(Parameters parameters)
              throws dev.kastor.engine.train.ProgramException {
            throw parameters.wrong("width", "anything else");
          }
        }
        """
            .formatted(className, className, program));
  }

  private void jar(String className, String program) throws IOException {
    SourceJar.make(
        folder.resolve(className + ".jar"),
        List.of(source(className, program)),
        Program.class.getName(),
        List.of(className));
  }

  @Tag("slow")
  @Test
  void aJarsProgramIsFoundByItsName() throws Exception {
    jar("Mine", "my-program");
    Program mine = Programs.get("my-program", folder);
    assertThat(mine.getClass().getName()).isEqualTo("Mine");
    assertThat(mine.defaultParameters())
        .containsEntry("width", "3")
        .containsEntry("momentum", "0")
        .containsEntry("optimizer", "sgd");
    assertThatThrownBy(() -> mine.load(Map.of("width", "4")))
        .isInstanceOf(ProgramException.class)
        .hasMessage("Parameter 'width' must be anything else but is '4'.");
    assertThatThrownBy(() -> mine.load(Map.of("height", "4"))).hasMessageContaining("'height'");
  }

  @Tag("slow")
  @Test
  void theEnginesOwnComeFirst() throws Exception {
    jar("Mine", "glyph-mlp");
    assertThat(Programs.get("glyph-mlp", folder).getClass()).isEqualTo(ImageProgram.class);
  }

  @Tag("slow")
  @Test
  void anUnknownNameIsAnsweredWithAllThereAreAndWhereTheyWereLookedFor() throws Exception {
    jar("Mine", "my-program");
    assertThatThrownBy(() -> Programs.get("your-program", folder))
        .isInstanceOf(ProgramException.class)
        .hasMessageContaining("'your-program'")
        .hasMessageContaining("table-wide-deep, my-program")
        .hasMessageContaining(folder.toString());
    assertThatThrownBy(() -> Programs.get("your-program", folder.resolve("nowhere")))
        .hasMessageContaining("nowhere");
  }

  @Tag("slow")
  @Test
  void twoOfOneNameAreRefusedByTheirClasses() throws Exception {
    jar("Mine", "my-program");
    jar("Yours", "my-program");
    assertThatThrownBy(() -> Programs.get("my-program", folder))
        .isInstanceOf(ProgramException.class)
        .hasMessageContaining("Mine")
        .hasMessageContaining("Yours")
        .hasMessageContaining("my-program");
  }

  @Tag("slow")
  @Test
  void aClassThatIsNotThereOrNoJarAtAllIsNamed() throws Exception {
    SourceJar.make(
        folder.resolve("mine.jar"),
        List.of(source("Mine", "my-program")),
        Program.class.getName(),
        List.of("Absent"));
    assertThatThrownBy(() -> Programs.get("my-program", folder))
        .isInstanceOf(ProgramException.class)
        .hasMessageContaining("Absent")
        .hasMessageContaining(folder.toString());
    Files.writeString(folder.resolve("mine.jar"), "no jar");
    assertThatThrownBy(() -> Programs.get("my-program", folder))
        .isInstanceOf(ProgramException.class)
        .hasMessageContaining("no program 'my-program'");
  }
}
