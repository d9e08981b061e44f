package dev.kastor.engine.data;

import dev.kastor.engine.data.Inputs.Categories.Column;
import dev.kastor.engine.data.Inputs.Categories.Pair;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * A CSV file whose columns are all taken for categories: a token for each column and for each pair
 * of columns that is asked for.
 *
 * @param training rows to train with
 * @param heldOut rows that only evaluation sees
 * @param columns columns without that of the labels
 * @param columnTokens number of tokens of columns; those of pairs begin there
 * @param tokens number of all tokens
 * @param inputs how fields become tokens
 * @param labels names of the classes
 */
public record CategoryTable(
    Tokens training,
    Tokens heldOut,
    int columns,
    int columnTokens,
    int tokens,
    Inputs.Categories inputs,
    List<String> labels) {
  /** Tokens are carried as floats, which tell no more whole numbers apart. */
  private static final int MOST_TOKENS = 1 << 24;

  /** How many classes there are. */
  public int classes() {
    return labels.size();
  }

  /**
   * How columns become tokens.
   *
   * @param buckets tokens of a column: its values if there are so few, else what they hash to, or,
   *     of numbers, as many ranges with about the same number of training rows each
   * @param pairBuckets tokens of a pair, to which its values hash if there are more of them
   * @param pairs names of columns, two by two
   */
  public record Rules(int buckets, int pairBuckets, List<List<String>> pairs) {
    public Rules {
      pairs = List.copyOf(pairs);
    }

    /** All pairs of some columns. */
    public static List<List<String>> all(List<String> columns) {
      List<List<String>> pairs = new ArrayList<>();
      for (int a = 0; a < columns.size(); a++) {
        for (int b = a + 1; b < columns.size(); b++) {
          pairs.add(List.of(columns.get(a), columns.get(b)));
        }
      }
      return pairs;
    }
  }

  /** Makes the rules once the columns are known. */
  public interface RulesOf<E extends Exception> {
    Rules rules(List<String> columns) throws E;
  }

  /**
   * Reads a file and keeps every so-many-th row as held-out data.
   *
   * @param labelColumn name of the column of labels
   * @param holdOutEvery at least 2: rows holdOutEvery, 2 holdOutEvery, .. are held out
   */
  public static <E extends Exception> CategoryTable read(
      Path file, String labelColumn, int holdOutEvery, RulesOf<E> rulesOf) throws DataException, E {
    List<CategoryColumn> columns = new ArrayList<>();
    CsvTable table =
        CsvTable.read(
            file,
            labelColumn,
            holdOutEvery,
            (number, names, fields) -> {
              while (columns.size() < fields.size()) {
                columns.add(new CategoryColumn());
              }
              for (int i = 0; i < fields.size(); i++) {
                columns.get(i).add(fields.get(i));
              }
            });
    Rules rules = rulesOf.rules(table.columns());
    int[] training = table.rows(holdOutEvery, false);
    List<Buckets> rulesOfColumns =
        columns.stream().map(column -> column.buckets(rules.buckets(), training)).toList();
    int[][] buckets = new int[columns.size()][];
    Arrays.setAll(buckets, i -> columns.get(i).rows(rulesOfColumns.get(i)));
    int tokens = tokens(file, columns.size(), rules);
    List<Column> inputColumns = new ArrayList<>();
    for (int c = 0; c < buckets.length; c++) {
      inputColumns.add(
          new Column(table.columns().get(c), rulesOfColumns.get(c), c * rules.buckets()));
    }
    List<Pair> pairs = pairs(file, table.columns(), buckets, rules);
    int[][] slots = slots(buckets, inputColumns, pairs);
    return new CategoryTable(
        part(slots, table, training),
        part(slots, table, table.rows(holdOutEvery, true)),
        columns.size(),
        columns.size() * rules.buckets(),
        tokens,
        new Inputs.Categories(inputColumns, pairs),
        table.names());
  }

  /**
   * Looks at the beginning of a file: at its columns and first rows.
   *
   * @return the most training rows that it can hold
   */
  public static <E extends Exception> long glance(
      Path file, String labelColumn, int holdOutEvery, RulesOf<E> rulesOf) throws DataException, E {
    CsvTable.Beginning beginning =
        CsvTable.begin(file, labelColumn, holdOutEvery, (number, names, fields) -> {});
    Rules rules = rulesOf.rules(beginning.columns());
    tokens(file, beginning.columns().size(), rules);
    for (List<String> pair : rules.pairs()) {
      column(file, beginning.columns(), pair.getFirst());
      column(file, beginning.columns(), pair.getLast());
    }
    return beginning.mostTraining();
  }

  /** How many tokens there are. */
  private static int tokens(Path file, int columns, Rules rules) throws DataException {
    long tokens =
        (long) columns * rules.buckets() + (long) rules.pairs().size() * rules.pairBuckets();
    if (tokens > MOST_TOKENS) {
      throw new DataException(
          file,
          "%d columns and %d pairs make %d tokens, more than %d"
              .formatted(columns, rules.pairs().size(), tokens, MOST_TOKENS));
    }
    return (int) tokens;
  }

  private static List<Pair> pairs(Path file, List<String> columns, int[][] buckets, Rules rules)
      throws DataException {
    List<Pair> pairs = new ArrayList<>();
    int next = buckets.length * rules.buckets();
    for (List<String> names : rules.pairs()) {
      int left = column(file, columns, names.getFirst());
      int right = column(file, columns, names.getLast());
      int width = 1 + Arrays.stream(buckets[right]).max().orElse(0);
      boolean fits =
          (1L + Arrays.stream(buckets[left]).max().orElse(0)) * width <= rules.pairBuckets();
      pairs.add(new Pair(left, right, width, !fits, rules.pairBuckets(), next));
      next += rules.pairBuckets();
    }
    return pairs;
  }

  /** The tokens of all rows, {@code [columns + pairs][rows]}. */
  private static int[][] slots(int[][] buckets, List<Column> columns, List<Pair> pairs) {
    List<int[]> slots = new ArrayList<>();
    for (int c = 0; c < buckets.length; c++) {
      int first = columns.get(c).first();
      slots.add(Arrays.stream(buckets[c]).map(bucket -> first + bucket).toArray());
    }
    for (Pair pair : pairs) {
      int[] crossed = new int[buckets[pair.left()].length];
      Arrays.setAll(
          crossed, row -> pair.token(buckets[pair.left()][row], buckets[pair.right()][row]));
      slots.add(crossed);
    }
    return slots.toArray(int[][]::new);
  }

  private static int column(Path file, List<String> columns, String name) throws DataException {
    int at = columns.indexOf(name);
    if (at < 0) {
      throw DataException.noColumn(
          file, "there is no column '%s' to pair".formatted(name), name, columns);
    }
    return at;
  }

  private static Tokens part(int[][] slots, CsvTable table, int[] rows) {
    int[] tokens = new int[Math.multiplyExact(rows.length, slots.length)];
    int[] labels = new int[rows.length];
    for (int i = 0; i < rows.length; i++) {
      for (int s = 0; s < slots.length; s++) {
        tokens[i * slots.length + s] = slots[s][rows[i]];
      }
      labels[i] = table.labels()[rows[i]];
    }
    return new Tokens(slots.length, tokens, labels);
  }
}
