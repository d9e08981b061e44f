package dev.kastor.crds.trainingjob;

import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.generator.annotation.Min;
import io.fabric8.generator.annotation.Pattern;
import io.fabric8.generator.annotation.Required;
import io.fabric8.generator.annotation.Size;
import org.jspecify.annotations.Nullable;

/** Job of the same namespace whose parameters a job begins with. */
public record WarmStartSpec(
    @JsonPropertyDescription("Name of the job, in the same namespace.")
        @Required
        @Pattern("^[a-z0-9]([-.a-z0-9]*[a-z0-9])?$")
        @Size(max = 253)
        String job,
    @JsonPropertyDescription(
            "Step of the checkpoint; without it, the newest that is whole when the job begins.")
        @Min(0)
        @Nullable Long step) {}
