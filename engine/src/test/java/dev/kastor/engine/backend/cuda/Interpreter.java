package dev.kastor.engine.backend.cuda;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.ToIntFunction;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Runs PTX on the CPU, one thread of a block after another between two barriers: the instructions
 * that our kernels are made of, and no others. Registers begin with values that are seen if they
 * are used.
 */
final class Interpreter {
  private static final Pattern ENTRY =
      Pattern.compile(
          "\\.visible \\.entry (\\w+)\\((.*?)\\)\\s*(.*?)\\{\\n(.*?)\\n\\}", Pattern.DOTALL);
  private static final Pattern REGISTERS = Pattern.compile("\\.reg \\.\\w+ %(\\w)<(\\d+)>");
  private static final Pattern SHARED =
      Pattern.compile("\\.shared \\.align \\d+ \\.b8 (\\w+)\\[(\\d+)\\]");
  private static final Pattern PLACE = Pattern.compile("\\[(%?\\w+)(?:\\+(\\d+))?\\]");
  private static final int UNSET = 0x7fbadbad;

  /** What kernels may read and write. */
  interface Memory {
    /** The bytes from an address on, if all of them are allocated. */
    MemorySegment at(long address, int bytes);
  }

  /** A thread. */
  private static final class Lane {
    final float[] floats;
    final int[] words;
    final long[] addresses;
    final @Nullable Boolean[] truths;
    final Block block;
    final int thread;
    int next;

    Lane(Kernel kernel, Block block, int thread) {
      floats = new float[kernel.count('f')];
      words = new int[kernel.count('r')];
      addresses = new long[kernel.count('d')];
      truths = new Boolean[kernel.count('p')];
      Arrays.fill(floats, Float.NaN);
      Arrays.fill(words, UNSET);
      Arrays.fill(addresses, -1);
      this.block = block;
      this.thread = thread;
    }

    boolean holds(int truth) {
      Boolean value = truths[truth];
      if (value == null) {
        throw new IllegalStateException("%p" + truth + " was never set.");
      }
      return value;
    }
  }

  @SuppressWarnings("ArrayRecordComponent") // never compared
  private record Block(
      int x, int y, int z, MemorySegment shared, Memory memory, long[] arguments) {}

  private interface Step {
    void run(Lane lane);
  }

  /** A kernel that was read. */
  static final class Kernel {
    private final Map<Character, Integer> registers = new HashMap<>();
    private final Map<String, Integer> shared = new HashMap<>();
    private final Map<String, Integer> labels = new HashMap<>();
    private final List<Step> steps = new ArrayList<>();
    private final List<String> texts = new ArrayList<>();
    private int sharedBytes;
    private int parameters;

    /** How many addresses it takes. */
    int parameters() {
      return parameters;
    }

    int count(char kind) {
      return registers.getOrDefault(kind, 0);
    }
  }

  private Interpreter() {}

  /** All kernels of a module, by name. */
  static Map<String, Kernel> read(String ptx) {
    Map<String, Kernel> kernels = new HashMap<>();
    Matcher entry = ENTRY.matcher(ptx);
    while (entry.find()) {
      Kernel kernel = kernel(entry.group(4));
      kernel.parameters = entry.group(2).split("\\.param", -1).length - 1;
      kernels.put(entry.group(1), kernel);
    }
    return kernels;
  }

  private static Kernel kernel(String body) {
    Kernel kernel = new Kernel();
    List<String> lines = new ArrayList<>();
    for (String raw : body.lines().map(String::strip).toList()) {
      Matcher registers = REGISTERS.matcher(raw);
      Matcher shared = SHARED.matcher(raw);
      if (registers.find()) {
        kernel.registers.put(registers.group(1).charAt(0), Integer.parseInt(registers.group(2)));
      } else if (shared.find()) {
        kernel.shared.put(shared.group(1), kernel.sharedBytes);
        kernel.sharedBytes += Integer.parseInt(shared.group(2));
      } else if (raw.endsWith(":")) {
        kernel.labels.put(raw.substring(0, raw.length() - 1), lines.size());
      } else if (!raw.isEmpty()) {
        lines.add(raw.substring(0, raw.length() - 1));
      }
    }
    for (String line : lines) {
      kernel.texts.add(line);
      kernel.steps.add(step(kernel, line));
    }
    return kernel;
  }

