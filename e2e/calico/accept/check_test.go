package accept

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const validMatrixDir = "testdata/good"

// TestCheck_Valid checks that every check accepts valid renderings, and finds newer features.
func TestCheck_Valid(t *testing.T) {
	matrix, err := Load(validMatrixDir)
	require.NoError(t, err)
	require.Len(t, matrix.Cases, 2)
	newer := &NewerFeatures{Features: []Feature{
		{componentFelix, "FELIX_NFTABLESMODE", "v3.29"},
		{componentKubeControllers, "loadbalancer", "v3.30"},
		{componentCustomResources, "GlobalNetworkSet.spec.labels", "never"},
		{componentTypha, "TYPHA_ANY", "never"},
	}}
	for _, check := range Checks() {
		for _, group := range check.Groups(matrix) {
			problems, err := check.Run(t.Context(), group.Rendering, newer)
			require.NoError(t, err)
			assert.Empty(t, problems, "%s: %v", check.Name, group.Sentences)
		}
	}
	assert.Equal(t, newer.Features[2:], newer.Unused())
}

// TestCheck_NewerFeatures checks that the list of newer features cannot contain what v3.28.5 knows.
func TestCheck_NewerFeatures(t *testing.T) {
	matrix, err := Load(validMatrixDir)
	require.NoError(t, err)
	for _, feature := range []Feature{
		{componentFelix, "FELIX_HEALTHENABLED", "v3.29"}, {componentTypha, "TYPHA_LOGFILEPATH", "v3.29"},
	} {
		newer := &NewerFeatures{Features: []Feature{feature}}
		for _, check := range Checks()[:2] {
			for _, group := range check.Groups(matrix) {
				_, err := check.Run(t.Context(), group.Rendering, newer)
				require.NoError(t, err)
			}
		}
		assert.Equal(t, []Feature{feature}, newer.Unused(), "exempt only what is unknown")
	}
	for _, feature := range []Feature{
		{componentKubeControllers, "node", "v3.30"}, {componentCustomResources, "IPPool.spec.blockSize", "v3.30"},
	} {
		var messages []string
		newer := &NewerFeatures{Features: []Feature{feature, {componentKubeControllers, "loadbalancer", "v3.30"}}}
		for _, check := range Checks()[2:4] {
			for _, group := range check.Groups(matrix) {
				problems, err := check.Run(t.Context(), group.Rendering, newer)
				require.NoError(t, err)
				for _, problem := range problems {
					messages = append(messages, problem.String())
				}
			}
		}
		assert.Contains(t, fmt.Sprint(messages), "on the list of what is newer", feature)
	}
}

type invalidCase struct {
	file, old, new string
	// check is the check that must report it, with this text.
	check, wantText string
}

