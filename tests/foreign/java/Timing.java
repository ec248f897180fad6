import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.Callable;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.Subscription;
import org.apache.kafka.clients.consumer.internals.ConsumerProtocol;

/**
 * CPU time that Kafka's classes take for one request, run after run: the first runs warm up.
 *
 * <p>The time is the process's, garbage collection and compilation included. What a request
 * says is read and turned into Kafka's types before the clock starts.
 */
final class Timing {
    private static final OperatingSystemMXBean PROCESS =
            (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();

    private static final long BLOCK_NS = 200_000_000;

    /** Runs for "seconds", though "times" at least, and lists the milliseconds of each run. */
    static void time(JsonNode asked, ObjectNode out) throws Exception {
        Callable<?> run = run(asked.get("in"));
        double until = System.nanoTime() + 1e9 * asked.get("seconds").doubleValue();
        int left = asked.get("times").intValue();
        ArrayNode spent = out.putArray("cpu_ms");
        while (left-- > 0 || System.nanoTime() < until) {
            long begin = PROCESS.getProcessCpuTime();
            long taken;
            int runs = 0;
            do { // the clock ticks every 10 ms
                run.call();
                runs++;
                taken = PROCESS.getProcessCpuTime() - begin;
            } while (taken < BLOCK_NS);
            spent.add(taken / 1e6 / runs);
        }
    }

    private static Callable<?> run(JsonNode in) {
        String algorithm = in.get("algo").textValue();
        if (algorithm.equals("decode")) {
            List<ByteBuffer> blobs = new ArrayList<>();
            for (JsonNode hex : in.get("blobs")) blobs.add(ByteBuffer.wrap(HexFormat.of().parseHex(hex.textValue())));
            return () -> decoded(blobs);
        }
        if (algorithm.startsWith("srv-")) return ServerAssignors.repeatable(algorithm, in);
        return ClientAssignors.repeatable(algorithm, in);
    }

    private static int decoded(List<ByteBuffer> blobs) {
        int claims = 0;
        for (ByteBuffer blob : blobs) {
            Subscription read = ConsumerProtocol.deserializeSubscription(blob.duplicate());
            claims += read.ownedPartitions().size();
        }
        return claims;
    }

    private Timing() {}
}
