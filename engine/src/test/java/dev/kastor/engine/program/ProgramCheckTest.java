package dev.kastor.engine.program;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.engine.train.Program;
import dev.kastor.testkit.SourceJar;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ProgramCheckTest {
  private static final String TABLE = "table-wide-deep";

  @TempDir Path folder;
  @TempDir Path plugins;

  @BeforeEach
  void writeTable() throws IOException {
    Files.writeString(folder.resolve("t.csv"), "age,city,klass\n" + "1,a,x\n2,b,y\n".repeat(20));
  }

  private ProgramCheck check(String program, Map<String, String> parameters) {
    return ProgramCheck.of(program, parameters, plugins, folder);
  }

  private List<String> problems(String program, Map<String, String> parameters) {
    return check(program, parameters).problems().stream()
        .map(problem -> problem.parameter().orElse("-") + ": " + problem.message())
        .toList();
  }

  @Test
  void aGoodJobHasNoProblemsAndItsPathsAreOfThisMachine() {
    ProgramCheck check =
        check(TABLE, Map.of("data", "t.csv", "labelColumn", "klass", "sums", "ring"));
    assertThat(check.problems()).isEmpty();
    assertThat(check.mostExamples()).hasValue(36);
    assertThat(check.parameters())
        .containsEntry("data", folder.resolve("t.csv").toString())
        .containsEntry("labelColumn", "klass");
    assertThat(check("text-lm", Map.of("data", "~/x")).parameters()).containsEntry("data", "~/x");
  }

  @Test
  void anUnknownProgramIsAnsweredWithThoseThatThereAre() {
    assertThat(problems("glyph-mpl", Map.of()))
        .singleElement()
        .asString()
        .startsWith("-: there is no program 'glyph-mpl'. Use one of: glyph-mlp, glyph-cnn, ")
        .contains("Did you mean glyph-mlp? Programs of your own are looked for in " + "the jars of")
        .contains(plugins.toString());
  }

  @Test
  void allWrongParametersAreFoundAtOnce() {
    assertThat(
            problems(
                "glyph-mlp",
                Map.of(
                    "hiden", "3", "side", "7", "difficulty", "much", "sums", "mpi", "seed", "x")))
        .hasSize(5)
        .anyMatch(line -> line.startsWith("hiden: has no parameter") || line.contains("'hiden'"))
        .anyMatch(line -> line.contains("Did you mean hidden?"))
        .contains(
            "side: must be a whole number from 8 to 256 but is '7'.",
            "difficulty: must be a number from 0.0 to 4.0 but is 'much'.",
            "sums: must be ring or nccl but is 'mpi'. Use training.collective instead.",
            "seed: must be a whole number but is 'x'.");
    assertThat(problems("glyph-cnn", Map.of("side", "18")))
        .singleElement()
        .asString()
        .startsWith("channels: does not fit the images");
    assertThat(problems("glyph-mlp", Map.of("optimizer", "sdg")))
        .singleElement()
        .asString()
        .startsWith("optimizer: there is no optimizer 'sdg'. ")
        .contains("Did you mean sgd?");
  }

  @Test
  void dataThatIsNotThereOrCannotBeReadIsNamed() throws IOException {
    assertThat(problems(TABLE, Map.of())).containsExactly("data: must be given.");
    assertThat(problems(TABLE, Map.of("data", "u.csv")))
        .containsExactly(
            "data: %s: cannot be read (there is no such file)".formatted(folder.resolve("u.csv")));
    assertThat(problems(TABLE, Map.of("data", ".")))
        .singleElement()
        .asString()
        .contains("is a folder, but a file is needed");
    assertThat(problems("text-lm", Map.of("data", "t.csv", "context", "64")))
        .singleElement()
        .asString()
        .contains("bytes are too few");
    assertThat(problems("text-rnn", Map.of("data", "t.csv")))
        .singleElement()
        .asString()
        .contains("line 1 is not 'label<TAB>sentence'");
    assertThat(problems("text-rnn", Map.of("data", "t.csv", "cell", "rnn")))
        .first()
        .asString()
        .contains("cell: must be lstm or gru");
    assertThat(problems("image-mlp", Map.of("data", "nowhere")))
        .singleElement()
        .asString()
        .contains("there is no such file");
    assertThat(problems("image-mlp", Map.of("data", folder.toString(), "format", "idx")))
        .singleElement()
        .asString()
        .contains("neither train-images-idx3-ubyte");
  }

  @Test
  void columnsThatTheHeaderDoesNotHaveAreNamedWithThoseItHas() {
    assertThat(problems(TABLE, Map.of("data", "t.csv", "labelColumn", "class")))
        .singleElement()
        .asString()
        .startsWith("labelColumn: ")
        .endsWith(
            "no column is called 'class'; the header has: age, city, klass. Did you mean klass?");
    assertThat(problems(TABLE, Map.of("data", "t.csv", "labelColumn", "klass", "crosses", "a*age")))
        .singleElement()
        .asString()
        .startsWith("crosses: ")
        .contains("there is no column 'a' to pair");
    assertThat(problems("image-mlp", Map.of("data", "t.csv", "labelColumn", "klass")))
        .singleElement()
        .asString()
        .startsWith("data: ")
        .contains("row 1, field 'city' is not a finite number: 'a'");
  }

  @Test
  void ofALargeFileTheBeginningIsEnough() throws IOException {
    String row = IntStream.range(0, 200).mapToObj(i -> "0.5").collect(Collectors.joining(","));
    String header = IntStream.range(0, 200).mapToObj(i -> "c" + i).collect(Collectors.joining(","));
    Path large = folder.resolve("large.csv");
    // What follows the first MiB would be refused if it were read.
    Files.writeString(
        large, header + ",label\n" + (row + ",a\n").repeat(5_000) + "damaged\n".repeat(100));
    ProgramCheck check = check("image-mlp", Map.of("data", "large.csv"));
    assertThat(check.problems()).isEmpty();
    assertThat(check.mostExamples().orElseThrow()).isBetween(4_500L, 20_000L);
    assertThat(problems("image-mlp", Map.of("data", "large.csv", "labelColumn", "klass")))
        .singleElement()
        .asString()
        .startsWith("labelColumn: ");
  }

  @Test
  void aQuoteThatIsOpenWhereTheBeginningEndsIsNoMistake() throws IOException {
    Path notes = folder.resolve("notes.csv");
    Files.writeString(
        notes,
        "note,label\nshort,a\nshort,b\n\""
            + "a line\n".repeat(400_000)
            + "\",a\n"
            + "x,b\n".repeat(9));
    assertThat(problems(TABLE, Map.of("data", "notes.csv"))).isEmpty();
  }

  @Tag("slow")
  @Test
  void ofAProgramOfOnesOwnItsNamesAreChecked() throws IOException {
    Path source =
        Files.writeString(
            folder.resolve("Mine.java"),
            """
            import dev.kastor.engine.program.*;
            import java.util.Map;
            public final class Mine extends NetworkProgram {
              public Mine() { super("mine", "Of a test.", Map.of("width", "3")); }
              @Override protected Task task(Parameters parameters) {
                throw new IllegalStateException("is not called");
              }
            }
            """);
    SourceJar.make(
        plugins.resolve("mine.jar"), List.of(source), Program.class.getName(), List.of("Mine"));
    assertThat(check("mine", Map.of("width", "4")).problems()).isEmpty();
    assertThat(check("mine", Map.of("width", "4")).mostExamples()).isEmpty();
    assertThat(check("mine", Map.of("widht", "4", "momentum", "2")).problems())
        .extracting(ProgramCheck.Problem::parameter)
        .containsExactlyInAnyOrder(Optional.of("widht"), Optional.of("momentum"));
    Files.writeString(plugins.resolve("mine.jar"), "no jar");
    assertThat(problems("mine", Map.of())).singleElement().asString().contains("no program 'mine'");
  }
}
