package dev.kastor.engine.backend.cuda;

import dev.kastor.engine.graph.Node;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;

/**
 * The text of one kernel in PTX (Parallel Thread Execution ISA 7.8), built instruction by
 * instruction. Registers are assigned once, except those that a loop counts or sums in.
 */
final class Ptx {
  /** What opens a module: the oldest GPUs that are served; drivers compile it for newer ones. */
  static final String HEADER = ".version 7.8\n.target sm_75\n.address_size 64\n";

  /** The registers of PTX that are used here. */
  enum Kind {
    FLOAT("f", ".f32"),
    WORD("r", ".b32"),
    ADDRESS("d", ".b64"),
    TRUTH("p", ".pred");

    private final String prefix;
    private final String type;

    Kind(String prefix, String type) {
      this.prefix = prefix;
      this.type = type;
    }
  }

  private final String name;
  private final int threads;
  private final StringBuilder before = new StringBuilder();
  private final StringBuilder body = new StringBuilder();
  private final StringBuilder shared = new StringBuilder();
  private final Map<Kind, Integer> registers = new EnumMap<>(Kind.class);
  private final SequencedMap<Node, String> buffers = new LinkedHashMap<>();
  private final Map<String, String> known = new HashMap<>();
  private int labels;

  /**
   * Begins a kernel.
   *
   * @param threads of a block
   */
  Ptx(String name, int threads) {
    this.name = name;
    this.threads = threads;
  }

  /** Threads of a block. */
  int threads() {
    return threads;
  }

  String register(Kind kind) {
    return "%" + kind.prefix + (registers.merge(kind, 1, Integer::sum) - 1);
  }

  /** Adds an instruction as it is. */
  void emit(String instruction, Object... operands) {
    body.append('\t').append(instruction);
    for (int i = 0; i < operands.length; i++) {
      body.append(i == 0 ? " " : ", ").append(operands[i]);
    }
    body.append(";\n");
  }

  /** Adds an instruction that takes place only where a register is true. */
  void emitIf(String condition, String instruction, Object... operands) {
    emit("@" + condition + " " + instruction, operands);
  }

  /** The result of an instruction in a new register. */
  String get(Kind kind, String instruction, Object... operands) {
    String result = register(kind);
    Object[] all = new Object[operands.length + 1];
    all[0] = result;
    System.arraycopy(operands, 0, all, 1, operands.length);
    emit(instruction, all);
    return result;
  }

  /**
   * The same, computed once where it is asked for again: for what depends on its operands alone, in
   * code that nothing jumps over.
   */
  String pure(Kind kind, String instruction, Object... operands) {
    String key = instruction + List.of(operands);
    String found = known.get(key);
    if (found == null) {
      found = get(kind, instruction, operands);
      known.put(key, found);
    }
    return found;
  }

  /** A place that can be jumped to; what was computed before is computed again behind it. */
  String label() {
    return "$L" + labels++;
  }

  void place(String label) {
    known.clear();
    body.append(label).append(":\n");
  }

  /** Forgets what is known, as where a loop begins again with other values. */
  void forget() {
    known.clear();
  }

  /** The address of a node's buffer, which becomes a parameter of the kernel. */
  String buffer(Node node) {
    return buffers.computeIfAbsent(
        node,
        _ -> {
          String raw = register(Kind.ADDRESS);
          String global = register(Kind.ADDRESS);
          before.append("\tld.param.u64 %s, [%s_%d];%n".formatted(raw, name, buffers.size()));
          before.append("\tcvta.to.global.u64 %s, %s;%n".formatted(global, raw));
          return global;
        });
  }

  /** The address of an element of a buffer. */
  String address(Node node, String index) {
    String offset = pure(Kind.ADDRESS, "mul.wide.u32", index, 4);
    return pure(Kind.ADDRESS, "add.s64", buffer(node), offset);
  }

  /** Memory of the block, and its address. */
  String shared(String label, int words) {
    shared.append("\t.shared .align 16 .b8 %s_%s[%d];%n".formatted(name, label, 4 * words));
    return get(Kind.WORD, "mov.u32", name + "_" + label);
  }

  /** A literal, exactly. */
  static String literal(float value) {
    return "0f%08X".formatted(Float.floatToRawIntBits(value));
  }

  /** The buffers in the order of the parameters. */
  List<Node> parameters() {
    return new ArrayList<>(buffers.keySet());
  }

  String name() {
    return name;
  }

  /** The whole kernel. */
  String text() {
    StringBuilder text = new StringBuilder(".visible .entry " + name + "(\n");
    for (int i = 0; i < buffers.size(); i++) {
      text.append("\t.param .u64 %s_%d".formatted(name, i));
      text.append(i + 1 < buffers.size() ? ",\n" : "\n");
    }
    text.append(")\n.maxntid %d, 1, 1%n{%n".formatted(threads));
    registers.forEach((kind, count) ->
        text.append("\t.reg %s %%%s<%d>;%n".formatted(kind.type, kind.prefix, count)));
    return text.append(shared).append(before).append(body).append("\tret;\n}\n").toString();
  }
}
