package dev.kastor.cli.trace;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.kastor.cli.Terminal;
import dev.kastor.cli.terminal.ExitCode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class TraceCommandTest {
  private static final Path TRACES =
      Path.of(System.getProperty("kastor.root", "..")).resolve("traces");
  private static final String MIXED = TRACES.resolve("workloads/mixed-40.csv").toString();
  private static final String HELIOS =
      """
      job_id,user,vc,gpu_num,cpu_num,node_num,state,submit_time,start_time,end_time,duration,queue
      11,u1,v1,8,32,1,COMPLETED,2020-06-09 18:41:01,2020-06-09 18:41:05,2020-06-09 18:51:05,600,4
      12,u2,v1,0,4,1,COMPLETED,2020-06-09 18:41:02,2020-06-09 18:41:02,2020-06-09 18:41:03,1,0
      """;

  @TempDir private Path folder = Path.of("");

  private String path(String name) {
    return folder.resolve(name).toString();
  }

  @Test
  void describesAWorkload() throws IOException {
    Terminal.Result table = Terminal.runPlain("trace", "describe", MIXED);
    assertThat(table.err()).isEmpty();
    assertThat(table.out()).contains("mixed-40").contains("jobs").contains("digits 13");
    Terminal.Result json = Terminal.runPlain("trace", "describe", MIXED, "--json");
    JsonNode summary = new ObjectMapper().readTree(json.out());
    assertThat(summary.path("jobs").asInt()).isEqualTo(40);
    assertThat(summary.at("/jobsByApplication/speech").asInt()).isEqualTo(11);
  }

  @Test
  void convertsALog() throws IOException {
    Files.writeString(folder.resolve("log.csv"), HELIOS);
    Terminal.Result result =
        Terminal.runPlain("trace", "convert", path("log.csv"), path("own.csv"));
    assertThat(result.code()).isZero();
    assertThat(result.out()).contains("1 jobs to").contains("without GPUs=1");
    assertThat(Files.readAllLines(folder.resolve("own.csv")))
        .containsExactly(
            "# Converted from log.csv (Helios cluster_log.csv (SenseTime, SC 2021)).",
            "# Assumed: of 1 of 1 jobs only size and duration are known: they are rigid",
            "name,submitSeconds,application,minReplicas,maxReplicas,requestedReplicas,globalBatch,category,durationSeconds,outcome",
            "11,0,,8,8,8,,rigid,600,completed");
  }

  private static final String SACCT =
      """
      JobID|Submit|Start|End|State|ReqTRES|AllocTRES
      1|2026-03-01T12:00:00|2026-03-01T12:00:10|2026-03-01T12:10:10|COMPLETED|gres/gpu=2|gres/gpu:a100=2
      2|2026-03-01T12:01:00|2026-03-01T12:02:00|2026-03-01T12:03:40|TIMEOUT|gres/gpu=1|gres/gpu=1
      3|2026-03-01T12:01:00|Unknown|Unknown|PENDING|gres/gpu=1|
      """;

  @Tag("slow")
  @Test
  void theHistoryOfSlurmIsReplayed() throws IOException {
    Files.writeString(folder.resolve("slurm.txt"), SACCT);
    Terminal.Result rigid =
        Terminal.runPlain("trace", "convert", path("slurm.txt"), path("rigid.csv"));
    assertThat(rigid.out())
        .contains("2 jobs to", "has not ended=1", "of 2 of 2 jobs", "they are rigid");
    Terminal.Result fifo =
        Terminal.runPlain(
            "simulate",
            "--quiet",
            "--workload",
            path("rigid.csv"),
            "--cluster",
            "1x4",
            "--policy",
            "fifo",
            "--csv",
            path("out.csv"),
            "--profiles",
            TRACES.resolve("profiles/kastor.csv").toString());
    assertThat(fifo.code()).as(fifo.err()).isZero();
    // 600 s and 100 s, and 30 s for each start.
    assertThat(fifo.out()).containsPattern("fifo +380 s").contains("they are rigid");
  }

  @Tag("slow")
  @Test
  void anAssumedApplicationSaysHowJobsScale() throws IOException {
    Files.writeString(folder.resolve("slurm.txt"), SACCT);
    Terminal.Result converted =
        Terminal.runPlain(
            "trace", "convert", path("slurm.txt"), path("like.csv"), "--assume", "digits");
    assertThat(converted.out()).contains("they are taken to scale like digits");
    assertThat(Files.readString(folder.resolve("like.csv")))
        .contains("1,0,digits,1,,2,,adaptive,600,completed");
    Terminal.Result replayed =
        Terminal.runPlain(
            "simulate",
            "--quiet",
            "--workload",
            path("like.csv"),
            "--cluster",
            "1x4",
            "--policy",
            "fifo,kastor",
            "--json",
            path("out.json"),
            "--profiles",
            TRACES.resolve("profiles/kastor.csv").toString());
    assertThat(replayed.code()).as(replayed.err()).isZero();
    JsonNode runs = new ObjectMapper().readTree(folder.resolve("out.json").toFile()).path("runs");
    JsonNode asItWas = runs.path(0).path("jct");
    assertThat(asItWas.path("1").asDouble()).isBetween(600.0, 660.0);
    assertThat(asItWas.path("2").asDouble()).isBetween(100.0, 160.0);
    assertThat(runs.path(1).path("jct").path("1").asDouble())
        .as("more GPUs and larger batches")
        .isLessThan(asItWas.path("1").asDouble());
    assertThat(
            Terminal.runPlain(
                    "trace",
                    "convert",
                    path("slurm.txt"),
                    path("x"),
                    "--assume",
                    "digits",
                    "--categories",
                    "adaptive=1")
                .code())
        .isEqualTo(ExitCode.USAGE);
  }

  @Test
  void aBrokenTraceLeavesNoFileAndNoPartOfOne() throws IOException {
    Files.writeString(folder.resolve("log.csv"), HELIOS + "13,1,DONE\n");
    Terminal.Result result =
        Terminal.runPlain("trace", "convert", path("log.csv"), path("own.csv"));
    assertThat(result.code()).isEqualTo(ExitCode.USAGE);
    assertThat(result.err()).contains("log.csv, line 4: it has 3 cells, not 12");
    try (var files = Files.list(folder)) {
      assertThat(files).containsExactly(folder.resolve("log.csv"));
    }
  }

  @Tag("slow")
  @Test
  void generatesTheSameFileForTheSameSeed() throws IOException {
    for (List<String> out :
        List.of(List.of("a.csv", "3"), List.of("b.csv", "3"), List.of("c.csv", "4"))) {
      Terminal.Result result =
          Terminal.runPlain(
              "trace",
              "generate",
              path(out.getFirst()),
              "--like",
              "helios",
              "--jobs",
              "50",
              "--hours",
              "12",
              "--seed",
              out.getLast());
      assertThat(result.err()).isEmpty();
    }
    assertThat(folder.resolve("a.csv")).hasSameBinaryContentAs(folder.resolve("b.csv"));
    assertThat(Files.readString(folder.resolve("a.csv")))
        .isNotEqualTo(Files.readString(folder.resolve("c.csv")));
    assertThat(Terminal.runPlain("trace", "describe", path("a.csv")).out()).contains("jobs");
  }

  @Test
  void generatesTheShippedGangs() throws IOException {
    Path applications = TRACES.resolve("profiles/kastor.csv");
    String options = "--like helios --jobs 200 --hours 1.5 --start-hour 9 --gangs-of 8";
    List<String> line = new ArrayList<>(List.of("trace", "generate", path("gangs.csv")));
    line.addAll(List.of(options.split(" ")));
    line.addAll(List.of("--max-replicas", "8", "--seed", "1"));
    line.addAll(List.of("--applications", applications.toString()));
    assertThat(Terminal.runPlain(line.toArray(String[]::new)).err()).isEmpty();
    assertThat(folder.resolve("gangs.csv"))
        .hasSameTextualContentAs(TRACES.resolve("workloads/gangs-200.csv"));
    assertThat(Terminal.runPlain("trace", "generate", path("x"), "--gangs-of", "8").err())
        .contains("--gangs-of (8)", "--applications");
  }

  @Test
  void generatesJobsOfApplications() throws IOException {
    Terminal.Result result =
        Terminal.runPlain(
            "trace",
            "generate",
            path("apps.csv"),
            "--jobs",
            "60",
            "--note",
            "for a test",
            "--applications",
            TRACES.resolve("profiles/kastor.csv").toString());
    assertThat(result.err()).isEmpty();
    assertThat(Files.readString(folder.resolve("apps.csv")))
        .contains("# for a test\n")
        .contains(",digits,1,,")
        .contains(",adaptive,");
  }

  @Tag("slow")
  @Test
  void refusesWhatItDoesNotKnow() {
    assertThat(Terminal.runPlain("trace", "describe", MIXED, "--format", "lsf").err())
        .contains("no trace format 'lsf'", "philly, philly-csv, helios, alibaba, slurm");
    Terminal.Result study = Terminal.runPlain("trace", "generate", path("x"), "--like", "borg");
    assertThat(study.err()).contains("no study 'borg'", "[philly, helios]");
    assertThat(study.code()).isEqualTo(ExitCode.USAGE);
    assertThat(Terminal.runPlain("trace", "fit", folder.toString(), path("x")).err())
        .contains("has no profiles");
    assertThat(Terminal.runPlain("trace", "describe", path("absent.csv")).err())
        .contains("absent.csv cannot be read");
    assertThat(folder.resolve("x")).doesNotExist();
  }

  @Tag("slow")
  @Test
  void fitsTheApplicationsThatAreShippedAsAFormula() throws IOException {
    Terminal.Result result =
        Terminal.runPlain(
            "trace",
            "fit",
            TRACES.resolve("profiles/kastor.csv").toString(),
            path("fit.csv"),
            "--applications",
            "images,speech",
            "--gpu-types",
            "mine=");
    assertThat(result.err()).isEmpty();
    assertThat(result.out()).contains("images").contains("mine").contains("%");
    assertThat(Files.readAllLines(folder.resolve("fit.csv"))).hasSize(3);
    assertThat(
            Terminal.runPlain(
                    "trace",
                    "fit",
                    TRACES.resolve("profiles/kastor.csv").toString(),
                    path("none.csv"),
                    "--applications",
                    "resnet")
                .err())
        .contains("no application resnet", "digits, images, language, speech, ranking");
  }

  @Test
  void everyCommandHasHelpWithAnExample() {
    for (String name : List.of("describe", "convert", "generate", "fit")) {
      Terminal.Result help = Terminal.runPlain("trace", name, "--help");
      assertThat(help.code()).as(name).isZero();
      assertThat(help.out()).as(name).contains("Examples:").contains("kastor trace " + name);
    }
  }
}
