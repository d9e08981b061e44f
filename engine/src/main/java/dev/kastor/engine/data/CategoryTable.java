package dev.kastor.engine.data;

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
 * @param classes labels are in [0, classes)
 */
public record CategoryTable(
    Tokens training, Tokens heldOut, int columns, int columnTokens, int tokens, int classes) {
  /** Tokens are carried as floats, which tell no more whole numbers apart. */
  private static final int MOST_TOKENS = 1 << 24;

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
    int[][] buckets =
        columns.stream()
            .map(column -> column.buckets(rules.buckets(), training))
            .toArray(int[][]::new);
    int tokens = tokens(file, columns.size(), rules);
    int[][] slots = slots(file, table.columns(), buckets, rules);
    return new CategoryTable(
        part(slots, table, training),
        part(slots, table, table.rows(holdOutEvery, true)),
        columns.size(),
        columns.size() * rules.buckets(),
        tokens,
        table.classes());
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

  /** The tokens of all rows, {@code [columns + pairs][rows]}. */
  private static int[][] slots(Path file, List<String> columns, int[][] buckets, Rules rules)
      throws DataException {
    List<int[]> slots = new ArrayList<>();
    for (int c = 0; c < buckets.length; c++) {
      int first = c * rules.buckets();
      slots.add(Arrays.stream(buckets[c]).map(bucket -> first + bucket).toArray());
    }
    int next = buckets.length * rules.buckets();
    for (List<String> pair : rules.pairs()) {
      int[] a = buckets[column(file, columns, pair.getFirst())];
      int[] b = buckets[column(file, columns, pair.getLast())];
      long width = 1L + Arrays.stream(b).max().orElse(0);
      boolean fits = (1L + Arrays.stream(a).max().orElse(0)) * width <= rules.pairBuckets();
      int[] crossed = new int[a.length];
      for (int row = 0; row < crossed.length; row++) {
        long both = a[row] * width + b[row];
        crossed[row] =
            next + (fits ? (int) both : CategoryColumn.hashed(both, rules.pairBuckets()));
      }
      slots.add(crossed);
      next += rules.pairBuckets();
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
