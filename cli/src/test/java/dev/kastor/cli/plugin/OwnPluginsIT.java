package dev.kastor.cli.plugin;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.cli.KastorShell;
import dev.kastor.cli.KastorShell.Result;
import dev.kastor.cli.terminal.ExitCode;
import dev.kastor.scheduler.policy.PolicyPlugin;
import dev.kastor.testkit.SourceJar;
import dev.kastor.traces.format.TraceFormat;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The examples of a policy and of a trace format, in jars of their own, as commands find them. */
final class OwnPluginsIT {
  private static final Path ROOT =
      Path.of(System.getProperty("kastor.root", "..")).toAbsolutePath().normalize();

  private static final String LOG = "id,submitted,gpus,seconds\na,160,2,30\nb,100,1,600\nc,5,0,9\n";

  @TempDir private static Path home;
  private static Path jar = Path.of("own.jar");
  private static KastorShell shell;

  @BeforeAll
  static void build() throws Exception {
    Files.setPosixFilePermissions(home, PosixFilePermissions.fromString("rwx------"));
    Path plugins = Files.createDirectory(home.resolve("plugins"));
    Files.setPosixFilePermissions(plugins, PosixFilePermissions.fromString("rwx------"));
    jar = make(plugins, "policy", PolicyPlugin.class);
    make(plugins, "trace-format", TraceFormat.class);
    shell = new KastorShell(home, home);
  }

  @AfterAll
  static void close() {
    shell.close();
  }

  private static Path make(Path plugins, String example, Class<?> type) throws Exception {
    Path jar = SourceJar.ofExample(plugins, example, type);
    return Files.setPosixFilePermissions(jar, PosixFilePermissions.fromString("rw-r--r--"));
  }

  @Test
  void theExampleRunsBesideKastorsOwnWithItsOption() throws Exception {
    Path json = home.resolve("out.json");
    Result run =
        shell.run(
            "simulate",
            "--quiet",
            "--workload",
            ROOT.resolve("traces/workloads/burst-8.csv").toString(),
            "--policy",
            "smallest-first,smallest-first:patience=0,fifo",
            "--json",
            json.toString());
    assertThat(run.code()).as(run.text()).isZero();
    assertThat(run.text()).contains("smallest-first ", "smallest-first:patience=0", "fifo");
    assertThat(Files.readString(json)).contains("\"policy\" : \"smallest-first:patience=0\"");
  }

  @Test
  void aTraceInTheFormatOfTheExampleIsConverted() throws Exception {
    Path log = Files.writeString(home.resolve("log.csv"), LOG);
    Path workload = home.resolve("workload.csv");
    Result run = shell.run("trace", "convert", log.toString(), workload.toString());
    assertThat(run.code()).as(run.text()).isZero();
    assertThat(Files.readString(workload))
        .contains("job log of the example cluster")
        .containsPattern("(?m)^b,0")
        .containsPattern("(?m)^a,60");
    assertThat(shell.run("trace", "describe", "--help").text().replaceAll("\\s+", " "))
        .contains("kastor, gpu-log");
  }

  @Test
  void helpListsTheExample() {
    for (String command : List.of("simulate", "sweep", "up", "demo")) {
      Result help = shell.run(command, "--help");
      assertThat(help.code()).as(help.text()).isZero();
      assertThat(help.text().replaceAll("\\s+", " ")).contains("gavel, smallest-first");
    }
  }

  @Test
  void anUnknownOptionIsRefusedWithThoseOfTheExample() {
    Result run = shell.run("simulate", "--policy", "smallest-first:speed=1");
    assertThat(run.code()).isEqualTo(ExitCode.USAGE);
    assertThat(run.text())
        .contains("policy smallest-first has no option 'speed'. Use one of: patience");
  }

  @Test
  void aJarThatOthersMayReplaceIsRefused() throws Exception {
    Files.setPosixFilePermissions(jar, PosixFilePermissions.fromString("rw-rw-r--"));
    try {
      Result run = shell.run("simulate", "--policy", "smallest-first");
      assertThat(run.code()).isEqualTo(ExitCode.FAILED);
      assertThat(run.text()).contains("chmod go-w " + jar);
    } finally {
      Files.setPosixFilePermissions(jar, PosixFilePermissions.fromString("rw-r--r--"));
    }
  }
}
