package dev.kastor.operator.kube;

import com.fasterxml.jackson.databind.BeanDescription;
import com.fasterxml.jackson.databind.DeserializationConfig;
import com.fasterxml.jackson.databind.JsonDeserializer;
import com.fasterxml.jackson.databind.deser.BeanDeserializerModifier;
import dev.kastor.crds.trainingjob.TrainingJob;
import java.lang.ref.ReferenceQueue;
import java.lang.ref.WeakReference;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Gives everybody who reads the same version of a job the same object: two caches watch jobs, ours
 * and the controller's, and with tens of thousands of them the copies are what fills the heap.
 * Nobody may change a job that was read; a clone that is made by writing and reading is the same
 * object too.
 *
 * <p>Thread-safe; what nobody holds any more is forgotten.
 */
final class SharedJobs extends BeanDeserializerModifier {
  private static final long serialVersionUID = 1;

  private static final class Version extends WeakReference<TrainingJob> {
    private final String uid;
    private final String version;

    Version(TrainingJob job, ReferenceQueue<TrainingJob> gone) {
      super(job, gone);
      uid = job.getMetadata().getUid();
      version = job.getMetadata().getResourceVersion();
    }
  }

  private final String slotResource;
  private final transient Map<String, Version> newest = new ConcurrentHashMap<>();
  private final transient ReferenceQueue<TrainingJob> gone = new ReferenceQueue<>();

  /** Jobs whose templates ask for slots by this resource. */
  SharedJobs(String slotResource) {
    this.slotResource = slotResource;
  }

  @Override
  public JsonDeserializer<?> modifyDeserializer(
      DeserializationConfig config, BeanDescription type, JsonDeserializer<?> deserializer) {
    return type.getBeanClass() == TrainingJob.class
        ? new AfterReading(
            deserializer, read -> shared(TemplateSlots.written((TrainingJob) read, slotResource)))
        : deserializer;
  }

  /** The job that was read before if it is of the same version, else this one. */
  TrainingJob shared(TrainingJob read) {
    for (var old = (Version) gone.poll(); old != null; old = (Version) gone.poll()) {
      newest.remove(old.uid, old);
    }
    var meta = read.getMetadata();
    if (meta == null || meta.getUid() == null || meta.getResourceVersion() == null) {
      return read;
    }
    Version before = newest.get(meta.getUid());
    TrainingJob known = before == null ? null : before.get();
    if (before != null && known != null && before.version.equals(meta.getResourceVersion())) {
      return known;
    }
    newest.put(meta.getUid(), new Version(read, gone));
    return read;
  }
}
