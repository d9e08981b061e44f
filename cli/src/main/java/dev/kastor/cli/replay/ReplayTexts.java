package dev.kastor.cli.replay;

import dev.kastor.scheduler.advice.NodeRules;
import dev.kastor.simulator.event.Resize;
import dev.kastor.simulator.event.Stragglers;
import dev.kastor.simulator.replay.ClusterShape;
import dev.kastor.simulator.replay.DeclaredWork;
import dev.kastor.simulator.replay.Mode;
import java.time.Duration;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Spellings of the values of {@link ReplayOptions}. */
public final class ReplayTexts {
  private ReplayTexts() {}

  /** A mode as it is spelled. */
  public static final class ModeName implements ITypeConverter<Mode> {
    @Override
    public Mode convert(String text) {
      try {
        return Mode.of(text);
      } catch (IllegalArgumentException e) {
        throw new TypeConversionException(String.valueOf(e.getMessage()));
      }
    }
  }

  /** Nodes and their GPUs. */
  public static final class Shape implements ITypeConverter<ClusterShape> {
    @Override
    public ClusterShape convert(String text) {
      try {
        return ClusterShape.parse(text);
      } catch (IllegalArgumentException e) {
        throw new TypeConversionException(String.valueOf(e.getMessage()));
      }
    }
  }

  /** What size the cluster should have. */
  static final class Rules implements ITypeConverter<NodeRules> {
    @Override
    public NodeRules convert(String text) {
      return converted(text, NodeRules::parse);
    }
  }

  /** What jobs say of their work. */
  static final class Declared implements ITypeConverter<DeclaredWork> {
    @Override
    public DeclaredWork convert(String text) {
      return converted(text, DeclaredWork::parse);
    }
  }

  /** Slow nodes. */
  static final class StragglersText implements ITypeConverter<Stragglers> {
    private static final Pattern FORM = Pattern.compile("(\\d*\\.?\\d+):(\\d*\\.?\\d+)");

    @Override
    public Stragglers convert(String text) {
      Matcher matcher = FORM.matcher(text);
      if (!matcher.matches()) {
        throw new TypeConversionException(
            "'%s' must be SHARE:FACTOR such as 0.1:2".formatted(text));
      }
      return converted(
          text,
          t ->
              new Stragglers(
                  Double.parseDouble(matcher.group(1)), Double.parseDouble(matcher.group(2))));
    }
  }

  private static <T> T converted(String text, Function<String, T> reader) {
    try {
      return reader.apply(text);
    } catch (IllegalArgumentException e) {
      throw new TypeConversionException(String.valueOf(e.getMessage()));
    }
  }

  /** A planned change of the cluster. */
  static final class ResizeText implements ITypeConverter<Resize> {
    private static final Pattern FORM =
        Pattern.compile("(\\d+(?:\\.\\d+)?):(?:([A-Za-z0-9._-]+)=)?(\\d{1,6})");

    @Override
    public Resize convert(String text) {
      Matcher matcher = FORM.matcher(text);
      if (!matcher.matches()) {
        throw new TypeConversionException(
            "'%s' must be HOURS:NODES such as 2.5:8, or HOURS:TYPE=NODES".formatted(text));
      }
      return new Resize(
          Duration.ofNanos(Math.round(3600e9 * Double.parseDouble(matcher.group(1)))),
          matcher.group(2) == null ? "" : matcher.group(2),
          Integer.parseInt(matcher.group(3)));
    }
  }
}