func invalidCases() map[string]invalidCase {
	const (
		node, dual = "daemonset-host-local.yaml", "daemonset-calico-ipam.yaml"
		config     = "configmap-host-local.yaml"
		configDual = "configmap-calico-ipam.yaml"
	)
	return map[string]invalidCase{
		"an unknown parameter of Felix":                       {node, "FELIX_HEALTHENABLED", "FELIX_HEALTHENABLE", "Felix", "FELIX_HEALTHENABLE: unknown to Felix"},
		"a value that Felix replaces by the default":          {node, `"32768:65535"`, `"65535:32768"`, "Felix", "FELIX_NATPORTRANGE: Replacing invalid value with default"},
		"a word that Felix does not have":                     {node, "ACCEPT", "PASS", "Felix", "FELIX_DEFAULTENDPOINTTOHOSTACTION"},
		"a number that Felix cannot read":                     {node, `FELIX_IPINIPMTU, value: "1440"`, `FELIX_IPINIPMTU, value: "1440m"`, "Felix", "FELIX_IPINIPMTU"},
		"an empty value":                                      {node, `FELIX_IPINIPMTU, value: "1440"`, `FELIX_IPINIPMTU, value: ""`, "Felix", "an empty value is passed over"},
		"a switch in a spelling that Felix takes for another": {dual, `FELIX_IPV6SUPPORT, value: "true"`, `FELIX_IPV6SUPPORT, value: "enabled"`, "Felix", "FELIX_IPV6SUPPORT"},
		"a variable listed twice":                             {node, "FELIX_IPINIPMTU", "FELIX_HEALTHENABLED", "Felix", "listed twice"},
		"a key that the ConfigMap does not have":              {node, "key: calico_backend", "key: backend", "Felix", "there is no key backend"},
		"no name for Felix":                                   {node, "name: NODENAME", "name: NODE_NAME", "Felix", "NODENAME: unset"},
		"a ConfigMap that is not there":                       {node, "optional: true", "optional: false", "Felix", "there is no ConfigMap kubernetes-services-endpoint"},

		"an unknown parameter of Typha":        {"typha.yaml", "TYPHA_SHUTDOWNTIMEOUTSECS", "TYPHA_SHUTDOWNTIMEOUT", "Typha", "unknown to Typha"},
		"a mode that Typha does not have":      {"typha.yaml", "CONNECTIONREBALANCINGMODE, value: kubernetes", "CONNECTIONREBALANCINGMODE, value: always", "Typha", "TYPHA_CONNECTIONREBALANCINGMODE"},
		"a datastore that Typha does not have": {"typha.yaml", "DATASTORETYPE, value: kubernetes", "DATASTORETYPE, value: kube", "Typha", "TYPHA_DATASTORETYPE"},

		"a pool with two encapsulations":      {"pool-ipv4.yaml", "vxlanMode: Never", "vxlanMode: Always", "CustomResources", "IPPool default-ipv4-ippool"},
		"a mode that pools do not have":       {"pool-ipv4.yaml", "ipipMode: Always", "ipipMode: Sometimes", "CustomResources", "IPIPMode"},
		"IP-in-IP of IPv6":                    {"pool-ipv6.yaml", "ipipMode: Never", "ipipMode: Always", "CustomResources", "IPPool default-ipv6-ippool"},
		"a block larger than the pool":        {"pool-ipv4.yaml", "blockSize: 26", "blockSize: 8", "CustomResources", "BlockSize"},
		"pools that overlap":                  {"pool-of-nodes.yaml", "10.250.0.0/16", "100.100.0.0/16", "CustomResources", "overlaps"},
		"a selector that cannot be parsed":    {"pool-ipv4.yaml", "nodeSelector: all()", "nodeSelector: all(", "CustomResources", "IPPool default-ipv4-ippool"},
		"a field that pools do not have":      {"pool-ipv4.yaml", "natOutgoing", "natOutgoings", "CustomResources", "unknown field"},
		"a default that is not written":       {"pool-ipv4.yaml", "  blockSize: 26\n", "", "CustomResources", "spec.blockSize: rendered is <nil>, Calico makes it 26"},
		"a range with bits of a host":         {"pool-ipv4.yaml", "100.96.0.0/11", "100.96.0.1/11", "CustomResources", "not strictly masked"},
		"a set with a name for an address":    {"set.yaml", "203.0.113.7/32", "api.example.org", "CustomResources", "GlobalNetworkSet api"},
		"a severity that Felix does not have": {"felix.yaml", "Info", "Loud", "CustomResources", "FelixConfiguration default"},
		"an interval without a unit":          {"controllers.yaml", "reconcilerPeriod: 5m0s", `reconcilerPeriod: "300"`, "CustomResources", "missing unit in duration"},
		"an unknown kind":                     {"set.yaml", "GlobalNetworkSet", "GalaxyNetworkSet", "CustomResources", "unknown to libcalico-go"},

		"an unknown controller":    {"kube-controllers.yaml", "node,loadbalancer", "node,balancer", "KubeControllers", "balancer"},
		"a health switch in words": {"kube-controllers.yaml", `HEALTH_ENABLED, value: "true"`, `HEALTH_ENABLED, value: "enabled"`, "KubeControllers", "HEALTH_ENABLED"},
		"controllers on etcd":      {"kube-controllers.yaml", "value: kubernetes", "value: etcdv3", "KubeControllers", "calico-kube-controllers"},

		"an unknown method to find addresses":     {node, "cidr=10.250.0.0/16", "range=10.250.0.0/16", "NodeStartup", "IP_AUTODETECTION_METHOD"},
		"a method with a broken range":            {node, "10.180.0.0/16\"", "10.180.0.0/36\"", "NodeStartup", "IP_AUTODETECTION_METHOD"},
		"a method with a broken expression":       {dual, "interface=eth.*", "interface=eth[", "NodeStartup", "IP6_AUTODETECTION_METHOD"},
		"a pool that calico-node makes itself":    {node, `{name: NO_DEFAULT_POOLS, value: "true"}`, `{name: CALICO_IPV4POOL_CIDR, value: "100.96.0.0/11"}`, "NodeStartup", "default-ipv6-ippool"},
		"another container that wants a pool":     {dual, `value: "TRUE"}`, "value: \"TRUE\"}\n        - {name: CALICO_IPV4POOL_CIDR, value: \"100.96.0.0/11\"}", "NodeStartup", "container ensurer, calico-node -startup"},
		"a range for pools and no wish for pools": {node, `{name: WAIT_FOR_DATASTORE, value: "true"}`, `{name: CALICO_IPV4POOL_CIDR, value: "100.96.0.0/11"}`, "NodeStartup", "NO_DEFAULT_POOLS"},
		"a folder that is not mounted":            {node, "/var/lib/calico", "/var/lib/calicos", "NodeStartup", "volumeMounts"},
		"an address that is none":                 {node, "name: IP, value: autodetect", "name: IP, value: somewhere", "NodeStartup", "calico-node -startup"},
		"a node with BIRD and no address":         {node, "name: IP, value: autodetect", "name: IP, value: none", "NodeStartup", "No IPv4 or IPv6 addresses"},
		"a cluster on etcd":                       {node, "name: DATASTORE_TYPE, value: kubernetes", "name: DATASTORE_TYPE, value: etcd3", "NodeStartup", "calico-node -startup"},

		"a configuration that is no JSON":             {config, `"log_level": "error",`, `"log_level": "error"`, "CNI", "after object key:value pair"},
		"a placeholder that the installer lacks":      {config, "__KUBERNETES_NODE_NAME__", "__NODE_NAME__", "CNI", "does not know __NODE_NAME__"},
		"an MTU in quotes":                            {config, `"mtu": __CNI_MTU__`, `"mtu": "__CNI_MTU__"`, "CNI", "cannot unmarshal string"},
		"an MTU that is not the wanted one":           {config, `"mtu": __CNI_MTU__`, `"mtu": 1500`, "CNI", "CNI_MTU is 1440, but it is 1500"},
		"a field that the plugin does not have":       {config, `"log_level"`, `"loglevel"`, "CNI", "unknown field"},
		"a field that host-local does not have":       {config, `"ranges"`, `"range"`, "CNI", "unknown field"},
		"a word that Calico does not replace":         {config, `"usePodCidr"`, `"usePodCIDRs"`, "CNI", "usePodCIDRs"},
		"a family that the node has no range of":      {config, `{"subnet": "usePodCidr"}`, `{"subnet": "usePodCidrIPv6"}`, "CNI", "CNI_NETWORK_CONFIG"},
		"another IPAM":                                {config, `"host-local"`, `"dhcp"`, "CNI", "does not come with Calico"},
		"a plugin that is not there":                  {config, `"portmap"`, `"portmaps"`, "CNI", "does not come with Calico"},
		"a version that the plugin does not speak":    {config, `"0.3.1"`, `"9.9.9"`, "CNI", "9.9.9"},
		"another kubeconfig":                          {config, "__KUBECONFIG_FILEPATH__", "/etc/calico-kubeconfig", "CNI", "kubeconfig"},
		"one family of calico-ipam where two are due": {configDual, `"assign_ipv6": "true"`, `"assign_ipv6": "false"`, "CNI", "the pod has addresses of [IPv4], the pools are [IPv4 IPv6]"},
		"a folder that the installer does not know":   {node, "/host/opt/cni/bin", "/host/bin", "CNI", "no writeable directory"},
		"a file in a folder that is not mounted":      {node, "/host/etc/cni/net.d", "/host/etc/cni", "CNI", "no such file or directory"},
	}
}

