package dev.kastor.engine.program;

import dev.kastor.engine.data.CategoryTable;
import dev.kastor.engine.data.CategoryTable.Rules;
import dev.kastor.engine.data.DataException;
import dev.kastor.engine.nn.WideAndDeep;
import dev.kastor.engine.train.ProgramException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.OptionalLong;
import java.util.SequencedMap;
import java.util.Set;

/** Classifies rows of a table whose columns are categories or can be taken for some. */
final class TableProgram extends NetworkProgram {
  /** All pairs of more columns than this are more than anybody wants to train. */
  private static final int MOST_CROSSED = 32;

  TableProgram() {
    super(
        "table-wide-deep",
        "Classifies rows of a table with a linear model of categories and pairs beside layers over"
            + " embeddings.",
        defaults());
  }

  private static SequencedMap<String, String> defaults() {
    SequencedMap<String, String> defaults = new LinkedHashMap<>();
    defaults.put("data", "");
    defaults.put("labelColumn", "label");
    defaults.put("holdOutEvery", "10");
    defaults.put("buckets", "64");
    defaults.put("crosses", "all");
    defaults.put("crossBuckets", "1024");
    defaults.put("embedding", "8");
    defaults.put("hidden", "64,32");
    defaults.put("optimizer", "adam");
    return defaults;
  }

  @Override
  public Set<String> pathParameters() {
    return Set.of("data");
  }

  private record Settings(
      Path data,
      String labelColumn,
      int holdOutEvery,
      int buckets,
      int crossBuckets,
      int embedding,
      List<Integer> hidden) {
    static Settings of(Parameters parameters) throws ProgramException {
      return new Settings(
          parameters.path("data"),
          parameters.text("labelColumn"),
          parameters.integer("holdOutEvery", 2, 1_000_000),
          parameters.integer("buckets", 2, 1 << 20),
          parameters.integer("crossBuckets", 1, 1 << 20),
          parameters.integer("embedding", 1, 1024),
          parameters.widths("hidden", 0, 16));
    }

    Rules rules(Parameters parameters, List<String> columns) throws ProgramException {
      return new Rules(buckets, crossBuckets, crosses(parameters, columns));
    }
  }

  @Override
  protected OptionalLong glance(Parameters parameters) throws ProgramException {
    Settings settings = Settings.of(parameters);
    try {
      return OptionalLong.of(
          CategoryTable.glance(
              settings.data,
              settings.labelColumn,
              settings.holdOutEvery,
              columns -> settings.rules(parameters, columns)));
    } catch (DataException e) {
      throw parameters.unusable(e);
    }
  }

  @Override
  protected Task task(Parameters parameters) throws ProgramException {
    Settings settings = Settings.of(parameters);
    CategoryTable table;
    try {
      table =
          CategoryTable.read(
              settings.data,
              settings.labelColumn,
              settings.holdOutEvery,
              columns -> settings.rules(parameters, columns));
    } catch (DataException e) {
      throw parameters.unusable(e);
    }
    WideAndDeep network =
        new WideAndDeep(
            table.columns(),
            table.training().width() - table.columns(),
            table.columnTokens(),
            table.tokens(),
            settings.embedding,
            settings.hidden,
            table.classes());
    return new Task(network, table.training(), table.heldOut(), table.inputs(), table.labels());
  }

  private static List<List<String>> crosses(Parameters parameters, List<String> columns)
      throws ProgramException {
    String given = parameters.text("crosses");
    if (given.equals("none") || given.isEmpty()) {
      return List.of();
    }
    if (given.equals("all")) {
      if (columns.size() > MOST_CROSSED) {
        throw parameters.wrong(
            "crosses",
            "'none' or some pairs 'a*b,c*d', as there are %d columns,".formatted(columns.size()));
      }
      return Rules.all(columns);
    }
    List<List<String>> pairs = new ArrayList<>();
    for (String pair : given.split(",", -1)) {
      String[] names = pair.split("\\*", -1);
      if (names.length != 2) {
        throw parameters.wrong("crosses", "'all', 'none' or pairs of columns such as 'a*b,c*d'");
      }
      pairs.add(List.of(names[0].strip(), names[1].strip()));
    }
    return pairs;
  }
}
