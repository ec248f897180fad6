import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.coordinator.group.api.assignor.GroupSpec;
import org.apache.kafka.coordinator.group.api.assignor.MemberAssignment;
import org.apache.kafka.coordinator.group.api.assignor.PartitionAssignor;
import org.apache.kafka.coordinator.group.api.assignor.SubscribedTopicDescriber;
import org.apache.kafka.coordinator.group.api.assignor.SubscriptionType;
import org.apache.kafka.coordinator.group.assignor.RangeAssignor;
import org.apache.kafka.coordinator.group.assignor.SimpleAssignor;
import org.apache.kafka.coordinator.group.assignor.UniformAssignor;
import org.apache.kafka.coordinator.group.modern.Assignment;
import org.apache.kafka.coordinator.group.modern.GroupSpecImpl;
import org.apache.kafka.coordinator.group.modern.MemberSubscriptionAndAssignmentImpl;

/** What the broker does for a KIP-848 or share group: topics by id, the previous target as maps. */
final class ServerAssignors {
    static PartitionAssignor assignor(String algorithm) {
        return switch (algorithm) {
            case "srv-uniform" -> new UniformAssignor();
            case "srv-range" -> new RangeAssignor();
            case "srv-simple" -> new SimpleAssignor();
            default -> throw new IllegalArgumentException(algorithm);
        };
    }

    static void assign(String algorithm, JsonNode in, ObjectNode out) {
        GroupSpec group = group(in.get("members"));
        Map<String, MemberAssignment> given =
                assignor(algorithm).assign(group, describer(in.get("topics"))).members();
        ObjectNode assignment = out.putObject("assignment");
        for (String member : group.memberIds()) {
            MemberAssignment share = given.get(member);
            if (share == null) continue; // the simple assignor leaves out who gets nothing
            ArrayNode pairs = assignment.putArray(member);
            share.partitions()
                    .forEach(
                            (topic, partitions) ->
                                    partitions.forEach(
                                            p -> In.pair(pairs, topic.toString(), p)));
        }
        ArrayNode order = out.putArray("order");
        group.memberIds().forEach(order::add);
    }

    private static GroupSpec group(JsonNode given) {
        Map<String, MemberSubscriptionAndAssignmentImpl> members = new HashMap<>();
        Map<Uuid, Map<Integer, String>> owners = new HashMap<>();
        Set<Set<Uuid>> subscriptions = new HashSet<>();
        for (JsonNode member : given) {
            String id = member.get("id").textValue();
            // The broker hands over a view that iterates as the member's topics stand.
            Set<Uuid> topics = new LinkedHashSet<>();
            for (String topic : In.texts(member, "topics")) topics.add(Uuid.fromString(topic));
            subscriptions.add(topics);
            Map<Uuid, Set<Integer>> target = new HashMap<>();
            for (TopicPartition p : In.partitions(member, "owned")) {
                Uuid topic = Uuid.fromString(p.topic());
                target.computeIfAbsent(topic, key -> new HashSet<>()).add(p.partition());
                owners.computeIfAbsent(topic, key -> new HashMap<>()).put(p.partition(), id);
            }
            members.put(
                    id,
                    new MemberSubscriptionAndAssignmentImpl(
                            In.maybeText(member, "rack"),
                            In.maybeText(member, "instance"),
                            topics,
                            new Assignment(Collections.unmodifiableMap(target))));
        }
        SubscriptionType type =
                subscriptions.size() <= 1
                        ? SubscriptionType.HOMOGENEOUS
                        : SubscriptionType.HETEROGENEOUS;
        return new GroupSpecImpl(members, type, owners);
    }

    private static SubscribedTopicDescriber describer(JsonNode given) {
        Map<Uuid, Integer> partitionCounts = new HashMap<>();
        Iterator<Map.Entry<String, JsonNode>> topics = given.fields();
        while (topics.hasNext()) {
            Map.Entry<String, JsonNode> topic = topics.next();
            partitionCounts.put(Uuid.fromString(topic.getKey()), topic.getValue().intValue());
        }
        return new SubscribedTopicDescriber() {
            @Override
            public int numPartitions(Uuid topic) {
                return partitionCounts.getOrDefault(topic, -1);
            }

            @Override
            public Set<String> racksForPartition(Uuid topic, int partition) {
                return Set.of();
            }
        };
    }

    private ServerAssignors() {}
}
