package wisdomagent;

import java.util.List;
import org.opensearch.env.Environment;
import org.opensearch.node.Node;

/** OpenSearch 2.x with its security plugin, which brings TLS, users and roles; it takes the place of the plain HTTP transport. */
final class ClasspathNode extends Node {
    ClasspathNode(Environment environment) {
        super(
            environment,
            List.of(
                org.opensearch.transport.Netty4Plugin.class,
                org.opensearch.analysis.common.CommonAnalysisPlugin.class,
                org.opensearch.painless.PainlessPlugin.class,
                org.opensearch.index.reindex.ReindexPlugin.class,
                org.opensearch.knn.plugin.KNNPlugin.class,
                org.opensearch.security.OpenSearchSecurityPlugin.class),
            true);
    }
}
