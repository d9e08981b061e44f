package dev.kastor.engine.export;

import dev.kastor.engine.data.Inputs;
import dev.kastor.engine.data.Inputs.Categories.Column;
import dev.kastor.engine.data.Inputs.Categories.Pair;
import dev.kastor.engine.export.OnnxGraph.Attribute;
import dev.kastor.engine.graph.Type;
import dev.kastor.engine.tensor.DType;
import java.util.Arrays;
import java.util.List;

/**
 * The first nodes of an exported graph: what is given is what files hold, and these make features
 * of it, so that nobody has to know shifts and scales.
 */
final class OnnxInputs {
  /** More numbers than this for pairs of categories would be most of a file. */
  private static final long MOST_CELLS = 1 << 24;

  private final OnnxGraph graph;

  /**
   * What an input is called, and the features that are made of it.
   *
   * @param input name of the input
   * @param features name of the features, {@code [batch, ..example]}
   */
  record Names(String input, String features) {}

  OnnxInputs(OnnxGraph graph) {
    this.graph = graph;
  }

  Names add(Inputs inputs, Type example) throws ExportException {
    int[] wanted = example.shape().extents();
    return switch (inputs) {
      case Inputs.Features _ -> {
        OnnxGraph.Type type =
            example.dtype() == DType.I32 ? OnnxGraph.Type.INT32 : OnnxGraph.Type.FLOAT;
        graph.input("features", type, "features as the network takes them", wanted);
        yield new Names("features", "features");
      }
      case Inputs.Bytes(int context) -> {
        String meaning = "bytes of a text, the first of them first";
        graph.input("bytes", OnnxGraph.Type.INT32, meaning, context);
        yield new Names("bytes", "bytes");
      }
      case Inputs.Sentences(int context) -> {
        String meaning = "bytes of a sentence, each and 1, and 0 behind its end";
        graph.input("tokens", OnnxGraph.Type.INT32, meaning, context);
        yield new Names("tokens", "tokens");
      }
      case Inputs.Pixels pixels -> pixels(pixels, wanted);
      case Inputs.Numbers numbers -> numbers(numbers, wanted);
      case Inputs.Categories categories -> categories(categories);
    };
  }

  private Names pixels(Inputs.Pixels pixels, int[] wanted) {
    int[] extents = {pixels.height(), pixels.width(), pixels.channels()};
    graph.input(
        "pixels",
        OnnxGraph.Type.FLOAT,
        "rows of pixels from 0 (dark) to %s (bright), as files hold them"
            .formatted(pixels.highest()),
        extents);
    String value = "pixels";
    if (pixels.divisor() != 1) {
      value = graph.add("Div", List.of(value, graph.floats(new long[0], pixels.divisor())));
    }
    if (pixels.mean() != 0) {
      value = graph.add("Sub", List.of(value, graph.floats(new long[0], pixels.mean())));
    }
    if (pixels.factor() != 1) {
      value = graph.add("Mul", List.of(value, graph.floats(new long[0], pixels.factor())));
    }
    return new Names("pixels", reshaped(value, extents, wanted));
  }

  private Names numbers(Inputs.Numbers numbers, int[] wanted) {
    int count = numbers.columns().size();
    graph.input(
        "columns",
        OnnxGraph.Type.FLOAT,
        "numbers of the columns " + String.join(", ", numbers.columns()),
        count);
    long[] dims = {count};
    String centred = graph.add("Sub", List.of("columns", graph.floats(dims, numbers.mean())));
    String scaled = graph.add("Mul", List.of(centred, graph.floats(dims, numbers.factor())));
    return new Names("columns", reshaped(scaled, new int[] {count}, wanted));
  }

  private String reshaped(String value, int[] extents, int[] wanted) {
    if (Arrays.equals(extents, wanted)) {
      return value;
    }
    long[] to = new long[wanted.length + 1];
    to[0] = -1;
    for (int i = 0; i < wanted.length; i++) {
      to[i + 1] = wanted[i];
    }
    return graph.add("Reshape", List.of(value, graph.longs(to)));
  }

  private Names categories(Inputs.Categories categories) throws ExportException {
    List<Column> columns = categories.columns();
    graph.input(
        "buckets",
        OnnxGraph.Type.INT32,
        "the bucket of each column's field, by the rules in " + TrainedModel.PREFIX + "inputs",
        columns.size());
    int[] first = columns.stream().mapToInt(Column::first).toArray();
    String own =
        graph.add("Add", List.of("buckets", graph.ints(new long[] {columns.size()}, first)));
    if (categories.pairs().isEmpty()) {
      return new Names("buckets", own);
    }
    String crossed = pairs(categories);
    return new Names(
        "buckets", graph.add("Concat", List.of(own, crossed), Attribute.of("axis", 1)));
  }

  /** The tokens of pairs, from one table with a part for each pair. */
  private String pairs(Inputs.Categories categories) throws ExportException {
    List<Pair> pairs = categories.pairs();
    int count = pairs.size();
    int[] width = new int[count];
    int[] begin = new int[count];
    long cells = 0;
    for (int p = 0; p < count; p++) {
      begin[p] = (int) cells;
      width[p] = buckets(categories, pairs.get(p).right());
      cells += (long) buckets(categories, pairs.get(p).left()) * width[p];
      if (cells > MOST_CELLS) {
        throw new ExportException(
            "its pairs of columns have more than %d pairs of buckets, too many for a graph. Train it with fewer buckets or crosses, or export it as safetensors or npz"
                .formatted(MOST_CELLS));
      }
    }
    int[] tokens = new int[(int) cells];
    for (int p = 0; p < count; p++) {
      int end = p + 1 < count ? begin[p + 1] : tokens.length;
      for (int i = begin[p]; i < end; i++) {
        int cell = i - begin[p];
        tokens[i] = pairs.get(p).token(cell / width[p], cell % width[p]);
      }
    }
    long[] each = {count};
    String left = chosen(pairs.stream().mapToLong(Pair::left).toArray());
    String right = chosen(pairs.stream().mapToLong(Pair::right).toArray());
    String row = graph.add("Mul", List.of(left, graph.ints(each, width)));
    String inPart = graph.add("Add", List.of(row, right));
    String cell = graph.add("Add", List.of(inPart, graph.ints(each, begin)));
    String table = graph.ints(new long[] {cells}, tokens);
    return graph.add("Gather", List.of(table, cell), Attribute.of("axis", 0));
  }

  private static int buckets(Inputs.Categories categories, int column) {
    return categories.columns().get(column).buckets().count();
  }

  private String chosen(long[] columns) {
    return graph.add("Gather", List.of("buckets", graph.longs(columns)), Attribute.of("axis", 1));
  }
}
