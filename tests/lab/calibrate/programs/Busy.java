import java.time.Duration;
import java.util.List;
import java.util.Properties;
import java.util.concurrent.ThreadLocalRandom;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/**
 * Consumers of Java's client, each alone in a group, that poll for so long and then process for so
 * long: `POLL:LEAST:MOST` in milliseconds.
 *
 * <p>Arguments: a broker, a topic, seconds to run, and one such word for each consumer. The client's
 * log says on standard error when each sends a heartbeat.
 */
public class Busy {
  public static void main(String[] arguments) throws InterruptedException {
    for (int place = 3; place < arguments.length; place++) {
      String name = arguments[place].replace(':', '-') + "." + place;
      int[] times = new int[3];
      for (int at = 0; at < 3; at++) {
        times[at] = Integer.parseInt(arguments[place].split(":")[at]);
      }
      Thread thread = new Thread(() -> consume(arguments[0], arguments[1], name, times));
      thread.setDaemon(true);
      thread.start();
    }
    Thread.sleep(1000L * Integer.parseInt(arguments[2]));
    Runtime.getRuntime().halt(0);
  }

  private static void consume(String bootstrap, String topic, String name, int[] times) {
    Properties all = new Properties();
    all.put("bootstrap.servers", bootstrap);
    all.put("group.id", name);
    all.put("client.id", name);
    all.put("key.deserializer", ByteArrayDeserializer.class.getName());
    all.put("value.deserializer", ByteArrayDeserializer.class.getName());
    try (KafkaConsumer<byte[], byte[]> consumer = new KafkaConsumer<>(all)) {
      consumer.subscribe(List.of(topic));
      while (true) {
        consumer.poll(Duration.ofMillis(times[0]));
        Thread.sleep(ThreadLocalRandom.current().nextInt(times[1], times[2] + 1));
      }
    } catch (InterruptedException ended) {
      Thread.currentThread().interrupt();
    }
  }
}
