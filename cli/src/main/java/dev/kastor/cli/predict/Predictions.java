package dev.kastor.cli.predict;

import dev.kastor.cli.terminal.CliException;
import dev.kastor.cli.terminal.ExitCode;
import dev.kastor.cli.terminal.Output;
import dev.kastor.cli.terminal.Paper;
import dev.kastor.cli.terminal.Table;
import dev.kastor.engine.data.DataException;
import dev.kastor.engine.data.Inputs;
import dev.kastor.engine.data.RawExamples;
import dev.kastor.engine.export.ExportException;
import dev.kastor.engine.export.InputsJson;
import dev.kastor.engine.export.TrainedModel;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.IntStream;

/** Predictions of a model's file for examples of another file. */
final class Predictions {
  private static final int BATCH = 256;
  private static final int LOWEST_PRINTABLE = 0x20;
  private static final int HIGHEST_PRINTABLE = 0x7e;

  private final Path model;
  private final int top;

  /**
   * A class with its probability.
   *
   * @param label name of the class
   */
  record Scored(String label, double probability) {}

  /**
   * Prediction for one example.
   *
   * @param example what it is called
   * @param classes the most probable ones, the best first
   */
  record Prediction(String example, List<Scored> classes) {}

  Predictions(Path model, int top) {
    this.model = model;
    this.top = top;
  }

  void print(Path file, Output output, PrintWriter out) {
    List<Prediction> predictions = of(file);
    switch (output) {
      case JSON, YAML -> output.print(Map.of("predictions", predictions), out);
      case NAME -> predictions.forEach(each -> out.println(each.classes.getFirst().label));
      case TABLE, WIDE -> {
        Table table = new Table("EXAMPLE", "CLASS", "PROBABILITY", "THEN");
        for (Prediction each : predictions) {
          Scored best = each.classes.getFirst();
          List<String> others =
              each.classes.stream()
                  .skip(1)
                  .map(other -> other.label + " " + percent(other.probability))
                  .toList();
          table.row(
              List.of(
                  each.example, best.label, percent(best.probability), String.join(", ", others)));
        }
        table.lines(output == Output.WIDE ? Paper.ENDLESS : Paper.width()).forEach(out::println);
      }
    }
    out.flush();
  }

  private static String percent(double share) {
    return String.format(Locale.ROOT, "%.1f %%", 100 * share);
  }

  private List<Prediction> of(Path file) {
    try (OnnxModelFile onnx = new OnnxModelFile(model)) {
      Inputs inputs = InputsJson.inputs(fact(onnx, "inputs"));
      List<String> labels = InputsJson.labels(fact(onnx, "labels"));
      RawExamples examples = RawExamples.read(inputs, file);
      int count = examples.names().size();
      List<Prediction> predictions = new ArrayList<>();
      for (int from = 0; from < count; from += BATCH) {
        int some = Math.min(BATCH, count - from);
        int width = examples.values().length / count;
        float[] part = Arrays.copyOfRange(examples.values(), from * width, (from + some) * width);
        float[] probabilities = onnx.probabilities(part, some);
        int positions = inputs instanceof Inputs.Bytes(int context) ? context : 1;
        int classes = probabilities.length / some / positions;
        for (int i = 0; i < some; i++) {
          int first = (i * positions + examples.position()) * classes;
          float[] own = Arrays.copyOfRange(probabilities, first, first + classes);
          predictions.add(
              new Prediction(examples.names().get(from + i), best(own, labels, inputs)));
        }
      }
      return predictions;
    } catch (DataException | ExportException e) {
      throw new CliException(ExitCode.FAILED, String.valueOf(e.getMessage()), e);
    }
  }

  private String fact(OnnxModelFile onnx, String name) throws ExportException {
    String text = onnx.facts().get(TrainedModel.PREFIX + name);
    if (text == null) {
      throw new ExportException(
          "%s does not say its %s: it is no model that kastor export wrote".formatted(model, name));
    }
    return text;
  }

  private List<Scored> best(float[] probabilities, List<String> labels, Inputs inputs) {
    return IntStream.range(0, probabilities.length)
        .boxed()
        .sorted(Comparator.comparingDouble((Integer i) -> probabilities[i]).reversed())
        .limit(top)
        .map(i -> new Scored(label(i, labels, inputs), probabilities[i]))
        .toList();
  }

  private static String label(int number, List<String> labels, Inputs inputs) {
    if (number < labels.size()) {
      return labels.get(number);
    }
    boolean readable =
        inputs instanceof Inputs.Bytes && number > LOWEST_PRINTABLE && number <= HIGHEST_PRINTABLE;
    return readable ? "'%c'".formatted(number) : Integer.toString(number);
  }
}
