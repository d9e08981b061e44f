package dev.kastor.crds.trainingjob;

import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.generator.annotation.Pattern;
import io.fabric8.generator.annotation.Required;
import io.fabric8.generator.annotation.Size;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** A training program of the engine. */
public record ProgramSpec(
    @JsonPropertyDescription("Its name, such as glyph-mlp, glyph-cnn or byte-lm.")
        @Required
        @Size(max = 63)
        @Pattern("^[a-z0-9]([-a-z0-9]*[a-z0-9])?$")
        String name,
    @JsonPropertyDescription(
            "Its parameters; each program documents its own. Names and values have 16384"
                + " characters at most, all together.")
        @Size(max = 64)
        @Nullable Map<String, @Size(max = 1024) String> parameters) {
  /** Characters of all parameters: the spec reaches a replica in one variable of 128 KiB. */
  public static final int MOST_CHARACTERS = 16_384;

  /** Characters of the names and values of all parameters. */
  public long characters() {
    return parameters == null
        ? 0
        : parameters.entrySet().stream()
            .mapToLong(entry -> entry.getKey().length() + (long) entry.getValue().length())
            .sum();
  }
}
