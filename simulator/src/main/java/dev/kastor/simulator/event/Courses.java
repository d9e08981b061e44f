package dev.kastor.simulator.event;

import dev.kastor.traces.Application;
import java.util.HashMap;
import java.util.Map;

/** The courses of one application, each computed once; owned by one simulation. */
final class Courses {
  private final Application application;
  private final Map<Integer, Course> byBatch = new HashMap<>();

  Courses(Application application) {
    this.application = application;
  }

  Application application() {
    return application;
  }

  Course at(int globalBatch) {
    return byBatch.computeIfAbsent(globalBatch, batch -> new Course(application, batch));
  }
}