  /** Runs all blocks of a launch. */
  static void run(Kernel kernel, Launch launch, long[] arguments, Memory memory) {
    for (int z = 0; z < launch.z(); z++) {
      for (int y = 0; y < launch.y(); y++) {
        for (int x = 0; x < launch.x(); x++) {
          float[] words = new float[kernel.sharedBytes / 4];
          Arrays.fill(words, Float.NaN);
          MemorySegment shared = MemorySegment.ofArray(words);
          run(kernel, new Block(x, y, z, shared, memory, arguments), launch.threads());
        }
      }
    }
  }

  private static void run(Kernel kernel, Block block, int threads) {
    List<Lane> lanes = new ArrayList<>();
    for (int i = 0; i < threads; i++) {
      lanes.add(new Lane(kernel, block, i));
    }
    int waiting = threads;
    while (waiting > 0) {
      waiting = 0;
      int barrier = -1;
      for (Lane lane : lanes) {
        advance(kernel, lane);
        if (lane.next < kernel.steps.size()) {
          if (waiting > 0 && lane.next != barrier) {
            throw new IllegalStateException("Threads wait at different barriers.");
          }
          waiting++;
          barrier = lane.next;
        }
      }
      if (waiting > 0 && waiting < threads) {
        throw new IllegalStateException("Some threads ended, and others wait for them.");
      }
    }
  }

  /** To behind the next barrier, or the end. */
  private static void advance(Kernel kernel, Lane lane) {
    while (lane.next < kernel.steps.size()) {
      int at = lane.next++;
      try {
        kernel.steps.get(at).run(lane);
      } catch (RuntimeException e) {
        throw new IllegalStateException(
            "%s in thread %d of block %d, %d, %d"
                .formatted(
                    kernel.texts.get(at), lane.thread, lane.block.x, lane.block.y, lane.block.z),
            e);
      }
      if (kernel.texts.get(at).startsWith("bar.sync")) {
        return;
      }
    }
  }

  private static Step step(Kernel kernel, String line) {
    if (line.startsWith("@")) {
      int space = line.indexOf(' ');
      int truth = number(line.substring(1, space));
      Step step = step(kernel, line.substring(space + 1));
      return lane -> {
        if (lane.holds(truth)) {
          step.run(lane);
        }
      };
    }
    int space = line.indexOf(' ');
    String name = space < 0 ? line : line.substring(0, space);
    String rest = space < 0 ? "" : line.substring(space + 1);
    if (name.equals("ld.shared.v4.f32")) {
      return four(rest);
    }
    return step(kernel, name, rest.isEmpty() ? new String[0] : rest.split(", "));
  }

  private static Step four(String operands) {
    int end = operands.indexOf('}');
    int[] targets =
        Arrays.stream(operands.substring(1, end).split(", "))
            .mapToInt(Interpreter::number)
            .toArray();
    ToIntFunction<Lane> place = sharedPlace(operands.substring(end + 3));
    return lane -> {
      int from = place.applyAsInt(lane);
      if (from % 16 != 0) {
        throw new IllegalStateException("Four floats at " + from + " are not aligned.");
      }
      for (int i = 0; i < targets.length; i++) {
        lane.floats[targets[i]] = lane.block.shared.get(ValueLayout.JAVA_FLOAT, from + 4L * i);
      }
    };
  }

  private static Step step(Kernel kernel, String name, String[] operands) {
    return switch (name) {
      case "ret" -> lane -> lane.next = kernel.steps.size();
      case "bar.sync" -> lane -> {};
      case "bra" -> {
        String label = operands[0];
        // Labels may come later in the text.
        yield lane -> lane.next = kernel.labels.getOrDefault(label, -1);
      }
      case "ld.param.u64" -> {
        int target = number(operands[0]);
        String place = operands[1];
        int parameter =
            Integer.parseInt(place.substring(place.lastIndexOf('_') + 1, place.length() - 1));
        yield lane -> lane.addresses[target] = lane.block.arguments[parameter];
      }
      case "cvta.to.global.u64" -> {
        int target = number(operands[0]);
        int from = number(operands[1]);
        yield lane -> lane.addresses[target] = lane.addresses[from];
      }
      case "add.s64" -> {
        int target = number(operands[0]);
        int one = number(operands[1]);
        int other = number(operands[2]);
        yield lane -> lane.addresses[target] = lane.addresses[one] + lane.addresses[other];
      }
      case "mul.wide.u32" -> {
        int target = number(operands[0]);
        var one = word(kernel, operands[1]);
        var other = word(kernel, operands[2]);
        yield lane ->
            lane.addresses[target] =
                Integer.toUnsignedLong(one.applyAsInt(lane))
                    * Integer.toUnsignedLong(other.applyAsInt(lane));
      }
      case "and.pred" -> {
        int target = number(operands[0]);
        int one = number(operands[1]);
        int other = number(operands[2]);
        yield lane -> lane.truths[target] = lane.holds(one) && lane.holds(other);
      }
      default -> {
        if (name.startsWith("setp.")) {
          yield comparison(kernel, name, operands);
        }
        if (name.startsWith("ld.") || name.startsWith("st.")) {
          yield access(kernel, name, operands);
        }
        yield name.endsWith(".f32") || name.equals("cvt.rn.f32.u32")
            ? floats(kernel, name, operands)
            : words(kernel, name, operands);
      }
    };
  }

