package accept

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/containernetworking/cni/libcni"
	"github.com/containernetworking/cni/pkg/invoke"
	current "github.com/containernetworking/cni/pkg/types/100"
	cniversion "github.com/containernetworking/cni/pkg/version"
	"github.com/containernetworking/plugins/plugins/ipam/host-local/backend/allocator"
	plugintypes "github.com/projectcalico/calico/cni-plugin/pkg/types"
)

// installer is the init container that puts the CNI plugin and its configuration on the node.
const installer = "install-cni"

// checkCNI lets the installer write the configuration as on a node, reads it as container runtimes and the plugin do, and then lets the plugin add a
// pod, up to the point at which it needs a network namespace: by then the pod has an address.
func checkCNI(ctx context.Context, rendering Rendering, _ *NewerFeatures) ([]Problem, error) {
	found, exists, err := findWorkload(rendering, "DaemonSet", "calico-node")
	if err != nil || !exists {
		return nil, err
	}
	spec, problems := found.container(installer)
	if len(problems) > 0 {
		return problems, nil
	}
	variables, problems := found.environment(spec)
	if len(problems) > 0 {
		return problems, nil
	}
	root, err := rootFor(spec.VolumeMounts)
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(root) }()
	if err := putBinary(root); err != nil {
		return nil, err
	}
	switch _, _, err := runContainer(ctx, roleInstall, root, variables); {
	case isExit(err):
		return []Problem{found.problem(installer, "env", "%v", err)}, nil
	case err != nil:
		return nil, err
	}
	return validateConfiguration(ctx, found, root, variables)
}

// validateConfiguration validates the file that the installer wrote.
func validateConfiguration(ctx context.Context, found workload, root string, variables environment) ([]Problem, error) {
	refuse := func(field, format string, arguments ...any) []Problem {
		return []Problem{found.problem(installer, field, format, arguments...)}
	}
	raw, err := os.ReadFile(filepath.Join(root, "host/etc/cni/net.d", variables["CNI_CONF_NAME"]))
	if err != nil {
		return refuse("CNI_CONF_NAME", "the installer did not write it: %v", err), nil
	}
	if left := regexp.MustCompile(`__\w+__`).FindString(string(raw)); left != "" {
		return refuse("CNI_NETWORK_CONFIG", "the installer does not know %s", left), nil
	}
	list, err := libcni.ConfListFromBytes(raw)
	if err != nil {
		return refuse("CNI_NETWORK_CONFIG", "%v", err), nil
	}
	config, field, err := readPlugin(list)
	if err != nil {
		return refuse("CNI_NETWORK_CONFIG, "+field, "%v", err), nil
	}
	var problems []Problem
	if config.Nodename != nodeName || config.Kubernetes.Kubeconfig != "/etc/cni/net.d/calico-kubeconfig" {
		problems = refuse("CNI_NETWORK_CONFIG", "node %q, kubeconfig %q", config.Nodename, config.Kubernetes.Kubeconfig)
	}
	if mtu := variables["CNI_MTU"]; mtu != "" && mtu != fmt.Sprint(config.MTU) {
		problems = append(problems, refuse("CNI_NETWORK_CONFIG, mtu", "CNI_MTU is %s, but it is %d", mtu, config.MTU)...)
	}
	problem, err := addPod(ctx, found.rendering, list)
	if err != nil {
		return nil, err
	}
	if problem != "" {
		problems = append(problems, refuse("CNI_NETWORK_CONFIG", "the plugin: %s", problem)...)
	}
	return problems, nil
}

// cniInputs leaves out all other containers.
func cniInputs(rendering Rendering) any {
	found, exists, err := findWorkload(rendering, "DaemonSet", "calico-node")
	if err != nil || !exists {
		return nil
	}
	spec, problems := found.container(installer)
	if len(problems) > 0 {
		return nil
	}
	return found.inputs(spec, "")
}

// putBinary puts something to install into the image.
func putBinary(root string) error {
	folder := filepath.Join(root, "opt/cni/bin")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(folder, "calico"), []byte("#!"), 0o600)
}

