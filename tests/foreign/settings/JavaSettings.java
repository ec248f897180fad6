// What Java's own classes make of files of properties and of sasl.jaas.config: a line in, a line out.
//
//     P <base64 of a file>     ->  base64 of each key and value, sorted; or ERROR
//     J <base64 of a setting>  ->  base64 of the login module, then of its options, sorted; or ERROR

import java.io.BufferedReader;
import java.io.ByteArrayInputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;
import javax.security.auth.login.AppConfigurationEntry;
import org.apache.kafka.common.config.types.Password;
import org.apache.kafka.common.security.JaasContext;

public final class JavaSettings {
    public static void main(String[] arguments) throws Exception {
        BufferedReader lines =
            new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            byte[] given = Base64.getDecoder().decode(line.substring(2));
            try {
                System.out.println(line.startsWith("P") ? properties(given) : login(given));
            } catch (RuntimeException error) {
                System.out.println("ERROR");
            }
        }
    }

    private static String properties(byte[] file) throws Exception {
        Properties read = new Properties();
        read.load(new ByteArrayInputStream(file));
        Map<String, Object> sorted = new TreeMap<>();
        read.stringPropertyNames().forEach(name -> sorted.put(name, read.getProperty(name)));
        return joined("", sorted);
    }

    private static String login(byte[] setting) {
        Password value = new Password(new String(setting, StandardCharsets.UTF_8));
        JaasContext context = JaasContext.loadClientContext(Map.of("sasl.jaas.config", value));
        AppConfigurationEntry entry = context.configurationEntries().get(0);
        return joined(encoded(entry.getLoginModuleName()), new TreeMap<>(entry.getOptions()));
    }

    private static String joined(String first, Map<String, ?> entries) {
        StringBuilder line = new StringBuilder("OK ").append(first);
        entries.forEach((name, value) ->
            line.append(' ').append(encoded(name)).append(' ').append(encoded((String) value)));
        return line.toString();
    }

    private static String encoded(String text) {
        return "." + Base64.getEncoder().encodeToString(text.getBytes(StandardCharsets.UTF_16BE));
    }
}
