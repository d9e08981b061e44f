package dev.kastor.engine.export;

import dev.kastor.engine.checkpoint.TrainedParameters;
import dev.kastor.engine.nn.Forward;
import dev.kastor.engine.tensor.Layout;
import dev.kastor.engine.train.Model;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.regex.Pattern;

/**
 * Model with its trained parameters and running statistics by name.
 *
 * @param tensors in the order of their names
 * @param facts texts by name that are written beside them, where a format has a place for them
 */
public record TrainedModel(
    Model model, List<NamedTensor> tensors, SortedMap<String, String> facts) {
  /** Begins the names of all facts. */
  public static final String PREFIX = "kastor.";

  /** Names that every format and every file system can have. */
  private static final Pattern NAME = Pattern.compile("[A-Za-z0-9][A-Za-z0-9._-]{0,199}");

  public TrainedModel {
    tensors = List.copyOf(tensors);
    facts = Collections.unmodifiableSortedMap(new TreeMap<>(facts));
  }

  /**
   * A model with the values of a checkpoint.
   *
   * @param origin where it comes from, such as program and job
   * @throws ExportException if two of its tensors have one name, or one has a name that files
   *     cannot have
   */
  public static TrainedModel of(
      Model model, TrainedParameters trained, SortedMap<String, String> origin)
      throws ExportException {
    Forward forward = Forward.of(model.network(), 1);
    List<NamedTensor> tensors = new ArrayList<>();
    add(forward.layout(), trained.parameters(), tensors);
    add(forward.statisticsLayout(), trained.statistics(), tensors);
    Set<String> names = new HashSet<>();
    for (NamedTensor tensor : tensors) {
      if (!NAME.matcher(tensor.name()).matches()) {
        throw new ExportException(
            "'%s' is no name for a parameter in a file. Use letters, digits, dots, hyphens and underscores."
                .formatted(tensor.name()));
      }
      if (!names.add(tensor.name())) {
        throw new ExportException(
            "Two parameters of the network are called '%s'. Give its layers different labels."
                .formatted(tensor.name()));
      }
    }
    tensors.sort(Comparator.comparing(NamedTensor::name));
    SortedMap<String, String> facts = new TreeMap<>();
    origin.forEach((name, text) -> facts.put(PREFIX + name, text));
    facts.put(PREFIX + "inputs", InputsJson.write(model.inputs()));
    facts.put(PREFIX + "labels", InputsJson.write(model.labels()));
    facts.put(PREFIX + "step", Long.toString(trained.step()));
    return new TrainedModel(model, tensors, facts);
  }

  private static void add(Layout layout, float[] values, List<NamedTensor> tensors) {
    if (layout.elements() != values.length) {
      throw new IllegalArgumentException(
          "the network has %d values and the checkpoint %d"
              .formatted(layout.elements(), values.length));
    }
    for (Layout.Entry entry : layout.entries()) {
      tensors.add(new NamedTensor(entry.name(), entry.shape(), values, entry.offset()));
    }
  }

  /** Bytes of all tensors. */
  public long bytes() {
    return tensors.stream().mapToLong(NamedTensor::bytes).sum();
  }
}