// readPlugin decodes Calico's part as the plugin does, and refuses unknown fields, which the plugin ignores.
func readPlugin(list *libcni.NetworkConfigList) (config plugintypes.NetConf, field string, err error) {
	if len(list.Plugins) == 0 || list.Plugins[0].Network.Type != "calico" {
		return config, "plugins", errors.New("the first one must be calico")
	}
	for _, other := range list.Plugins[1:] {
		if !slices.Contains([]string{"portmap", "bandwidth", "tuning"}, other.Network.Type) {
			return config, "plugins", fmt.Errorf("%q does not come with Calico", other.Network.Type)
		}
	}
	raw := list.Plugins[0].Bytes
	if err := json.Unmarshal(raw, &config); err != nil {
		return config, "plugins[0]", err
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(raw, &fields); err != nil {
		return config, "plugins[0]", err
	}
	var ipam any
	switch config.IPAM.Type {
	case ipamCalico:
		ipam = &plugintypes.NetConf{}
	case ipamHostLocal:
		ipam = &allocator.IPAMConfig{}
	default:
		return config, "plugins[0].ipam.type", fmt.Errorf("%q does not come with Calico", config.IPAM.Type)
	}
	section := fields["ipam"]
	if config.IPAM.Type == ipamCalico {
		section = []byte(`{"ipam":` + string(section) + `}`)
	} else {
		// Calico's own word for the range of the node: the plugin replaces it, which addPod sees.
		section = bytes.ReplaceAll(bytes.ReplaceAll(section, []byte(`"usePodCidrIPv6"`), []byte(`"2001:db8::/80"`)), []byte(`"usePodCidr"`), []byte(`"192.0.2.0/24"`))
	}
	if err := decodeStrict(section, ipam); err != nil {
		return config, "plugins[0].ipam", err
	}
	delete(fields, "ipam")
	rest, err := json.Marshal(fields)
	if err != nil {
		return config, "plugins[0]", err
	}
	return config, "plugins[0]", decodeStrict(rest, &plugintypes.NetConf{})
}

func decodeStrict(raw []byte, into any) error {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.DisallowUnknownFields()
	return decoder.Decode(into)
}

// executor runs plugins with one more variable.
type executor struct {
	invoke.Exec
	variable string
}

func (e executor) ExecPlugin(ctx context.Context, path string, stdin []byte, environ []string) ([]byte, error) {
	return e.Exec.ExecPlugin(ctx, path, stdin, append(environ, e.variable))
}

// addPod lets a container runtime's library add a pod, and says what went wrong before the network namespace. Paths on the node are
// replaced by those of a folder.
func addPod(ctx context.Context, rendering Rendering, list *libcni.NetworkConfigList) (problem string, err error) {
	server, ranges, err := newCluster(rendering)
	if err != nil {
		return "", err
	}
	defer server.close()
	server.put(customPath+"/clusterinformations/default", map[string]any{
		"apiVersion": customGroup + "/v1", "kind": "ClusterInformation", "metadata": map[string]any{"name": "default"},
		"spec": map[string]any{"datastoreReady": true},
	})
	folder, err := os.MkdirTemp("", "calico-cni-")
	if err != nil {
		return "", err
	}
	defer func() { _ = os.RemoveAll(folder) }()
	if err := fillNode(folder, server); err != nil {
		return "", err
	}
	moved, err := rewritePaths(list, folder)
	if err != nil {
		return "", err
	}
	record := filepath.Join(folder, "record")
	// No plugin of the list but the first runs: it fails, for there is no network namespace.
	exec := executor{&invoke.DefaultExec{RawExec: &invoke.RawExec{Stderr: &bytes.Buffer{}}, PluginDecoder: cniversion.PluginDecoder{}}, recordVariable + "=" + record}
	_, addErr := libcni.NewCNIConfigWithCacheDir([]string{folder}, filepath.Join(folder, "cache"), exec).AddNetworkList(ctx, moved, &libcni.RuntimeConf{
		ContainerID: "container-1", NetNS: filepath.Join(folder, "netns"), IfName: "eth0",
		Args: [][2]string{{"IgnoreUnknown", "1"}, {"K8S_POD_NAMESPACE", podNamespace}, {"K8S_POD_NAME", podName}, {"K8S_POD_INFRA_CONTAINER_ID", "container-1"}},
	})
	calls, err := readCalls(record)
	if err != nil {
		return "", err
	}
	return validateCalls(calls, addErr, ranges, strings.Contains(string(list.Bytes), "usePodCidr")), nil
}

func fillNode(folder string, server *fakeAPIServer) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	for _, name := range []string{"calico", ipamCalico, ipamHostLocal} {
		if err := os.Symlink(self, filepath.Join(folder, name)); err != nil {
			return err
		}
	}
	if err := os.WriteFile(filepath.Join(folder, "nodename"), []byte(nodeName), 0o600); err != nil {
		return err
	}
	return kubeconfig(filepath.Join(folder, "kubeconfig"), server.server.URL)
}

