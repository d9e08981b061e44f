package dev.kastor.cli.recording;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.kastor.cli.connect.Cluster;
import dev.kastor.cli.connect.ClusterOptions;
import dev.kastor.cli.connect.OperatorAway;
import dev.kastor.cli.connect.OperatorPage;
import dev.kastor.cli.terminal.CliException;
import dev.kastor.cli.terminal.ExitCode;
import dev.kastor.cli.terminal.ResultFile;
import dev.kastor.local.StateFolder;
import dev.kastor.scheduler.live.RecordingDocument;
import dev.kastor.traces.AtomicFile;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code kastor record}. */
@Command(
    name = "record",
    description = {
      "Fetches what the operator has recorded of its cluster since it began: which jobs came, how"
          + " fast they trained, what they were given, how they ended, and which nodes were there.",
      "kastor simulate --recording replays it under any policy, quota or cluster. Names of jobs,"
          + " namespaces, families, queues and nodes are replaced by pseudonyms, the same in all"
          + " recordings that are made with one KASTOR_HOME."
    },
    footerHeading = "%nExamples:%n",
    footer = {
      "  kastor record -o week.json",
      "  kastor simulate --recording week.json",
      "  kastor simulate --recording week.json --policy kastor,fifo --cluster 8x8"
    })
public final class RecordCommand implements Runnable {
  private static final String KEY = "recording.key";

  private static final ObjectMapper JSON =
      new ObjectMapper().disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES);

  @Spec private CommandSpec spec = CommandSpec.create();

  @ArgGroup(validate = false, heading = ClusterOptions.HEADING)
  private ClusterOptions cluster = new ClusterOptions();

  @Option(
      names = {"-o", "--out"},
      paramLabel = "FILE",
      defaultValue = "kastor-recording.json",
      description = "File to write; - for the terminal (default: ${DEFAULT-VALUE}).")
  private Path out = Path.of("kastor-recording.json");

  @Option(names = "--names", description = "Keep all names as they are.")
  private boolean names;

  @Override
  public void run() {
    boolean terminal = out.equals(Path.of("-"));
    if (!terminal) {
      ResultFile.check(out);
    }
    PrintWriter lines = spec.commandLine().getOut();
    try {
      RecordingDocument told = fetched();
      RecordingDocument recording =
          names ? told : told.renamed(Pseudonyms.ofKey(StateFolder.home().resolve(KEY)));
      String text = JSON.writeValueAsString(recording) + "\n";
      if (terminal) {
        lines.print(text);
      } else {
        AtomicFile.write(out, text);
        lines.printf(
            "%d jobs from %s to %s in %s%s%n",
            recording.jobs().size(),
            recording.from(),
            recording.until(),
            out,
            names ? "" : ", under pseudonyms");
        if (recording.forgotten() > 0) {
          lines.printf("%d older jobs are forgotten%n", recording.forgotten());
        }
      }
      lines.flush();
    } catch (OperatorAway e) {
      throw new CliException(ExitCode.FAILED, "record needs the operator: " + e.getMessage(), e);
    } catch (IOException e) {
      throw new CliException(ExitCode.FAILED, String.valueOf(e.getMessage()), e);
    }
  }

  private RecordingDocument fetched() throws OperatorAway {
    try (Cluster connected = Cluster.connect(cluster);
        OperatorPage page = OperatorPage.open(connected, cluster)) {
      JsonNode told =
          page.json("/api/v1/recording")
              .orElseThrow(() ->
                  new OperatorAway("it is older than this command and records nothing", null));
      return JSON.treeToValue(told, RecordingDocument.class);
    } catch (JsonProcessingException | IllegalArgumentException e) {
      throw new OperatorAway(
          "its recording cannot be read. Use a command of the operator's version: "
              + e.getMessage(),
          e);
    }
  }
}
