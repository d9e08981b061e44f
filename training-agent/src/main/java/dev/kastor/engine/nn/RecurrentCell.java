package dev.kastor.engine.nn;

import dev.kastor.engine.graph.Node;

/** How a recurrent layer gets from one position of a sequence to the next. */
public enum RecurrentCell {
  /** Long short-term memory; gates i, f, g, o (Hochreiter and Schmidhuber, 1997; Gers, 1999). */
  LSTM(4) {
    @Override
    State step(Node fromInput, Node fromState, State before) {
      Node[] gates = gates(fromInput.add(fromState));
      Node kept = gates[1].sigmoid().multiply(before.memory());
      Node memory = kept.add(gates[0].sigmoid().multiply(gates[2].tanh()));
      return new State(gates[3].sigmoid().multiply(memory.tanh()), memory);
    }
  },

  /**
   * Gated recurrent unit; gates r, z, n (Cho et al., EMNLP 2014). As in cuDNN and PyTorch, r acts
   * on the product with the state rather than on the state, so that one product serves all gates.
   */
  GRU(3) {
    @Override
    State step(Node fromInput, Node fromState, State before) {
      Node[] input = gates(fromInput);
      Node[] state = gates(fromState);
      Node reset = input[0].add(state[0]).sigmoid();
      Node update = input[1].add(state[1]).sigmoid();
      Node candidate = input[2].add(reset.multiply(state[2])).tanh();
      Node output = candidate.add(update.multiply(before.output().subtract(candidate)));
      return new State(output, output);
    }
  };

  private final int gates;

  RecurrentCell(int gates) {
    this.gates = gates;
  }

  /**
   * What is carried from position to position, each {@code [batch, width]}.
   *
   * @param memory the same as {@code output} where a cell has none
   */
  record State(Node output, Node memory) {}

  /** Gates, each as wide as the state. */
  int gates() {
    return gates;
  }

  /**
   * The next state.
   *
   * @param fromInput product of the position's input, bias included, {@code [batch, gates * width]}
   * @param fromState the same of the output before
   */
  abstract State step(Node fromInput, Node fromState, State before);

  Node[] gates(Node all) {
    int width = all.shape().extent(1) / gates;
    Node[] each = new Node[gates];
    for (int i = 0; i < gates; i++) {
      each[i] = all.slice(1, i * width, (i + 1) * width);
    }
    return each;
  }
}
