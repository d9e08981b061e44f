package dev.kastor.traces.format;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kastor.traces.TraceException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

final class BadTracesTest {
  private static final String OWN =
      "name,submitSeconds,application,minReplicas,maxReplicas,requestedReplicas,globalBatch,category,durationSeconds,outcome\n";
  private static final String ARTIFACT = "name,time,application,num_replicas,batch_size\n";
  private static final String SACCT = "JobID|Submit|Start|End|State|ReqTRES\n";
  private static final String HELIOS = "job_id,gpu_num,state,submit_time,duration\n";
  private static final String SWF = "1 0 5 100 4 -1 -1 4 -1 -1 1 1 1 -1 1 -1 -1 -1\n";

  /** A broken file, and what its error must say. */
  record Case(String content, List<String> says) {
    static Case of(String content, String... says) {
      return new Case(content, List.of(says));
    }
  }

  static Stream<Case> cases() {
    return Stream.of(
        Case.of("", "bad.csv", "is empty"),
        Case.of("# only a comment\n\n", "bad.csv", "is empty"),
        Case.of(OWN, "bad.csv", "has no jobs"),
        Case.of("hello\n", "line 1", "'hello'", "kastor", "philly", "requestedReplicas"),
        Case.of("name,submitSeconds\n", "line 1", "no column requestedReplicas"),
        Case.of("name,time\na,0\n", "line 1", "no column application,num_replicas,batch_size"),
        Case.of(OWN + "a,-1,p,1,4,2,,,,\n", "line 2", "column submitSeconds", "'-1'", "at least 0"),
        Case.of(OWN + "a,NaN,p,1,4,2,,,,\n", "line 2", "column submitSeconds", "not finite"),
        Case.of(OWN + "a,soon,p,1,4,2,,,,\n", "line 2", "column submitSeconds", "'soon'"),
        Case.of(
            OWN + "a,9,p,1,4,2,,,,\nb,8,p,1,4,2,,,,\n", "line 3", "8.0", "9.0", "Sort the rows"),
        Case.of(OWN + "a,0,p,1,4,2\n", "line 2", "6 cells, not 10"),
        Case.of(OWN + "a,0,q,1,4,2,,,,\n", "line 2", "no application 'q'", "one of: p, r"),
        Case.of(OWN + "a,0,,1,4,2,,,,\n", "line 2", "column application", "empty"),
        Case.of(OWN + "a,0,p,1,4,2,,,,\na,1,p,1,4,2,,,,\n", "line 3", "'a' appears twice"),
        Case.of(OWN + "a,0,p,4,2,2,,,,\n", "line 2", "column maxReplicas", "minReplicas (4)"),
        Case.of(OWN + "a,0,p,1,4,5,,,,\n", "line 2", "column requestedReplicas", "maxReplicas (4)"),
        Case.of(OWN + "a,0,p,1,4,2,0,,,\n", "line 2", "column globalBatch", "at least 1"),
        Case.of(OWN + "a,0,p,1,4,2,,fluid,,\n", "line 2", "column category", "rigid"),
        Case.of(OWN + "a,0,,2,2,2,,,-5,\n", "line 2", "column durationSeconds", "'-5'"),
        Case.of(OWN + "a,0,,2,2,2,,,Infinity,\n", "line 2", "column durationSeconds", "finite"),
        Case.of(OWN + "a,0,p,1,4,2,,,,lost\n", "line 2", "column outcome", "killed"),
        Case.of(ARTIFACT + "a,0,p,0,8\n", "line 2", "column num_replicas", "at least 1"),
        Case.of(ARTIFACT + "a,0,q,1,8\n", "line 2", "no application 'q'", "one of: p, r"),
        Case.of(ARTIFACT + "a,5,p,1,8\nb,4,p,1,8\n", "line 3", "Sort the rows"),
        Case.of(HELIOS + "1,1,DONE,2020-06-09 18:41:01,5\n", "line 2", "column state", "'DONE'"),
        Case.of(HELIOS + "1,1,FAILED,yesterday,5\n", "line 2", "column submit_time", "yesterday"),
        Case.of(HELIOS + "1,1.5,FAILED,2020-06-09 18:41:01,5\n", "line 2", "column gpu_num"),
        Case.of(HELIOS + "1,1,FAILED,2020-06-09 18:41:01,-5\n", "line 2", "column duration"),
        Case.of(HELIOS + "1,0,FAILED,2020-06-09 18:41:01,5\n", "no job that can be replayed"),
        Case.of("; swf\n" + SWF + "2 0 5\n", "line 3", "3 fields, not 18"),
        Case.of("; swf\n" + SWF.replace("100", "NaN"), "line 2", "run time", "'NaN'"),
        Case.of("; swf\n" + SWF.replace("1 0 5", "1 -7 5"), "line 2", "submit time", "negative"),
        Case.of("[\n{\"jobid\": \"a\"}\n]\n", "line 2", "submitted_time"),
        Case.of("JobID|State\n", "line 1", "no field Submit"),
        Case.of("JobID|Submit|Start|End|State\n", "line 1", "AllocTRES", "ReqTRES"),
        Case.of(SACCT + "\n1|a|b\n", "line 3", "3 fields, not 6", "JobName"),
        Case.of(SACCT + "1|soon|later|later|FAILED|gres/gpu=1\n", "line 2", "'later'", "End"),
        Case.of(SACCT + "1|soon|9|10|FAILED|gres/gpu=1\n", "line 2", "Submit", "'soon'"),
        Case.of(SACCT + "1|1|10|9|FAILED|gres/gpu=1\n", "line 2", "End", "before Start"),
        Case.of(SACCT + "1|1|9|10|FAILED|gres/gpu=two\n", "line 2", "ReqTRES", "'two'"),
        Case.of(
            SACCT + "1|1|9|10|FAILED|gres/gpu=1\n1|1|9|10|FAILED|gres/gpu=1\n", "line 3", "twice"),
        Case.of(SACCT + "1|1|9|10|NEW|gres/gpu=1\n", "no job", "in state 'NEW'=1"),
        Case.of("{\"kind\":\n\"List\"}\n", "line 1", "no list of items"),
        Case.of("{\"items\":\n{}}\n", "line 2", "items", "not a list"),
        Case.of("{\"items\": [\n{\"kind\": \"Pod\"}]}\n", "line 2", "'Pod'", "Workload", "Job"),
        Case.of("{\"items\": [\n{\"kind\": \"Job\"}]}\n", "line 2", "name"),
        Case.of("{\"items\": [\n{\"kind\": oops}]}\n", "line 2", "not valid JSON"),
        Case.of("[\n{\"jobid\": \"a\",\n", "bad.csv", "cannot be read"),
        Case.of("timestamp,duration,num_gpus\n2020-06-09 18:41:01,x,1\n", "line 2", "'x'"));
  }

  @TempDir private Path folder = Path.of("");

  @Tag("slow")
  @ParameterizedTest
  @MethodSource("cases")
  void namesThePlaceAndTheRemedy(Case bad) throws IOException {
    Path file = Files.writeString(folder.resolve("bad.csv"), bad.content());
    Set<String> applications = new TreeSet<>(List.of("p", "r"));
    assertThatThrownBy(() -> TraceFormats.read(file, applications))
        .isInstanceOf(TraceException.class)
        .hasMessageContaining("bad.csv")
        .hasMessageContainingAll(bad.says().toArray(String[]::new));
  }
}