// TestCheck_Invalid checks that the responsible check reports each invalid value, with the name of the field.
func TestCheck_Invalid(t *testing.T) {
	for sentence, each := range invalidCases() {
		t.Run(sentence, func(t *testing.T) {
			folder := t.TempDir()
			require.NoError(t, os.CopyFS(folder, os.DirFS(validMatrixDir)))
			file := filepath.Join(folder, "manifests", each.file)
			raw, err := os.ReadFile(file)
			require.NoError(t, err)
			require.Contains(t, string(raw), each.old)
			require.NoError(t, os.WriteFile(file, []byte(strings.ReplaceAll(string(raw), each.old, each.new)), 0o600))
			matrix, err := Load(folder)
			require.NoError(t, err)
			position := slices.IndexFunc(Checks(), func(check Check) bool { return check.Name == each.check })
			require.GreaterOrEqual(t, position, 0)
			check := Checks()[position]
			var messages []string
			for _, group := range check.Groups(matrix) {
				problems, err := check.Run(t.Context(), group.Rendering, KnownNewerFeatures())
				require.NoError(t, err)
				for _, problem := range problems {
					messages = append(messages, problem.String())
				}
			}
			assert.Contains(t, fmt.Sprint(messages), each.wantText)
			t.Log(messages)
		})
	}
}