// rewritePaths replaces the paths in a configuration.
func rewritePaths(list *libcni.NetworkConfigList, folder string) (*libcni.NetworkConfigList, error) {
	var document map[string]any
	if err := json.Unmarshal(list.Bytes, &document); err != nil {
		return nil, err
	}
	plugins, _ := document["plugins"].([]any)
	for _, each := range plugins[:1] {
		config, _ := each.(map[string]any)
		merge(config, map[string]any{
			"kubernetes":    map[string]any{"kubeconfig": filepath.Join(folder, "kubeconfig")},
			"nodename_file": filepath.Join(folder, "nodename"), "log_file_path": filepath.Join(folder, "log"),
			"ipam_lock_file": filepath.Join(folder, "lock"),
		})
		if ipam, ok := config["ipam"].(map[string]any); ok && ipam["type"] == ipamHostLocal {
			ipam["dataDir"] = filepath.Join(folder, "data")
		}
	}
	raw, err := json.Marshal(document)
	if err != nil {
		return nil, err
	}
	return libcni.ConfListFromBytes(raw)
}

// validateCalls compares what the pod got with the ranges that it should be of.
func validateCalls(calls []ipamCall, addErr error, ranges []netip.Prefix, ofNode bool) string {
	position := slices.IndexFunc(calls, func(call ipamCall) bool { return call.Command == "ADD" })
	switch {
	case addErr == nil:
		return "it added a pod without a network namespace"
	case position < 0:
		return "it never asked for addresses: " + addErr.Error()
	case calls[position].Failed:
		return calls[position].Plugin + ": " + calls[position].Stdout
	case !strings.Contains(addErr.Error(), "netns"):
		return "it had an address, but failed before the network namespace: " + addErr.Error()
	}
	return validateAddresses(calls[position].Stdout, ranges, ofNode)
}

func validateAddresses(stdout string, ranges []netip.Prefix, ofNode bool) string {
	parsed, err := cniversion.NewResult(cniversionOf(stdout), []byte(stdout))
	if err != nil {
		return err.Error()
	}
	result, err := current.GetResult(parsed)
	if err != nil {
		return err.Error()
	}
	var got, want []string
	for _, address := range result.IPs {
		found, _ := netip.AddrFromSlice(address.Address.IP)
		found = found.Unmap()
		got = append(got, familyOf(found))
		if ofNode && !slices.ContainsFunc(ranges, func(each netip.Prefix) bool { return each.Contains(found) }) {
			return fmt.Sprintf("%s is not of the node's ranges %v", found, ranges)
		}
	}
	for _, each := range ranges {
		want = append(want, familyOf(each.Addr()))
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		return fmt.Sprintf("the pod has addresses of %v, the pools are %v", got, want)
	}
	return ""
}

func familyOf(address netip.Addr) string {
	if address.Is4() {
		return "IPv4"
	}
	return "IPv6"
}

func cniversionOf(stdout string) string {
	version, err := (&cniversion.ConfigDecoder{}).Decode([]byte(stdout))
	if err != nil {
		return ""
	}
	return version
}
