package dev.kastor.crds;

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
    @JsonPropertyDescription("Its parameters; each program documents its own.") @Size(max = 64)
        @Nullable Map<String, @Size(max = 1024) String> parameters) {}
