package dev.kastor.agent.pace;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.engine.train.DeviceTraining;
import dev.kastor.engine.train.Optimizer;
import dev.kastor.engine.train.Trainable;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

final class PacedModelTest {
  private static final int[] EXAMPLES = {3, 1};

  private final MovedMachine machine = new MovedMachine();
  private final List<String> called = new ArrayList<>();

  /** An object each of whose methods computes for a millisecond. */
  private <T> T computing(Class<T> type, Object result) {
    InvocationHandler computes =
        (_, method, _) -> {
          called.add(method.getName());
          machine.compute(Duration.ofMillis(1));
          return result;
        };
    return type.cast(
        Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, computes));
  }

  private PacedModel paced(Trainable model) {
    return new PacedModel(model, new Pacer(new Pace(0.1, 0.2), machine, called::add));
  }

  private Duration since(long before) {
    return Duration.ofNanos(machine.nanos() - before);
  }

  @Test
  void passesArePaced() {
    PacedModel model = paced(computing(Trainable.class, 1.5));
    long before = machine.nanos();
    assertThat(model.pass(EXAMPLES, new float[1], new float[0])).isEqualTo(1.5);
    assertThat(since(before)).isEqualTo(Duration.ofMillis(500));
    assertThat(model.pass(EXAMPLES, new float[1], new float[0], _ -> {})).isEqualTo(1.5);
    assertThat(since(before)).isEqualTo(Duration.ofSeconds(1));
    assertThat(called).containsExactly("pass", "pass");
  }

  @Test
  void passesOnADeviceArePaced() {
    DeviceTraining.Passed passed = new DeviceTraining.Passed(2, 3);
    DeviceTraining inner = computing(DeviceTraining.class, passed);
    DeviceTraining device =
        paced(computing(Trainable.class, Optional.of(inner)))
            .onDevice(computing(Optimizer.class, 0), new LinkedHashMap<>())
            .orElseThrow();
    long before = machine.nanos();
    assertThat(device.pass(EXAMPLES, new float[0], 0, 1)).isEqualTo(passed);
    assertThat(since(before)).isEqualTo(Duration.ofMillis(500));
    device.write(new float[1]);
    assertThat(since(before)).as("nothing else is").isEqualTo(Duration.ofMillis(501));
  }

  /** A method that has a default of its own would otherwise not reach the model. */
  @Test
  void everyMethodReachesTheModel() {
    for (Class<?> type : List.of(Trainable.class, DeviceTraining.class)) {
      Class<?> pacing = type == Trainable.class ? PacedModel.class : pacedDevice();
      for (Method method : type.getMethods()) {
        if (!Modifier.isStatic(method.getModifiers())) {
          assertThat(Arrays.stream(pacing.getDeclaredMethods()))
              .as("%s of %s", method, pacing)
              .anyMatch(own ->
                  own.getName().equals(method.getName())
                      && Arrays.equals(own.getParameterTypes(), method.getParameterTypes()));
        }
      }
    }
  }

  private static Class<?> pacedDevice() {
    return Arrays.stream(PacedModel.class.getDeclaredClasses())
        .filter(DeviceTraining.class::isAssignableFrom)
        .findFirst()
        .orElseThrow();
  }
}