  private static Step comparison(Kernel kernel, String name, String[] operands) {
    int target = number(operands[0]);
    if (name.endsWith(".u32")) {
      var one = word(kernel, operands[1]);
      var other = word(kernel, operands[2]);
      return lane -> {
        int order = Integer.compareUnsigned(one.applyAsInt(lane), other.applyAsInt(lane));
        lane.truths[target] =
            switch (name) {
              case "setp.ge.u32" -> order >= 0;
              case "setp.lt.u32" -> order < 0;
              case "setp.eq.u32" -> order == 0;
              case "setp.ne.u32" -> order != 0;
              default -> throw new IllegalArgumentException(name);
            };
      };
    }
    Value one = value(operands[1]);
    Value other = value(operands[2]);
    return lane -> {
      float a = one.of(lane);
      float b = other.of(lane);
      lane.truths[target] =
          switch (name) {
            case "setp.neu.f32" -> a != b;
            case "setp.gt.f32" -> a > b;
            case "setp.lt.f32" -> a < b;
            case "setp.nan.f32" -> Float.isNaN(a) || Float.isNaN(b);
            default -> throw new IllegalArgumentException(name);
          };
    };
  }

  private static Step access(Kernel kernel, String name, String[] operands) {
    boolean load = name.startsWith("ld.");
    String place = load ? operands[1] : operands[0];
    String register = load ? operands[0] : operands[1];
    return switch (name) {
      case "ld.shared.f32" -> {
        var at = sharedPlace(place);
        int target = number(register);
        yield lane ->
            lane.floats[target] =
                lane.block.shared.get(ValueLayout.JAVA_FLOAT, at.applyAsInt(lane));
      }
      case "st.shared.f32" -> {
        var at = sharedPlace(place);
        Value from = value(register);
        yield lane ->
            lane.block.shared.set(ValueLayout.JAVA_FLOAT, at.applyAsInt(lane), from.of(lane));
      }
      case "ld.global.f32" -> {
        int pointer = pointer(place);
        int target = number(register);
        yield lane -> lane.floats[target] = global(lane, pointer).get(ValueLayout.JAVA_FLOAT, 0);
      }
      case "ld.global.u32" -> {
        int pointer = pointer(place);
        int target = number(register);
        yield lane -> lane.words[target] = global(lane, pointer).get(ValueLayout.JAVA_INT, 0);
      }
      case "st.global.f32" -> {
        int pointer = pointer(place);
        Value from = value(register);
        yield lane -> global(lane, pointer).set(ValueLayout.JAVA_FLOAT, 0, from.of(lane));
      }
      case "st.global.u32" -> {
        int pointer = pointer(place);
        var from = word(kernel, register);
        yield lane -> global(lane, pointer).set(ValueLayout.JAVA_INT, 0, from.applyAsInt(lane));
      }
      default -> throw new IllegalArgumentException(name);
    };
  }

  private static int pointer(String place) {
    Matcher matcher = PLACE.matcher(place);
    if (!matcher.matches() || matcher.group(2) != null) {
      throw new IllegalArgumentException(place);
    }
    return number(matcher.group(1));
  }

  private static MemorySegment global(Lane lane, int pointer) {
    return lane.block.memory.at(lane.addresses[pointer], 4);
  }

  private static ToIntFunction<Lane> sharedPlace(String place) {
    Matcher matcher = PLACE.matcher(place);
    if (!matcher.matches()) {
      throw new IllegalArgumentException(place);
    }
    int register = number(matcher.group(1));
    int offset = matcher.group(2) == null ? 0 : Integer.parseInt(matcher.group(2));
    return lane -> lane.words[register] + offset;
  }

  private interface Value {
    float of(Lane lane);
  }

