package dev.kastor.engine.parameters;

import dev.kastor.engine.autodiff.Gradients;
import dev.kastor.engine.graph.Node;
import dev.kastor.engine.resource.Variable;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;

/**
 * The graphs of training by gradient descent on variables that a server keeps.
 *
 * <p>Only reads, gradients and numbers of steps go between server and workers. A worker runs its
 * graph again and again, with a session of its own over its devices and the server's; the server
 * runs {@link #serverStep} for each synchronous step.
 */
public final class SharedTraining {
  private final List<Variable> variables;
  private final String server;
  private final Accumulator gradients;
  private final UpdateClock clock = new UpdateClock("updates");

  /**
   * Graphs for some variables.
   *
   * @param server the name of the device that has them, or of its process
   */
  public SharedTraining(List<Variable> variables, String server) {
    this.variables = List.copyOf(variables);
    this.server = server;
    this.gradients = new Accumulator("gradients", variables.stream().map(Variable::type).toList());
  }

  /**
   * A worker's part in a synchronous step.
   *
   * @param last to be fed with the step that it took part in last, -1 before the first
   * @param step the step that it takes part in
   * @param loss of its data
   * @param counted 1, or 0 if others were enough
   */
  public record SynchronousStep(Node last, Node step, Node loss, Node counted) {
    /** What a worker fetches, in this order: step, loss, counted. */
    public List<Node> fetches() {
      return List.of(step, loss, counted);
    }
  }

  /** A worker's part in a step; the loss is a function of the variables. */
  public SynchronousStep synchronous(Function<List<Node>, Node> lossOf) {
    Node last = Node.input("last", Accumulator.STEP);
    Node step = gradients.begun(last).at(server);
    List<Node> read = read(step);
    Node loss = lossOf.apply(read);
    Node counted = gradients.add(step, Gradients.of(loss, read)).at(server);
    return new SynchronousStep(last, step, loss, counted);
  }

  /**
   * What the server does in a synchronous step; it has no result.
   *
   * @param needed workers whose gradients make a step; those beyond are spare
   */
  public Node serverStep(int needed, double learningRate) {
    Node taken = gradients.take(needed).at(server);
    List<Node> means = new ArrayList<>();
    for (int i = 0; i < variables.size(); i++) {
      means.add(taken.part(i));
    }
    return gradients.next(update(means, learningRate).toArray(Node[]::new)).at(server);
  }

  /**
   * An asynchronous step.
   *
   * @param loss of the worker's data
   * @param staleness how many updates of others came in between
   */
  public record AsynchronousStep(Node loss, Node staleness) {
    /** What a worker fetches, in this order: loss, staleness. */
    public List<Node> fetches() {
      return List.of(loss, staleness);
    }
  }

  /** A step that a worker takes whenever it is done with the last. */
  public AsynchronousStep asynchronous(Function<List<Node>, Node> lossOf, double learningRate) {
    Node now = clock.now().at(server);
    List<Node> read = read(now);
    Node loss = lossOf.apply(read);
    List<Node> updates = update(Gradients.of(loss, read), learningRate);
    Node staleness = clock.tick(now, updates.toArray(Node[]::new)).at(server);
    return new AsynchronousStep(loss, staleness);
  }

  /** How many asynchronous updates had each staleness; see {@link UpdateClock#histogram}. */
  public Node staleness(int most) {
    return clock.histogram(most).at(server);
  }

  private List<Node> read(Node after) {
    return variables.stream().map(variable -> variable.read(after).at(server)).toList();
  }

  private List<Node> update(List<Node> gradients, double learningRate) {
    List<Node> updates = new ArrayList<>();
    for (int i = 0; i < variables.size(); i++) {
      Node delta = gradients.get(i).multiply(-learningRate);
      updates.add(variables.get(i).addAndRead(delta).at(server));
    }
    return updates;
  }
}
