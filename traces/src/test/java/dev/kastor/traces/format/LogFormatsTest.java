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
import org.junit.jupiter.api.Tag;
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

  private static final String SACCT =
      """
      JobID|Submit|Start|End|State|Account|Partition|ReqTRES|AllocTRES
      101|2026-03-01T12:00:00|2026-03-01T12:00:10|2026-03-01T12:10:10|COMPLETED|vision|gpu|cpu=8,gres/gpu=2|billing=8,cpu=8,gres/gpu:a100=2,gres/gpu=2,mem=64G,node=1
      101.batch|2026-03-01T12:00:00|2026-03-01T12:00:10|2026-03-01T12:10:10|COMPLETED|vision|||cpu=8,gres/gpu=2
      102|2026-03-01T12:01:00|2026-03-01T12:02:00|2026-03-01T12:02:30|CANCELLED by 1000||gpu|gres/gpu:a100=4|gres/gpu:a100=3,gres/gpu:t4=1
      103_7|2026-03-01T12:01:30|2026-03-01T12:02:00|2026-03-01T12:03:00|OUT_OF_MEMORY|nlp|gpu|gres/gpu=8|
      104|2026-03-01T12:04:00|None|2026-03-01T12:05:00|CANCELLED by 1000|nlp|gpu|gres/gpu=8|
      105|2026-03-01T12:04:00|2026-03-01T12:05:00|Unknown|RUNNING|nlp|gpu|gres/gpu=8|gres/gpu=8
      106|2026-03-01T12:04:00|2026-03-01T12:05:00|2026-03-01T12:06:00|COMPLETED|nlp|cpu|cpu=4|cpu=4,mem=1G,node=1
      107|2026-03-01T12:04:00|2026-03-01T12:05:00|2026-03-01T12:06:00|TIMEOUT|nlp|gpu|gres/gpu=1|gres/gpu=1
      108|2026-03-01T12:04:00|2026-03-01T12:05:00|2026-03-01T12:06:00|LOST_IN_SPACE|nlp|gpu|gres/gpu=1|gres/gpu=1
      109|2026-03-01T12:04:00|2026-03-01T12:05:00|2026-03-01T12:05:00|CANCELLED|nlp|gpu|gres/gpu=1|gres/gpu=1
      """;

  @Test
  void slurm() throws IOException, TraceException {
    TraceContent content = read(file("history.txt", SACCT));
    assertThat(content.format().name()).isEqualTo("slurm");
    assertThat(content.workload().jobs())
        .containsExactly(
            Job.timed("101", 0, 2, 600, Outcome.COMPLETED).queued("vision", 0),
            Job.timed("102", 60, 4, 30, Outcome.KILLED).queued("gpu", 0),
            Job.timed("103_7", 90, 8, 60, Outcome.FAILED).queued("nlp", 0),
            Job.timed("107", 240, 1, 60, Outcome.KILLED).queued("nlp", 0));
    assertThat(content.skipped())
        .isEqualTo(
            Map.of(
                "a step of a job", 1,
                "never ran", 2,
                "has not ended", 1,
                "uses no GPU", 1,
                "in state 'LOST_IN_SPACE'", 1));
    assertThat(content.workload().assumptions()).contains("4 of 4 jobs", "they are rigid");
  }

  @Test
  void slurmMayWriteSecondsSince1970() throws IOException, TraceException {
    TraceContent content =
        read(
            file(
                "history.txt",
                "State|End|Start|Submit|ReqTRES|JobID\nFAILED|1000060|1000000|999990|gres/gpu=1|7\n"));
    assertThat(content.workload().jobs()).containsExactly(Job.timed("7", 0, 1, 60, Outcome.FAILED));
  }

  private static String pod(String resources) {
    return "\"template\": {\"spec\": {\"containers\": [{\"resources\": %s}]}}".formatted(resources);
  }

  private static String condition(String type, String at, String reason) {
    return "{\"type\": \"%s\", \"status\": \"True\", \"reason\": \"%s\", \"message\": \"m\", \"lastTransitionTime\": \"%s\"}"
        .formatted(type, reason, at);
  }

  private static String workload(String name, String podSets, String... conditions) {
    return """
    {"apiVersion": "kueue.x-k8s.io/v1beta1", "kind": "Workload",
     "metadata": {"name": "%s", "namespace": "team", "creationTimestamp": "2026-03-01T12:00:00Z"},
     "spec": {"queueName": "research", "priority": 5, "podSets": [%s]},
     "status": {"conditions": [%s]}}
    """
        .formatted(name, podSets, String.join(",", conditions));
  }

  private static String list(String... items) {
    return "{\"apiVersion\": \"v1\",\n\"items\": [\n%s], \"kind\": \"List\", \"metadata\": {\"resourceVersion\": \"\"}}"
        .formatted(String.join(",\n", items));
  }

  @Test
  void workloadsOfKueue() throws IOException, TraceException {
    String eight = pod("{\"limits\": {\"nvidia.com/gpu\": \"8\", \"cpu\": \"4\"}}");
    String one = pod("{\"requests\": {\"amd.com/gpu\": 1}}");
    String admitted = condition("Admitted", "2026-03-01T12:01:00Z", "Admitted");
    TraceContent content =
        read(
            file(
                "workloads.json",
                list(
                    workload(
                        "two",
                        "{\"count\": 2, %s}".formatted(eight),
                        condition("QuotaReserved", "2026-03-01T12:00:59Z", "QuotaReserved"),
                        admitted,
                        condition("Finished", "2026-03-01T13:01:00Z", "Succeeded")),
                    workload(
                        "mixed",
                        "{\"count\": 1, %s}, {\"count\": 3, %s}".formatted(eight, one),
                        admitted,
                        condition("Finished", "2026-03-01T12:02:00Z", "Failed")),
                    workload("runs", "{\"count\": 1, %s}".formatted(one), admitted),
                    workload(
                        "cpu",
                        "{\"count\": 1, %s}".formatted(pod("{}")),
                        admitted,
                        condition("Finished", "2026-03-01T12:02:00Z", "Succeeded")),
                    workload(
                        "waited",
                        "{\"count\": 1, %s}".formatted(one),
                        condition("Finished", "2026-03-01T12:02:00Z", "Failed")))));
    assertThat(content.format().name()).isEqualTo("kubernetes");
    assertThat(content.workload().jobs())
        .containsExactly(
            Job.timed("team/two", 0, 2, 3600, Outcome.COMPLETED)
                .queued("research", 5)
                .withSlotsPerReplica(8),
            Job.timed("team/mixed", 0, 11, 60, Outcome.FAILED).queued("research", 5));
    assertThat(content.skipped())
        .isEqualTo(Map.of("has not ended", 1, "uses no GPU", 1, "never ran", 1));
  }

  @Test
  void jobsOfKubernetes() throws IOException, TraceException {
    String job =
        """
        {"apiVersion": "batch/v1", "kind": "Job",
         "metadata": {"name": "train", "namespace": "team", "creationTimestamp": "2026-03-01T12:00:00Z",
           "labels": {"kueue.x-k8s.io/queue-name": "research"}},
         "spec": {"parallelism": 4, %s},
         "status": {"startTime": "2026-03-01T12:05:00Z", "conditions": [%s]}}
        """
            .formatted(
                pod("{\"limits\": {\"nvidia.com/gpu\": \"2\"}}"),
                condition("Complete", "2026-03-01T12:15:00Z", "CompletionsReached"));
    assertThat(read(file("jobs.json", list(job))).workload().jobs())
        .containsExactly(
            Job.timed("team/train", 0, 4, 600, Outcome.COMPLETED)
                .queued("research", 0)
                .withSlotsPerReplica(2));
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
            () -> TraceFormats.read(Path.of("any.csv"), TraceFormats.BUILT_IN, "lsf", Set.of()))
        .isInstanceOf(TraceException.class)
        .hasMessageContainingAll("lsf", "philly", "slurm", "kubernetes", "swf", "kastor");
  }

  @Tag("slow")
  @Test
  void aConvertedLogReadsBackTheSame() throws IOException, TraceException {
    Workload philly = read(file("cluster_job_log", PHILLY)).workload();
    Path own = file("cluster_job_log.csv", WorkloadFile.text(List.of("note"), philly));
    assertThat(read(own).format().name()).isEqualTo("kastor");
    assertThat(read(own).workload()).isEqualTo(philly);
  }
}
