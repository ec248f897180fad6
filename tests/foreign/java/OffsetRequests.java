import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.common.message.OffsetCommitRequestData;
import org.apache.kafka.common.message.OffsetCommitResponseData;
import org.apache.kafka.common.message.OffsetDeleteRequestData;
import org.apache.kafka.common.message.OffsetDeleteResponseData;
import org.apache.kafka.common.message.OffsetFetchRequestData;
import org.apache.kafka.common.message.OffsetFetchResponseData;
import org.apache.kafka.common.message.TxnOffsetCommitRequestData;
import org.apache.kafka.common.message.TxnOffsetCommitResponseData;
import org.apache.kafka.coordinator.common.runtime.CoordinatorRecord;
import org.apache.kafka.coordinator.group.generated.OffsetCommitKey;
import org.apache.kafka.coordinator.group.generated.OffsetCommitValue;

/** Requests about committed offsets from JSON, their responses and records as JSON. */
final class OffsetRequests {
    /** Tombstones of offsets first, by partition: a map orders them, and "keep" counts records. */
    static final Comparator<CoordinatorRecord> IN_ONE_ORDER =
            Comparator.comparing((CoordinatorRecord record) -> !isGone(record))
                    .thenComparing(record -> isGone(record) ? key(record).topic() : "")
                    .thenComparing(record -> isGone(record) ? key(record).partition() : 0);

    private OffsetRequests() {}

    private static boolean isGone(CoordinatorRecord record) {
        return record.value() == null && record.key() instanceof OffsetCommitKey;
    }

    private static OffsetCommitKey key(CoordinatorRecord record) {
        return (OffsetCommitKey) record.key();
    }

    static OffsetCommitRequestData commit(String group, JsonNode in) {
        OffsetCommitRequestData request =
                new OffsetCommitRequestData()
                        .setGroupId(group)
                        .setMemberId(in.get("member").asText())
                        .setGroupInstanceId(CoordinatorShard.text(in, "instance"))
                        .setGenerationIdOrMemberEpoch(in.get("generation").asInt());
        byTopic(in.get("offsets"))
                .forEach(
                        (topic, offsets) -> {
                            List<OffsetCommitRequestData.OffsetCommitRequestPartition> listed =
                                    new ArrayList<>();
                            for (JsonNode each : offsets) {
                                listed.add(
                                        new OffsetCommitRequestData.OffsetCommitRequestPartition()
                                                .setPartitionIndex(each.get(1).asInt())
                                                .setCommittedMetadata("")
                                                .setCommittedOffset(each.get(2).asLong()));
                            }
                            request.topics()
                                    .add(
                                            new OffsetCommitRequestData.OffsetCommitRequestTopic()
                                                    .setName(topic)
                                                    .setTopicId(CoordinatorShard.topicId(topic))
                                                    .setPartitions(listed));
                        });
        return request;
    }

    static TxnOffsetCommitRequestData transactional(String group, JsonNode in) {
        TxnOffsetCommitRequestData request =
                new TxnOffsetCommitRequestData()
                        .setGroupId(group)
                        .setMemberId(in.get("member").asText())
                        .setGroupInstanceId(CoordinatorShard.text(in, "instance"))
                        .setGenerationIdOrMemberEpoch(in.get("generation").asInt())
                        .setProducerId(in.get("producer").asLong());
        byTopic(in.get("offsets"))
                .forEach(
                        (topic, offsets) -> {
                            List<TxnOffsetCommitRequestData.TxnOffsetCommitRequestPartition>
                                    listed = new ArrayList<>();
                            for (JsonNode each : offsets) {
                                listed.add(
                                        new TxnOffsetCommitRequestData
                                                        .TxnOffsetCommitRequestPartition()
                                                .setPartitionIndex(each.get(1).asInt())
                                                .setCommittedMetadata("")
                                                .setCommittedOffset(each.get(2).asLong()));
                            }
                            request.topics()
                                    .add(
                                            new TxnOffsetCommitRequestData
                                                            .TxnOffsetCommitRequestTopic()
                                                    .setName(topic)
                                                    .setTopicId(CoordinatorShard.topicId(topic))
                                                    .setPartitions(listed));
                        });
        return request;
    }

