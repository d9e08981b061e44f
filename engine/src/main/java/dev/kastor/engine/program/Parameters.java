package dev.kastor.engine.program;

import dev.kastor.engine.data.DataException;
import dev.kastor.engine.train.ProgramException;
import dev.kastor.plugin.Nearest;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;

/** A program's parameters as checked values; each error names the parameter and its value. */
public final class Parameters {
  private final String program;
  private final SequencedMap<String, String> values;

  /** Lays given parameters over the defaults, refusing names that have no default. */
  Parameters(String program, Map<String, String> defaults, Map<String, String> given)
      throws ProgramException {
    this.program = program;
    values = new LinkedHashMap<>(defaults);
    for (Map.Entry<String, String> entry : given.entrySet()) {
      if (!defaults.containsKey(entry.getKey())) {
        List<String> valid = new ArrayList<>(values.sequencedKeySet());
        throw ProgramException.of(
            entry.getKey(),
            "Program %s has no parameter '%s'; valid are: %s%s"
                .formatted(
                    program,
                    entry.getKey(),
                    String.join(", ", valid),
                    Nearest.question(entry.getKey(), valid)));
      }
      values.put(entry.getKey(), entry.getValue());
    }
  }

  /** Checks those that all programs have, before any data is read. */
  void checkShared() throws ProgramException {
    seed();
    OptimizerParameters.create(this);
    BackendParameter.check(this);
  }

  /** What to throw for data that cannot be used. */
  ProgramException unusable(DataException e) {
    String parameter =
        e.column()
            .map(column ->
                has("labelColumn") && text("labelColumn").equals(column)
                    ? "labelColumn"
                    : "crosses")
            .orElse("data");
    return ProgramException.of(parameter, "Program %s: %s".formatted(program, e.getMessage()), e);
  }

  /** Whether the program has a parameter of this name. */
  public boolean has(String name) {
    return values.containsKey(name);
  }

  /** A parameter as it was written. */
  public String text(String name) {
    String value = values.get(name);
    if (value == null) {
      throw new IllegalArgumentException("no default is declared for parameter " + name);
    }
    return value.strip();
  }

  /** The parameter {@code seed}. */
  public long seed() throws ProgramException {
    try {
      return Long.parseLong(text("seed"));
    } catch (NumberFormatException e) {
      throw wrong("seed", "a whole number");
    }
  }

  /** A whole number within bounds, both inclusive. */
  public int integer(String name, int least, int most) throws ProgramException {
    return integer(name, text(name), least, most);
  }

  private int integer(String name, String text, int least, int most) throws ProgramException {
    try {
      int value = Integer.parseInt(text);
      if (value >= least && value <= most) {
        return value;
      }
    } catch (NumberFormatException e) {
      throw wrong(name, "a whole number from %d to %d".formatted(least, most));
    }
    throw wrong(name, "a whole number from %d to %d".formatted(least, most));
  }

  /** A number within bounds, both inclusive. */
  public double decimal(String name, double least, double most) throws ProgramException {
    try {
      double value = Double.parseDouble(text(name));
      if (value >= least && value <= most) {
        return value;
      }
    } catch (NumberFormatException e) {
      throw wrong(name, "a number from %s to %s".formatted(least, most));
    }
    throw wrong(name, "a number from %s to %s".formatted(least, most));
  }

  /** Whole numbers separated by commas; may be empty where {@code least} is 0. */
  public List<Integer> widths(String name, int least, int most) throws ProgramException {
    List<Integer> widths = new ArrayList<>();
    if (!text(name).isEmpty()) {
      for (String part : text(name).split(",", -1)) {
        widths.add(integer(name, part.strip(), 1, 1 << 16));
      }
    }
    if (widths.size() < least || widths.size() > most) {
      throw wrong(name, "%d to %d whole numbers separated by commas".formatted(least, most));
    }
    return widths;
  }

  /** A path that must be given; {@code ~/} at its beginning is the home of who runs the program. */
  public Path path(String name) throws ProgramException {
    if (text(name).isEmpty()) {
      throw ProgramException.of(name, "Parameter '%s' must be given.".formatted(name));
    }
    try {
      String text = text(name);
      return text.startsWith("~/")
          ? Path.of(System.getProperty("user.home"), text.substring(2))
          : Path.of(text);
    } catch (InvalidPathException e) {
      throw wrong(name, "a path");
    }
  }

  /** What to throw for a parameter that is not as {@code rule} says. */
  public ProgramException wrong(String name, String rule) {
    return ProgramException.of(
        name, "Parameter '%s' must be %s but is '%s'.".formatted(name, rule, text(name)));
  }
}
