package dev.kastor.cli.queue;

import dev.kastor.cli.connect.Cluster;
import dev.kastor.cli.connect.ClusterOptions;
import dev.kastor.cli.connect.OperatorAway;
import dev.kastor.cli.connect.OperatorPage;
import dev.kastor.cli.terminal.Output;
import dev.kastor.cli.terminal.Table;
import java.io.PrintWriter;
import java.util.List;
import java.util.Map;

/** Lists queues. */
final class Queues {
  private final ClusterOptions options;
  private final PrintWriter out;
  private final PrintWriter err;

  Queues(ClusterOptions options, PrintWriter out, PrintWriter err) {
    this.options = options;
    this.out = out;
    this.err = err;
  }

  void list(Output output) {
    try (Cluster cluster = Cluster.connect(options)) {
      List<QueueView> queues = queues(cluster);
      switch (output) {
        case JSON, YAML -> output.print(Map.of("queues", queues), out);
        case NAME ->
            queues.stream().map(QueueView::name).filter(n -> !n.isEmpty()).forEach(out::println);
        case TABLE, WIDE -> {
          if (queues.isEmpty()) {
            out.println("no queue is configured and no job wants to run");
          } else {
            Table table = new Table(QueueView.HEADER).rightFrom(2);
            queues.forEach(queue -> table.row(queue.cells()));
            table.lines().forEach(out::println);
          }
        }
      }
      out.flush();
    }
  }

  private List<QueueView> queues(Cluster cluster) {
    try (OperatorPage page = OperatorPage.open(cluster, options)) {
      var told = page.json("/api/v1/queues");
      if (told.isPresent()) {
        return QueueView.of(told.get());
      }
      throw new OperatorAway("the operator is older than this command", null);
    } catch (OperatorAway e) {
      err.println("kastor: weights and shares are not known: " + e.getMessage());
      err.flush();
      return QueueView.of(cluster.jobs(null));
    }
  }
}
