package dev.kastor.crds.trainingjob;

import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * First container of a template, which may be written in any way: it is read before anybody checked
 * it.
 *
 * @param image its image; {@code template} if it has none
 * @param command its command and arguments, each followed by a line break
 */
record TemplateContainer(String image, String command) {
  /** The container. */
  static TemplateContainer of(@Nullable Map<String, Object> template) {
    if (template != null
        && template.get("spec") instanceof Map<?, ?> spec
        && spec.get("containers") instanceof List<?> containers
        && !containers.isEmpty()
        && containers.getFirst() instanceof Map<?, ?> container) {
      String image = container.get("image") instanceof String text ? text : "template";
      return new TemplateContainer(
          image, words(container.get("command")) + words(container.get("args")));
    }
    return new TemplateContainer("template", "");
  }

  /** The same for jobs of the same image and command. */
  String key() {
    return command.isEmpty() ? image : image + "\n" + command;
  }

  private static String words(@Nullable Object list) {
    StringBuilder words = new StringBuilder();
    if (list instanceof List<?> given) {
      given.forEach(word -> words.append(word).append('\n'));
    }
    return words.toString();
  }
}