    static OffsetFetchRequestData.OffsetFetchRequestGroup fetch(String group, JsonNode in) {
        OffsetFetchRequestData.OffsetFetchRequestGroup request =
                new OffsetFetchRequestData.OffsetFetchRequestGroup()
                        .setGroupId(group)
                        .setMemberId(CoordinatorShard.text(in, "member"))
                        .setMemberEpoch(in.get("epoch").asInt())
                        .setTopics(new ArrayList<>());
        byTopic(in.get("partitions"))
                .forEach(
                        (topic, partitions) ->
                                request.topics()
                                        .add(
                                                new OffsetFetchRequestData.OffsetFetchRequestTopics()
                                                        .setName(topic)
                                                        .setTopicId(CoordinatorShard.topicId(topic))
                                                        .setPartitionIndexes(numbers(partitions))));
        return request;
    }

    static OffsetDeleteRequestData delete(String group, JsonNode in) {
        OffsetDeleteRequestData request = new OffsetDeleteRequestData().setGroupId(group);
        byTopic(in.get("partitions"))
                .forEach(
                        (topic, partitions) -> {
                            List<OffsetDeleteRequestData.OffsetDeleteRequestPartition> listed =
                                    new ArrayList<>();
                            for (int number : numbers(partitions)) {
                                listed.add(
                                        new OffsetDeleteRequestData.OffsetDeleteRequestPartition()
                                                .setPartitionIndex(number));
                            }
                            request.topics()
                                    .add(
                                            new OffsetDeleteRequestData.OffsetDeleteRequestTopic()
                                                    .setName(topic)
                                                    .setPartitions(listed));
                        });
        return request;
    }

    static void committed(ObjectNode out, OffsetCommitResponseData answer) {
        ArrayNode listed = out.putArray("partitions");
        for (OffsetCommitResponseData.OffsetCommitResponseTopic topic : answer.topics()) {
            topic.partitions()
                    .forEach(
                            each ->
                                    part(listed, topic.name(), each.partitionIndex())
                                            .add(each.errorCode()));
        }
    }

    static void committed(ObjectNode out, TxnOffsetCommitResponseData answer) {
        ArrayNode listed = out.putArray("partitions");
        for (TxnOffsetCommitResponseData.TxnOffsetCommitResponseTopic topic : answer.topics()) {
            topic.partitions()
                    .forEach(
                            each ->
                                    part(listed, topic.name(), each.partitionIndex())
                                            .add(each.errorCode()));
        }
    }

    static void fetched(ObjectNode out, OffsetFetchResponseData.OffsetFetchResponseGroup answer) {
        ArrayNode listed = out.putArray("partitions");
        for (OffsetFetchResponseData.OffsetFetchResponseTopics topic : answer.topics()) {
            topic.partitions()
                    .forEach(
                            each ->
                                    part(listed, topic.name(), each.partitionIndex())
                                            .add(each.errorCode())
                                            .add(each.committedOffset()));
        }
    }

    static void deleted(ObjectNode out, OffsetDeleteResponseData answer) {
        ArrayNode listed = out.putArray("partitions");
        for (OffsetDeleteResponseData.OffsetDeleteResponseTopic topic : answer.topics()) {
            topic.partitions()
                    .forEach(
                            each ->
                                    part(listed, topic.name(), each.partitionIndex())
                                            .add(each.errorCode()));
        }
    }

    static void record(ObjectNode out, OffsetCommitKey key, OffsetCommitValue value, long start) {
        out.put("type", 1).put("topic", key.topic()).put("partition", key.partition());
        if (value == null) return;
        out.put("offset", value.offset()).put("at", value.commitTimestamp() - start);
    }

    private static ArrayNode part(ArrayNode listed, String topic, int partition) {
        return listed.addArray().add(topic).add(partition);
    }

    private static List<Integer> numbers(List<JsonNode> partitions) {
        return partitions.stream().map(each -> each.get(1).asInt()).toList();
    }

    /** Kafka's requests list partitions by topic; ours come so that this changes no order. */
    private static Map<String, List<JsonNode>> byTopic(JsonNode listed) {
        Map<String, List<JsonNode>> found = new LinkedHashMap<>();
        for (JsonNode each : listed) {
            found.computeIfAbsent(each.get(0).asText(), topic -> new ArrayList<>()).add(each);
        }
        return found;
    }
}
