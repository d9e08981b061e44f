package dev.kastor.cli.run;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.cli.Terminal;
import dev.kastor.cli.terminal.ExitCode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class CheckCommandTest {
  @TempDir Path folder;

  @Test
  void runsTheCheckOfThePackageWithTheInterpreterOfTheScript() throws IOException {
    Path python = python("case $1 in -m) echo \"$@\" > '%s/arguments'; exit 1 ;; esac");
    var result =
        Terminal.runPlain(
            "check",
            "--batch",
            "64",
            "--per-replica",
            "512",
            "--no-accumulation",
            "--keep",
            "logs",
            "--",
            python.toString(),
            "-u",
            "train.py",
            "--batch",
            "3");
    assertThat(result.err()).isEmpty();
    assertThat(result.code()).as("exit status of the check").isEqualTo(ExitCode.FAILED);
    assertThat(folder.resolve("arguments"))
        .hasContent(
            "-m kastor.check --batch 64 --steps 30 --patience 120 --per-replica 512"
                + " --no-accumulation --keep logs -- %s -u train.py --batch 3".formatted(python));
  }

  @Test
  void saysHowToGetThePackageWhereItIsMissing() throws IOException {
    Path python = python("exit 1");
    var result = Terminal.runPlain("check", "-b", "64", "--", python.toString(), "-u", "a.py");
    assertThat(result.code()).isEqualTo(ExitCode.USAGE);
    assertThat(result.err())
        .contains(python + " does not find the package kastor. Install it: kastor wheel");
  }

  @Test
  void convertsAScriptByThePackage() throws IOException {
    Path python = python("case $1 in -m) echo \"$@\" > '%s/arguments' ;; esac");
    var result = Terminal.runPlain("convert", "--python", python.toString(), "train.py");
    assertThat(result.err()).isEmpty();
    assertThat(result.code()).isZero();
    assertThat(folder.resolve("arguments")).hasContent("-m kastor.convert train.py");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          --batch 2|--batch 2: two replicas with two passes each need at least 4
          --batch 64 --per-replica 32|--per-replica 32: one replica alone takes the whole batch of 64
          --batch 64 --steps 0|--steps and --patience must be above 0
          """)
  void saysWhatIsWrong(String options, String message) {
    var result = Terminal.runPlain(("check " + options + " -- sh a.py").split(" "));
    assertThat(result.code()).isEqualTo(ExitCode.USAGE);
    assertThat(result.err()).contains(message);
  }

  @Test
  void aScriptThatIsNotThereIsRefused() throws IOException {
    var result =
        Terminal.runPlain("check", "-b", "64", "--", python("exit 0").toString(), "nowhere.py");
    assertThat(result.code()).isEqualTo(ExitCode.USAGE);
    assertThat(result.err()).contains("there is no file nowhere.py");
  }

  @Test
  void aNotebookIsRefusedWithTheRemedy() throws IOException {
    var result =
        Terminal.runPlain("check", "-b", "64", "--", python("exit 0").toString(), "t.ipynb");
    assertThat(result.code()).isEqualTo(ExitCode.USAGE);
    assertThat(result.err()).contains("t.ipynb is a notebook", "jupyter nbconvert --to script");
  }

  private Path python(String does) throws IOException {
    Path file = folder.resolve("python3.12");
    Files.writeString(file, "#!/bin/sh\n%s\n".formatted(does.formatted(folder)));
    return Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwx------"));
  }
}