  private static Step floats(Kernel kernel, String name, String[] operands) {
    int target = number(operands[0]);
    if (name.equals("cvt.rn.f32.u32")) {
      var word = word(kernel, operands[1]);
      return lane -> lane.floats[target] = Integer.toUnsignedLong(word.applyAsInt(lane));
    }
    Value a = value(operands[1]);
    Value b = operands.length > 2 ? value(operands[2]) : a;
    int truth = name.equals("selp.f32") ? number(operands[3]) : -1;
    Value c = operands.length > 3 && truth < 0 ? value(operands[3]) : a;
    Value result =
        switch (name) {
          case "mov.f32" -> a;
          case "neg.f32" -> lane -> -a.of(lane);
          case "add.rn.f32" -> lane -> a.of(lane) + b.of(lane);
          case "sub.rn.f32" -> lane -> a.of(lane) - b.of(lane);
          case "mul.rn.f32" -> lane -> a.of(lane) * b.of(lane);
          case "div.rn.f32" -> lane -> a.of(lane) / b.of(lane);
          case "fma.rn.f32" -> lane -> Math.fma(a.of(lane), b.of(lane), c.of(lane));
          case "rcp.rn.f32" -> lane -> 1 / a.of(lane);
          case "sqrt.rn.f32" -> lane -> (float) Math.sqrt(a.of(lane));
          case "ex2.approx.f32" -> lane -> (float) Math.pow(2, a.of(lane));
          case "lg2.approx.f32" -> lane -> (float) (Math.log(a.of(lane)) / Math.log(2));
          // Of a number and NaN, the number.
          case "max.f32" ->
              lane -> {
                float x = a.of(lane);
                float y = b.of(lane);
                return Float.isNaN(x) ? y : Float.isNaN(y) ? x : Math.max(x, y);
              };
          case "selp.f32" -> lane -> lane.holds(truth) ? a.of(lane) : b.of(lane);
          default -> throw new IllegalArgumentException(name);
        };
    return lane -> lane.floats[target] = result.of(lane);
  }

  private static Step words(Kernel kernel, String name, String[] operands) {
    int target = number(operands[0]);
    var a = word(kernel, operands[1]);
    var b = operands.length > 2 ? word(kernel, operands[2]) : a;
    int truth = name.equals("selp.u32") ? number(operands[3]) : -1;
    var c = operands.length > 3 && truth < 0 ? word(kernel, operands[3]) : a;
    ToIntFunction<Lane> result =
        switch (name) {
          case "mov.u32" -> a;
          case "add.u32" -> lane -> a.applyAsInt(lane) + b.applyAsInt(lane);
          case "sub.u32" -> lane -> a.applyAsInt(lane) - b.applyAsInt(lane);
          case "mul.lo.u32" -> lane -> a.applyAsInt(lane) * b.applyAsInt(lane);
          case "mad.lo.u32" -> lane -> a.applyAsInt(lane) * b.applyAsInt(lane) + c.applyAsInt(lane);
          case "div.u32" -> lane -> Integer.divideUnsigned(a.applyAsInt(lane), b.applyAsInt(lane));
          case "rem.u32" ->
              lane -> Integer.remainderUnsigned(a.applyAsInt(lane), b.applyAsInt(lane));
          case "min.u32" ->
              lane -> {
                int x = a.applyAsInt(lane);
                int y = b.applyAsInt(lane);
                return Integer.compareUnsigned(x, y) < 0 ? x : y;
              };
          case "selp.u32" -> lane -> lane.holds(truth) ? a.applyAsInt(lane) : b.applyAsInt(lane);
          default -> throw new IllegalArgumentException(name);
        };
    return lane -> lane.words[target] = result.applyAsInt(lane);
  }

  private static Value value(String operand) {
    if (operand.startsWith("0f")) {
      float literal = Float.intBitsToFloat(Integer.parseUnsignedInt(operand.substring(2), 16));
      return _ -> literal;
    }
    int register = number(operand);
    return lane -> lane.floats[register];
  }

  private static ToIntFunction<Lane> word(Kernel kernel, String operand) {
    return switch (operand) {
      case "%tid.x" -> lane -> lane.thread;
      case "%ctaid.x" -> lane -> lane.block.x;
      case "%ctaid.y" -> lane -> lane.block.y;
      case "%ctaid.z" -> lane -> lane.block.z;
      default -> {
        if (operand.startsWith("%")) {
          int register = number(operand);
          yield lane -> lane.words[register];
        }
        Integer shared = kernel.shared.get(operand);
        int literal = shared == null ? Integer.parseUnsignedInt(operand) : shared;
        yield _ -> literal;
      }
    };
  }

  private static int number(String register) {
    return Integer.parseInt(register.substring(2));
  }
}
