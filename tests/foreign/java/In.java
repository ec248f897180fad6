import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import org.apache.kafka.common.TopicPartition;

/**
 * Fields of requests, in the types that Kafka's classes take; an absent field is like null.
 *
 * <p>Lists are ArrayLists: the order of {@code Set.of} and {@code Map.of} differs from one JVM to
 * the next, and must not reach an answer.
 */
final class In {
    static String text(JsonNode in, String field) {
        return in.hasNonNull(field) ? in.get(field).textValue() : null;
    }

    static Optional<String> maybeText(JsonNode in, String field) {
        return Optional.ofNullable(text(in, field));
    }

    static int number(JsonNode in, String field, int otherwise) {
        return in.hasNonNull(field) ? in.get(field).intValue() : otherwise;
    }

    static ByteBuffer bytes(JsonNode in, String field) {
        String hex = text(in, field);
        return hex == null ? null : ByteBuffer.wrap(HexFormat.of().parseHex(hex));
    }

    static List<String> texts(JsonNode in, String field) {
        List<String> texts = new ArrayList<>();
        for (JsonNode text : in.path(field)) texts.add(text.textValue());
        return texts;
    }

    static List<TopicPartition> partitions(JsonNode in, String field) {
        List<TopicPartition> partitions = new ArrayList<>();
        for (JsonNode pair : in.path(field)) {
            partitions.add(new TopicPartition(pair.get(0).textValue(), pair.get(1).intValue()));
        }
        return partitions;
    }

    /** The way back: adds [topic, partition, ...] to a list. */
    static ArrayNode pair(ArrayNode pairs, String topic, int partition) {
        return pairs.addArray().add(topic).add(partition);
    }

    /** Bytes as hexadecimal digits; the buffer is left as it was. */
    static String hex(ByteBuffer buffer) {
        if (buffer == null) return null;
        byte[] bytes = new byte[buffer.remaining()];
        buffer.duplicate().get(bytes);
        return HexFormat.of().formatHex(bytes);
    }

    private In() {}
}
