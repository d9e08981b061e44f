package dev.kastor.engine.resource;

import dev.kastor.engine.exec.Action;
import dev.kastor.engine.exec.Surroundings;
import dev.kastor.engine.exec.Value;
import dev.kastor.engine.graph.Node;
import dev.kastor.engine.graph.ShapeException;
import dev.kastor.engine.graph.Type;
import dev.kastor.engine.tensor.Tensor;
import java.util.ArrayList;
import java.util.List;

/**
 * A Java function as a node: for what no op does, such as input and output.
 *
 * <p>It may be called by several threads at once, and from different runs.
 *
 * @param label for messages
 * @param accepts types of its operands
 * @param gives types of its results
 */
public record HostCall(String label, List<Type> accepts, List<Type> gives, Function function)
    implements Action {
  /** Computes results from operands. */
  public interface Function {
    /**
     * Is called once for each time that the node takes place.
     *
     * @param operands to be read only, and not later
     * @param results to be written
     */
    void call(List<Tensor> operands, List<Tensor> results);
  }

  public HostCall {
    accepts = List.copyOf(accepts);
    gives = List.copyOf(gives);
  }

  /** A call of this function. */
  public Node call(List<Node> operands, Node... after) {
    return Node.of(this, operands, List.of(after));
  }

  @Override
  public List<Type> results(List<Type> inputs) {
    if (!inputs.equals(accepts)) {
      throw new ShapeException(this, "operands " + accepts, inputs);
    }
    return gives;
  }

  @Override
  public List<Value> run(List<Value> inputs, Surroundings surroundings) {
    List<Value> results = new ArrayList<>();
    try {
      gives.forEach(type -> results.add(surroundings.memory().allocate(type, this)));
      function.call(tensors(inputs), tensors(results));
      return results;
    } catch (RuntimeException e) {
      results.forEach(Value::release);
      throw e;
    }
  }

  /** Nobody knows what it waits for. */
  @Override
  public boolean waits() {
    return true;
  }

  private static List<Tensor> tensors(List<Value> values) {
    return values.stream().map(Value::tensor).toList();
  }

  @Override
  public String name() {
    return "Call " + label;
  }

  @Override
  public String toString() {
    return name();
  }
}
