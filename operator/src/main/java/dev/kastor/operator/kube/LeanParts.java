package dev.kastor.operator.kube;

import com.fasterxml.jackson.databind.BeanDescription;
import com.fasterxml.jackson.databind.DeserializationConfig;
import com.fasterxml.jackson.databind.JsonDeserializer;
import com.fasterxml.jackson.databind.deser.BeanDeserializerModifier;
import io.fabric8.kubernetes.api.model.Condition;

/** Makes the parts of what is read {@link Lean}. */
final class LeanParts extends BeanDeserializerModifier {
  private static final long serialVersionUID = 1;
  private static final String MODEL = "io.fabric8.kubernetes.api.model";

  @Override
  public JsonDeserializer<?> modifyDeserializer(
      DeserializationConfig config, BeanDescription type, JsonDeserializer<?> deserializer) {
    return type.getBeanClass().getPackageName().equals(MODEL)
        ? new AfterReading(deserializer, LeanParts::lean)
        : deserializer;
  }

  private static Object lean(Object read) {
    return read instanceof Condition condition
        ? Lean.condition(condition)
        : Lean.withoutUnknown(read);
  }
}
