package dev.kastor.traces.format;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kastor.traces.TraceException;
import dev.kastor.traces.Workload;
import dev.kastor.traces.Workload.Job;
import dev.kastor.traces.Workload.Outcome;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Samples were written for these tests after the publishers' descriptions. */
final class LogFormatsTest {
  private static final String PHILLY =
      """
      [
        {"status": "Killed", "vc": "v", "jobid": "application_2", "submitted_time": "2017-10-07 02:00:00",
         "user": "u", "attempts": [
           {"start_time": "2017-10-07 02:00:10", "end_time": "2017-10-07 02:00:40",
            "detail": [{"ip": "m1", "gpus": ["gpu0"]}]},
           {"start_time": "2017-10-07 02:01:00", "end_time": "2017-10-07 02:02:00",
            "detail": [{"ip": "m1", "gpus": ["gpu0", "gpu1"]}, {"ip": "m2", "gpus": ["gpu0", "gpu1"]}]}]},
        {"status": "Pass", "vc": "v", "jobid": "application_1", "submitted_time": "2017-10-07 01:59:00",
         "user": "u", "attempts": [
           {"start_time": "2017-10-07 02:00:00", "end_time": "2017-10-08 02:00:00",
            "detail": [{"ip": "m3", "gpus": ["gpu5"]}]}]},
        {"status": "Failed", "vc": "v", "jobid": "application_3", "submitted_time": "2017-10-07 03:00:00",
         "user": "u", "attempts": []},
        {"status": "Pass", "vc": "v", "jobid": "application_4", "submitted_time": "2017-10-07 03:00:00",
         "user": "u", "attempts": [{"start_time": "2017-10-07 03:00:00", "end_time": null,
         "detail": [{"ip": "m3", "gpus": ["gpu5"]}]}]}
      ]
      """;

  private static final String HELIOS =
      """
      job_id,user,vc,gpu_num,cpu_num,node_num,state,submit_time,start_time,end_time,duration,queue
      11,u1,v1,8,32,1,COMPLETED,2020-06-09 18:41:01,2020-06-09 18:41:05,2020-06-09 18:51:05,600,4
      12,u2,v1,0,4,1,COMPLETED,2020-06-09 18:41:02,2020-06-09 18:41:02,2020-06-09 18:41:03,1,0
      13,u2,v1,1,4,1,CANCELLED,2020-06-09 18:41:03,2020-06-09 18:41:03,2020-06-09 18:41:13,10,0
      14,u2,v1,1,4,1,NODE_FAIL,2020-06-09 18:42:01,2020-06-09 18:42:01,2020-06-09 18:42:21,20,0
      15,u2,v1,1,4,1,FAILED,2020-06-09 18:43:01,2020-06-09 18:43:01,2020-06-09 18:43:01,0,0
      """;

  private static final String TASKS =
      """
      a,tensorflow,1.0,Terminated,110.0,210.0,600.0,29.3,50.0,MISC
      b,ps,2.0,Failed,300.0,390.0,600.0,29.3,,CPU
      b,worker,3.0,Failed,305.0,400.0,600.0,29.3,150.0,V100
      b,chief,1.0,Failed,300.0,390.0,600.0,29.3,100.0,V100
      c,worker,1.0,Running,305.0,,600.0,29.3,100.0,V100
      """;

  private static final String JOBS =
      """
      b,inst-b,u,Failed,290.0,400.0
      a,inst-a,u,Terminated,100.0,210.0
      c,inst-c,u,Running,300.0,
      """;

  private static final String SWF =
      """
      ; Version: 2.2
      ; Computer: a sample
      1  0  5 100 4 -1 -1 4 -1 -1 1 1 1 -1 1 -1 -1 -1
      2 10 -1  50 -1 -1 -1 8 -1 -1 0 1 1 -1 1 -1 -1 -1
      3 20  0  30 2 -1 -1 2 -1 -1 5 1 1 -1 1 -1 -1 -1
      4 30  0  30 2 -1 -1 2 -1 -1 2 1 1 -1 1 -1 -1 -1
      5 40  0   0 2 -1 -1 2 -1 -1 1 1 1 -1 1 -1 -1 -1
      """;

  @TempDir private Path folder = Path.of("");

  private Path file(String name, String content) throws IOException {
    return Files.writeString(folder.resolve(name), content);
  }

  private static TraceContent read(Path file) throws TraceException {
    return TraceFormats.read(file, TraceFormats.BUILT_IN, null, Set.of());
  }

  @Test
  void philly() throws IOException, TraceException {
    TraceContent content = read(file("cluster_job_log", PHILLY));
    assertThat(content.format().name()).isEqualTo("philly");
    assertThat(content.workload().jobs())
        .containsExactly(
            Job.timed("application_1", 0, 1, 86_400, Outcome.COMPLETED),
            Job.timed("application_2", 60, 4, 90, Outcome.KILLED));
    assertThat(content.skipped())
        .isEqualTo(Map.of("never ran", 1, "still running, or without times", 1));
  }

