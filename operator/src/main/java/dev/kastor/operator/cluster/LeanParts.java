package dev.kastor.operator.cluster;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.databind.BeanDescription;
import com.fasterxml.jackson.databind.DeserializationConfig;
import com.fasterxml.jackson.databind.DeserializationContext;
import com.fasterxml.jackson.databind.JsonDeserializer;
import com.fasterxml.jackson.databind.deser.BeanDeserializerModifier;
import com.fasterxml.jackson.databind.deser.std.DelegatingDeserializer;
import io.fabric8.kubernetes.api.model.Condition;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** Makes the parts of what is read {@link Lean}. */
final class LeanParts extends BeanDeserializerModifier {
  private static final long serialVersionUID = 1;
  private static final String MODEL = "io.fabric8.kubernetes.api.model";

  @Override
  public JsonDeserializer<?> modifyDeserializer(
      DeserializationConfig config, BeanDescription type, JsonDeserializer<?> deserializer) {
    return type.getBeanClass().getPackageName().equals(MODEL)
        ? new Reader(deserializer)
        : deserializer;
  }

  private static final class Reader extends DelegatingDeserializer {
    private static final long serialVersionUID = 1;

    Reader(JsonDeserializer<?> delegate) {
      super(delegate);
    }

    @Override
    protected JsonDeserializer<?> newDelegatingInstance(JsonDeserializer<?> delegate) {
      return new Reader(delegate);
    }

    @Override
    public @Nullable Object deserialize(JsonParser parser, DeserializationContext context)
        throws IOException {
      Object read = super.deserialize(parser, context);
      if (read instanceof Condition condition) {
        return Lean.condition(condition);
      }
      return read == null ? null : Lean.withoutUnknown(read);
    }
  }
}
