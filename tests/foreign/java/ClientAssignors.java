import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.Assignment;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.GroupSubscription;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.Subscription;
import org.apache.kafka.clients.consumer.CooperativeStickyAssignor;
import org.apache.kafka.clients.consumer.RangeAssignor;
import org.apache.kafka.clients.consumer.RoundRobinAssignor;
import org.apache.kafka.clients.consumer.StickyAssignor;
import org.apache.kafka.clients.consumer.internals.AbstractPartitionAssignor;
import org.apache.kafka.clients.consumer.internals.AbstractStickyAssignor;
import org.apache.kafka.common.Cluster;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.TopicPartition;

/** What the leader of a classic group does: its assignor's answer for a cluster and members. */
final class ClientAssignors {
    static AbstractPartitionAssignor assignor(String algorithm) {
        return switch (algorithm) {
            case "range" -> new RangeAssignor();
            case "roundrobin" -> new RoundRobinAssignor();
            case "sticky" -> new StickyAssignor();
            case "coop" -> new CooperativeStickyAssignor();
            default -> throw new IllegalArgumentException(algorithm);
        };
    }

    static void assign(String algorithm, JsonNode in, ObjectNode out) throws Exception {
        AbstractPartitionAssignor assignor = assignor(algorithm);
        if (assignor instanceof AbstractStickyAssignor && in.hasNonNull("maxGen")) {
            Field remembered = AbstractStickyAssignor.class.getDeclaredField("maxGeneration");
            remembered.setAccessible(true);
            remembered.setInt(assignor, in.get("maxGen").intValue());
        }
        Map<String, Subscription> subscriptions = subscriptions(in.get("members"));
        Map<String, Assignment> given =
                assignor.assign(cluster(in.get("topics")), new GroupSubscription(subscriptions))
                        .groupAssignment();
        ObjectNode assignment = out.putObject("assignment");
        for (String member : subscriptions.keySet()) {
            ArrayNode pairs = assignment.putArray(member);
            for (TopicPartition partition : given.get(member).partitions()) {
                In.pair(pairs, partition.topic(), partition.partition());
            }
        }
        ArrayNode order = out.putArray("order");
        subscriptions.keySet().forEach(order::add);
        if (assignor instanceof AbstractStickyAssignor sticky) remembered(sticky, out);
    }

    /** Insertion order is the order of the response that the leader gets from the broker. */
    private static Map<String, Subscription> subscriptions(JsonNode members) {
        Map<String, Subscription> subscriptions = new HashMap<>();
        for (JsonNode member : members) {
            subscriptions.put(member.get("id").textValue(), subscription(member));
        }
        return subscriptions;
    }

    private static void remembered(AbstractStickyAssignor assignor, ObjectNode out) {
        Map<TopicPartition, String> transfers = assignor.partitionsTransferringOwnership();
        if (transfers == null) {
            out.putNull("transfer");
        } else {
            ArrayNode pairs = out.putArray("transfer");
            transfers.forEach((p, owner) -> In.pair(pairs, p.topic(), p.partition()).add(owner));
        }
        out.put("maxGen", assignor.maxGeneration());
    }

    static Subscription subscription(JsonNode member) {
        Subscription subscription =
                new Subscription(
                        In.texts(member, "topics"),
                        In.bytes(member, "ud"),
                        In.partitions(member, "owned"),
                        In.number(member, "sgen", -1),
                        In.maybeText(member, "rack"));
        subscription.setGroupInstanceId(In.maybeText(member, "instance"));
        return subscription;
    }

    /** A cluster of which only the racks of replicas are known: no assignor reads more. */
    private static Cluster cluster(JsonNode topics) {
        List<PartitionInfo> infos = new ArrayList<>();
        for (Iterator<Map.Entry<String, JsonNode>> each = topics.fields(); each.hasNext(); ) {
            Map.Entry<String, JsonNode> topic = each.next();
            int number = 0;
            for (JsonNode racks : topic.getValue()) {
                Node[] replicas = new Node[racks.size()];
                for (int i = 0; i < replicas.length; i++) {
                    replicas[i] = new Node(i, "", 0, racks.get(i).textValue());
                }
                infos.add(new PartitionInfo(topic.getKey(), number, null, replicas, replicas));
                number++;
            }
        }
        return new Cluster("", List.of(), infos, Set.of(), Set.of());
    }

    private ClientAssignors() {}
}
