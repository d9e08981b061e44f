package dev.kastor.engine.exec;

import dev.kastor.engine.graph.Node;
import dev.kastor.engine.graph.Type;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;

/** Effect that is a Java function, which may have state and may wait. */
public record JavaCall(String label, List<Type> gives, Function function) implements Action {
  /** Computes results from operands. */
  public interface Function {
    List<float[]> call(List<float[]> operands) throws InterruptedException;
  }

  /** A call that gives nothing back. */
  public static JavaCall of(String label, Runnable action) {
    return new JavaCall(
        label,
        List.of(),
        _ -> {
          action.run();
          return List.of();
        });
  }

  /** A call that has one result and waits until somebody ends it. */
  public static JavaCall endless(Type type) {
    return new JavaCall(
        "endless",
        List.of(type),
        operands -> {
          new CountDownLatch(1).await();
          return operands;
        });
  }

  public Node call(List<Node> operands, Node... after) {
    return Node.of(this, operands, List.of(after));
  }

  @Override
  public List<Type> results(List<Type> inputs) {
    return gives;
  }

  @Override
  public List<Value> run(List<Value> inputs, Surroundings surroundings)
      throws InterruptedException {
    List<float[]> computed =
        function.call(inputs.stream().map(value -> value.tensor().floats()).toList());
    List<Value> results = new ArrayList<>();
    for (int i = 0; i < gives.size(); i++) {
      Value result = surroundings.memory().allocate(gives.get(i), this);
      result.tensor().write(computed.get(i), 0);
      results.add(result);
    }
    return results;
  }

  @Override
  public boolean waits() {
    return true;
  }

  @Override
  public String name() {
    return "Call " + label;
  }
}
