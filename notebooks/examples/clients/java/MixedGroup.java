import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.BooleanSupplier;
import java.util.stream.Collectors;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.CooperativeStickyAssignor;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;

/**
 * From producer to consumers on Java's client, in one group with a Python member.
 *
 * <p>First start mixed_group.py [BOOTSTRAP] [TOPIC] cooperative-sticky, then:
 *
 * <pre>
 * mvn dependency:copy-dependencies -DoutputDirectory=lib
 * javac -cp 'lib/*' -d lib MixedGroup.java
 * java -cp 'lib:lib/*' MixedGroup [BOOTSTRAP] [TOPIC]
 * </pre>
 */
public class MixedGroup {
  private static final int PARTITIONS = 6;
  private static final int RECORDS = 60;

  public static void main(String[] arguments) {
    System.setProperty("org.slf4j.simpleLogger.defaultLogLevel", "warn");
    String bootstrap = arguments.length > 0 ? arguments[0] : "localhost:9092";
    String topic = arguments.length > 1 ? arguments[1] : "orders";
    Map<String, Object> settings =
        Map.of(
            "bootstrap.servers", bootstrap,
            "group.id", topic + "-readers",
            "client.id", "java",
            "auto.offset.reset", "earliest",
            "partition.assignment.strategy", CooperativeStickyAssignor.class.getName());
    StringDeserializer text = new StringDeserializer();
    try (KafkaConsumer<String, String> consumer = new KafkaConsumer<>(settings, text, text)) {
      consumer.subscribe(List.of(topic));
      Set<String> seen = new HashSet<>();
      pollUntil(consumer, seen, () -> consumer.assignment().size() == PARTITIONS / 2);
      System.out.println("together: java has " + numbers(consumer));
      write(bootstrap, topic);
      System.out.println(RECORDS + " records written");
      pollUntil(consumer, seen, () -> seen.size() == RECORDS / 2);
      System.out.println(seen.size() + " of " + RECORDS + " records read");
      pollUntil(consumer, seen, () -> consumer.assignment().size() == PARTITIONS);
      System.out.println("python left: java has " + numbers(consumer));
    }
  }

  /** What was read stands in `seen` by partition and offset. */
  private static void pollUntil(
      KafkaConsumer<String, String> consumer, Set<String> seen, BooleanSupplier isDone) {
    while (!isDone.getAsBoolean()) {
      for (ConsumerRecord<String, String> record : consumer.poll(Duration.ofMillis(100))) {
        seen.add(record.partition() + "@" + record.offset());
      }
    }
  }

  private static void write(String bootstrap, String topic) {
    StringSerializer text = new StringSerializer();
    Map<String, Object> settings = Map.of("bootstrap.servers", bootstrap);
    // Closing it waits until all is written.
    try (KafkaProducer<String, String> producer = new KafkaProducer<>(settings, text, text)) {
      for (int number = 0; number < RECORDS; number++) {
        int partition = number % PARTITIONS;
        producer.send(new ProducerRecord<>(topic, partition, null, String.valueOf(number)));
      }
    }
  }

  private static String numbers(KafkaConsumer<?, ?> consumer) {
    Set<Integer> sorted = new TreeSet<>();
    for (TopicPartition one : consumer.assignment()) {
      sorted.add(one.partition());
    }
    return sorted.stream().map(String::valueOf).collect(Collectors.joining(" "));
  }
}
