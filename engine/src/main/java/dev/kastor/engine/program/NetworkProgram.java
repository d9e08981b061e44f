package dev.kastor.engine.program;

import dev.kastor.engine.data.Examples;
import dev.kastor.engine.data.Inputs;
import dev.kastor.engine.nn.Network;
import dev.kastor.engine.train.Model;
import dev.kastor.engine.train.Optimizer;
import dev.kastor.engine.train.PassSettings;
import dev.kastor.engine.train.Program;
import dev.kastor.engine.train.ProgramException;
import dev.kastor.engine.train.Trainable;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.SequencedMap;

/**
 * What a program of one's own is made of in most cases: a network that classifies, and numbered
 * examples in memory.
 *
 * <p>It has the parameters {@code seed}, {@code optimizer}, {@code momentum}, {@code weightDecay},
 * {@code backend} and {@code precision} besides its own. A subclass is public, has a public
 * constructor without parameters, and is named in its jar's {@code
 * META-INF/services/dev.kastor.engine.train.Program}.
 */
public abstract class NetworkProgram implements Program {
  private final String name;
  private final String description;
  private final SequencedMap<String, String> defaults;

  /**
   * What is to be learnt.
   *
   * @param training what it is trained with; the same on every replica and in every run
   * @param heldOut what its accuracy is measured with
   * @param inputs what the features mean, for those who use an exported model
   * @param labels names of the classes for the same; none if they have numbers alone
   */
  public record Task(
      Network network, Examples training, Examples heldOut, Inputs inputs, List<String> labels) {
    /** A task that does not say what its features and classes mean. */
    public Task(Network network, Examples training, Examples heldOut) {
      this(network, training, heldOut, new Inputs.Features(), List.of());
    }
  }

  /**
   * A program.
   *
   * @param name as in {@code spec.program.name}: small letters, digits and hyphens
   * @param description one sentence for people
   * @param ownDefaults its own parameters with their defaults, which may also be others than usual
   *     for those that all have
   */
  protected NetworkProgram(String name, String description, Map<String, String> ownDefaults) {
    this.name = name;
    this.description = description;
    SequencedMap<String, String> all = new LinkedHashMap<>();
    all.put("seed", "1");
    all.put("optimizer", "sgd");
    all.put("momentum", "0.9");
    all.put("weightDecay", "0.0001");
    all.put("backend", "auto");
    all.put("precision", "fp32");
    all.putAll(ownDefaults);
    defaults = Collections.unmodifiableSequencedMap(all);
  }

  /**
   * The network and its data.
   *
   * @throws ProgramException if a parameter or a file is not as it should be; say which
   */
  protected abstract Task task(Parameters parameters) throws ProgramException;

  @Override
  public final String name() {
    return name;
  }

  @Override
  public final String description() {
    return description;
  }

  @Override
  public final Map<String, String> defaultParameters() {
    return defaults;
  }

  /**
   * Checks its own parameters, and of the data what takes milliseconds, for {@link #check}; a
   * program that does not say how has none of its own checked before it is loaded.
   *
   * @return the most training examples that the data can hold, if that is known
   * @throws ProgramException if {@link #task} would fail
   */
  protected OptionalLong glance(Parameters parameters) throws ProgramException {
    return OptionalLong.empty();
  }

  @Override
  public final OptionalLong check(Map<String, String> given) throws ProgramException {
    Parameters parameters = new Parameters(name, defaults, given);
    parameters.checkShared();
    return glance(parameters);
  }

  @Override
  public final Optional<Model> model(Map<String, String> given) throws ProgramException {
    Task task = task(new Parameters(name, defaults, given));
    return Optional.of(
        new Model(task.network().withoutControlFlow(), task.inputs(), task.labels()));
  }

  @Override
  public final Trainable load(Map<String, String> given) throws ProgramException {
    return load(given, PassSettings.USUAL);
  }

  @Override
  public final Trainable load(Map<String, String> given, PassSettings settings)
      throws ProgramException {
    Parameters parameters = new Parameters(name, defaults, given);
    parameters.checkShared();
    Task task = task(parameters);
    return new ClassifierTrainable(
        BackendParameter.model(task.network(), parameters, settings),
        task.training(),
        task.heldOut());
  }

  @Override
  public final Optimizer optimizer(Map<String, String> given) throws ProgramException {
    return OptimizerParameters.create(new Parameters(name, defaults, given));
  }
}
