import com.fasterxml.jackson.core.json.JsonWriteFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.OutputStreamWriter;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.util.Properties;

/**
 * Kafka's own classes, asked over JSON lines: a request a line on standard input, its answer a
 * line on standard output, in the same order, until the input ends.
 *
 * <p>A request is the "in" object of a vector and its answer the "out" object; "algo" says which
 * class is asked. What the class throws is an answer too: {"err": "Class: message", "cause": ...}.
 * Each request gets instances of its own. Both directions are ASCII: other characters are escaped.
 */
public final class Judge {
    private static final ObjectMapper JSON =
            JsonMapper.builder().enable(JsonWriteFeature.ESCAPE_NON_ASCII).build();

    public static void main(String[] arguments) throws Exception {
        CoordinatorShard.countIds();
        BufferedReader requests =
                new BufferedReader(
                        new InputStreamReader(System.in, StandardCharsets.US_ASCII), 1 << 16);
        Writer answers = new OutputStreamWriter(System.out, StandardCharsets.US_ASCII);
        for (String line = requests.readLine(); line != null; line = requests.readLine()) {
            answers.write(JSON.writeValueAsString(answer(line)));
            answers.write('\n');
            // At once: whoever waits in vain must know which request it was.
            answers.flush();
        }
    }

    private static ObjectNode answer(String line) {
        ObjectNode out = object();
        try {
            JsonNode request = JSON.readTree(line);
            ask(request.get("algo").asText(), request, out);
            return out;
        } catch (Throwable thrown) { // an Error of Kafka's classes is an answer like any other
            ObjectNode failure = object();
            failure.put("err", named(thrown));
            if (thrown.getCause() != null) failure.put("cause", named(thrown.getCause()));
            return failure;
        }
    }

    private static void ask(String algorithm, JsonNode in, ObjectNode out) throws Throwable {
        switch (algorithm) {
            case "range", "roundrobin", "sticky", "coop" ->
                    ClientAssignors.assign(algorithm, in, out);
            case "srv-uniform", "srv-range", "srv-simple" ->
                    ServerAssignors.assign(algorithm, in, out);
            case "codec-mksub" -> Codecs.encodeSubscription(in, out);
            case "codec-mkasg" -> Codecs.encodeAssignment(in, out);
            case "codec-sub" -> Codecs.decodeSubscription(in, out);
            case "codec-asg" -> Codecs.decodeAssignment(in, out);
            case "codec-stickyud" -> Codecs.stickyUserData(in, out);
            case "codec-coopud" -> Codecs.cooperativeUserData(in, out);
            case "codec-mdsticky", "codec-mdcoop" -> Codecs.memberData(algorithm, in, out);
            case "rec-enc" -> Records.encode(in, out);
            case "rec-dec" -> Records.decode(in, out);
            case "coordinator" -> CoordinatorShard.play(in, out);
            case "versions" -> versions(out);
            default -> throw new IllegalArgumentException("no algo " + algorithm);
        }
    }

    /** What answers here: records of long runs name it. */
    private static void versions(ObjectNode out) throws IOException {
        Properties kafka = new Properties();
        try (InputStream file =
                Judge.class.getClassLoader().getResourceAsStream("kafka/kafka-version.properties")) {
            kafka.load(file);
        }
        out.put("kafka", kafka.getProperty("version"));
        out.put("java", Runtime.version().toString());
    }

    private static String named(Throwable thrown) {
        return thrown.getClass().getSimpleName() + ": " + thrown.getMessage();
    }

    static ObjectNode object() {
        return JsonNodeFactory.instance.objectNode();
    }
}
