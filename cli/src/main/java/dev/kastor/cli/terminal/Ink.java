package dev.kastor.cli.terminal;

import java.io.Console;
import java.util.Optional;
import picocli.CommandLine.Help.Ansi.IStyle;

/** Colours, on terminals only and never where {@code NO_COLOR} is set. */
public enum Ink implements IStyle {
  BOLD("1"),
  DIM("2"),
  RED("31"),
  GREEN("32"),
  YELLOW("33"),
  CYAN("36");

  /** What ends all colours, as a terminal knows it and as we print it. */
  static final String RESET = ControlSequence.INTRODUCER + "0m";

  static final String PLAIN = ControlSequence.of("0m");

  private static final boolean TERMINAL = terminal();
  private static final boolean ENABLED =
      TERMINAL && !set("NO_COLOR") && !"dumb".equals(System.getenv("TERM"));

  private final String code;

  Ink(String code) {
    this.code = code;
  }

  public String on(String text) {
    return on() + text + off();
  }

  @Override
  public String on() {
    return ENABLED ? ControlSequence.of(code + "m") : "";
  }

  @Override
  public String off() {
    return ENABLED ? PLAIN : "";
  }

  public static boolean enabled() {
    return ENABLED;
  }

  /** Whether somebody watches the output. */
  public static boolean watched() {
    return TERMINAL && !"dumb".equals(System.getenv("TERM"));
  }

  private static boolean terminal() {
    return Optional.ofNullable(System.console()).filter(Console::isTerminal).isPresent();
  }

  private static boolean set(String variable) {
    String value = System.getenv(variable);
    return value != null && !value.isEmpty();
  }
}
