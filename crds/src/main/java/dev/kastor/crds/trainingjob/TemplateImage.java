package dev.kastor.crds.trainingjob;

import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The image of a template's first container. */
final class TemplateImage {
  private TemplateImage() {}

  /** The image; {@code template} if the template is not as it should be. */
  static String of(@Nullable Map<String, Object> template) {
    if (template != null
        && template.get("spec") instanceof Map<?, ?> spec
        && spec.get("containers") instanceof List<?> containers
        && !containers.isEmpty()
        && containers.getFirst() instanceof Map<?, ?> container
        && container.get("image") instanceof String image) {
      return image;
    }
    return "template";
  }
}