  @Test
  void phillyDigest() throws IOException, TraceException {
    TraceContent content =
        read(
            file(
                "philly.csv",
                """
                timestamp,duration,num_gpus,gpu_time,cluster
                2017-10-09 07:01:55,66.0,1,66.0,11cb48
                2017-10-09 06:01:55,100.5,8,804.0,11cb48
                """));
    assertThat(content.format().name()).isEqualTo("philly-csv");
    assertThat(content.workload().jobs())
        .containsExactly(
            Job.timed("job-2", 0, 8, 100.5, Outcome.COMPLETED),
            Job.timed("job-1", 3600, 1, 66, Outcome.COMPLETED));
  }

  @Test
  void helios() throws IOException, TraceException {
    TraceContent content = read(file("cluster_log.csv", HELIOS));
    assertThat(content.format().name()).isEqualTo("helios");
    assertThat(content.workload().jobs())
        .containsExactly(
            Job.timed("11", 0, 8, 600, Outcome.COMPLETED),
            Job.timed("13", 2, 1, 10, Outcome.KILLED),
            Job.timed("14", 60, 1, 20, Outcome.FAILED));
    assertThat(content.skipped()).isEqualTo(Map.of("without GPUs", 1, "never ran", 1));
  }

  @Test
  void alibabaWithItsJobTable() throws IOException, TraceException {
    file("pai_task_table.csv", TASKS);
    file("pai_job_table.csv", JOBS);
    for (Path trace : new Path[] {folder, folder.resolve("pai_task_table.csv")}) {
      TraceContent content = read(trace);
      assertThat(content.format().name()).isEqualTo("alibaba");
      assertThat(content.workload().jobs())
          .containsExactly(
              Job.timed("a", 0, 1, 100, Outcome.COMPLETED),
              Job.timed("b", 190, 7, 100, Outcome.FAILED));
      assertThat(content.skipped()).isEqualTo(Map.of("still running, or without times", 1));
    }
  }

  @Test
  void alibabaTasksAlone() throws IOException, TraceException {
    String header =
        "job_name,task_name,inst_num,status,start_time,end_time,plan_cpu,plan_mem,plan_gpu,gpu_type\n";
    assertThat(read(file("tasks.csv", header + TASKS)).workload().jobs())
        .containsExactly(
            Job.timed("a", 0, 1, 100, Outcome.COMPLETED),
            Job.timed("b", 190, 7, 100, Outcome.FAILED));
  }

  @Test
  void swf() throws IOException, TraceException {
    TraceContent content = read(file("log.swf", SWF));
    assertThat(content.format().name()).isEqualTo("swf");
    assertThat(content.workload().name()).isEqualTo("log");
    assertThat(content.workload().jobs())
        .containsExactly(
            Job.timed("job-1", 0, 4, 100, Outcome.COMPLETED),
            Job.timed("job-2", 10, 8, 50, Outcome.FAILED),
            Job.timed("job-3", 20, 2, 30, Outcome.KILLED));
    assertThat(content.skipped()).isEqualTo(Map.of("part of an execution", 1, "never ran", 1));
  }

  @Test
  void readsWhatIsCompressed() throws IOException, TraceException {
    Path file = folder.resolve("helios.csv.gz");
    try (OutputStream out = new GZIPOutputStream(Files.newOutputStream(file))) {
      out.write(HELIOS.getBytes(StandardCharsets.UTF_8));
    }
    TraceContent content = read(file);
    assertThat(content.workload().name()).isEqualTo("helios");
    assertThat(content.workload().jobs()).hasSize(3);
  }

  @Test
  void everyFormatHasANameOfItsOwnAndIsFoundByIt() throws TraceException {
    for (TraceFormat format : TraceFormats.BUILT_IN.all()) {
      assertThat(TraceFormats.BUILT_IN.get(format.name())).isSameAs(format);
    }
    assertThatThrownBy(
            () -> TraceFormats.read(Path.of("any.csv"), TraceFormats.BUILT_IN, "slurm", Set.of()))
        .isInstanceOf(TraceException.class)
        .hasMessageContainingAll("slurm", "philly", "swf", "kastor");
  }

  @Test
  void aConvertedLogReadsBackTheSame() throws IOException, TraceException {
    Workload philly = read(file("cluster_job_log", PHILLY)).workload();
    Path own = file("cluster_job_log.csv", WorkloadFile.text(List.of("note"), philly));
    assertThat(read(own).format().name()).isEqualTo("kastor");
    assertThat(read(own).workload()).isEqualTo(philly);
  }
}
