package dev.kastor.cli;

import dev.kastor.cli.plugin.KnownPolicies;
import dev.kastor.cli.trace.TraceSource;
import dev.kastor.scheduler.policy.registry.Policies;
import dev.kastor.testkit.GoldenFile;
import dev.kastor.traces.format.TraceFormats;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;
import picocli.CommandLine.Help;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;

/**
 * The reference of commands in {@code docs/cli.md} is what the commands say of themselves.
 *
 * <p>Run with {@code -Dkastor.golden.write=true} to rewrite it after changing a command.
 */
final class ReferenceTest {
  private static final String BEGIN =
      "<!-- Below is generated from the commands by ReferenceTest; do not edit. -->";

  @Tag("slow")
  @Test
  void theReferenceIsWhatTheCommandsSay() throws IOException {
    GoldenFile.ofRepository("docs/cli.md").holdsBelow(BEGIN, reference());
  }

  private static String reference() {
    StringBuilder text = new StringBuilder();
    CommandLine kastor = Kastor.commandLine();
    text.append("\n## Options that say which cluster\n\n");
    text.append("Those of every command that asks a cluster.\n");
    text.append("\n| argument | meaning |\n|---|---|\n");
    Objects.requireNonNull(kastor.getSubcommands().get("ls")).getCommandSpec().options().stream()
        .filter(option -> option.group() != null)
        .map(ReferenceTest::row)
        .forEach(text::append);
    describe(kastor, "kastor", text);
    return text.toString();
  }

  private static void describe(CommandLine line, String name, StringBuilder text) {
    Set<CommandLine> below = new LinkedHashSet<>(line.getSubcommands().values());
    if (!name.equals("kastor")) {
      section(line, name, text);
    }
    for (CommandLine sub : below) {
      if (!sub.getCommandName().equals("help")) {
        describe(sub, name + " " + sub.getCommandName(), text);
      }
    }
  }

  private static void section(CommandLine line, String name, StringBuilder text) {
    var usage = line.getCommandSpec().usageMessage();
    text.append("\n## ").append(name).append("\n\n");
    text.append(String.join(" ", usage.description()).replace("%%", "%")).append('\n');
    List<String> rows = new ArrayList<>();
    for (PositionalParamSpec parameter : line.getCommandSpec().positionalParameters()) {
      String many = parameter.arity().max() > 1 ? "…" : "";
      rows.add(row("`" + parameter.paramLabel() + many + "`", parameter.description(), ""));
    }
    for (OptionSpec option : line.getCommandSpec().options()) {
      boolean common =
          Set.of("--help", "--version", "--verbose").contains(option.longestName())
              || option.group() != null
              || option.hidden();
      if (!common) {
        rows.add(row(option));
      }
    }
    if (line.getCommandSpec().aliases().length > 0) {
      text.append("\nAlso called `")
          .append(String.join("`, `", line.getCommandSpec().aliases()))
          .append("`.\n");
    }
    if (!rows.isEmpty()) {
      text.append("\n| argument | meaning |\n|---|---|\n");
      rows.forEach(text::append);
    }
    if (usage.footer().length > 0) {
      text.append("\n```\n");
      for (String example : usage.footer()) {
        text.append(Help.Ansi.OFF.string(example.replace("%%", "%")).stripIndent().strip())
            .append('\n');
      }
      text.append("```\n");
    }
  }

  private static String row(OptionSpec option) {
    String label = option.arity().max() == 0 ? "" : " " + option.paramLabel();
    String names = "`" + String.join("`, `", option.names()) + "`";
    return row(
        label.isEmpty() ? names : names + " `" + label.strip() + "`",
        described(option),
        option.defaultValue());
  }

  /** Its description, with the values that help lists where there are no plug-ins of users. */
  private static String[] described(OptionSpec option) {
    Iterable<String> candidates =
        switch (option.completionCandidates()) {
          case KnownPolicies.Names _ -> Policies.names();
          case TraceSource.Names _ -> TraceFormats.BUILT_IN.names();
          case null, default -> option.completionCandidates();
        };
    return candidates == null
        ? option.description()
        : Arrays.stream(option.description())
            .map(line -> line.replace("${COMPLETION-CANDIDATES}", String.join(", ", candidates)))
            .toArray(String[]::new);
  }

  private static String row(String what, String[] description, @Nullable String fallback) {
    String meaning =
        String.join(" ", description)
            .replace("${DEFAULT-VALUE}", fallback == null ? "" : fallback)
            .replace("|", "\\|");
    return "| %s | %s |%n".formatted(what.replace("|", "\\|"), meaning);
  }
}
