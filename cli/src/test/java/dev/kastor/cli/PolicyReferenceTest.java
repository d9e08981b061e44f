package dev.kastor.cli;

import dev.kastor.plugin.Option;
import dev.kastor.plugin.Options;
import dev.kastor.scheduler.policy.PolicyPlugin;
import dev.kastor.scheduler.policy.PolicyTraits;
import dev.kastor.scheduler.policy.registry.Policies;
import dev.kastor.testkit.GoldenFile;
import java.io.IOException;
import org.junit.jupiter.api.Test;

/**
 * {@code docs/reference/policies.md} is what the policies say of themselves.
 *
 * <p>Run with {@code -Dkastor.golden.write=true} to rewrite it after changing a policy's options.
 */
final class PolicyReferenceTest {
  private static final String HEAD =
      """
      # Policies

      <!-- Generated from the policies by PolicyReferenceTest; do not edit. -->

      `--policy` of commands and `kastor.policy` of the operator take a name and options, such as
      `kastor:hold=1000:fairness=3`; commands that compare take several, joined by commas. In the chart:
      `policy.name` and `policy.options`. [Policies of your own](../extending/policy.md) stand beside these.

      | policy | decides | of GPU types | what it does |
      |---|---|---|---|
      """;

  @Test
  void theReferenceIsWhatThePoliciesSay() throws IOException {
    GoldenFile.ofRepository("docs/reference/policies.md").holds(reference());
  }

  private static String reference() {
    StringBuilder text = new StringBuilder(HEAD);
    for (PolicyPlugin plugin : Policies.BUILT_IN.all()) {
      PolicyTraits traits = plugin.traits(Options.usual(plugin));
      String decides =
          switch (traits.control()) {
            case PLACEMENT -> "placement";
            case SIZE -> "placement, size";
            case SIZE_AND_BATCH -> "placement, size, batch";
          };
      text.append(
          "| %s | %s | %s | %s |%n"
              .formatted(
                  plugin.options().isEmpty()
                      ? "`" + plugin.name() + "`"
                      : "[`%s`](#%s)".formatted(plugin.name(), plugin.name()),
                  decides,
                  traits.seesGpuTypes() ? "tells them apart" : "takes all for alike",
                  plugin.description()));
    }
    for (PolicyPlugin plugin : Policies.BUILT_IN.all()) {
      if (!plugin.options().isEmpty()) {
        text.append("%n## %s%n%n".formatted(plugin.name()));
        text.append("| option | default | value | meaning |\n|---|---|---|---|\n");
        plugin.options().forEach(option -> text.append(row(option)));
      }
    }
    return text.toString();
  }

  private static String row(Option<?> option) {
    return "| `%s` | `%s` | %s | %s |%n"
        .formatted(option.name(), option.usualText(), option.rule(), option.doc());
  }
}
