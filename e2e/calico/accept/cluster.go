package accept

import (
	"fmt"
	"net/netip"
	"path"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// The pod that gets a network.
const (
	podNamespace = "default"
	podName      = "pod-1"
)

const (
	nodesPath = "/api/v1/nodes"
	poolsPath = customPath + "/ippools"
)

// newCluster returns an API server with the pools of a rendering and one node, which has a range of each family that pods get
// addresses of.
func newCluster(rendering Rendering) (*fakeAPIServer, []netip.Prefix, error) {
	server := newFakeAPIServer()
	var ranges []netip.Prefix
	for _, object := range rendering {
		if object.GetKind() != "IPPool" {
			continue
		}
		server.put(path.Join(poolsPath, object.GetName()), object.Object)
		cidr, forPods, err := podRange(object)
		if err != nil {
			server.close()
			return nil, nil, err
		}
		if forPods {
			ranges = append(ranges, cidr)
		}
	}
	var texts []any
	for _, each := range ranges {
		texts = append(texts, each.String())
	}
	spec := map[string]any{}
	if len(texts) > 0 {
		spec["podCIDR"], spec["podCIDRs"] = texts[0], texts
	}
	meta := func(namespace, name string) map[string]any {
		metadata := map[string]any{"name": name}
		if namespace != "" {
			metadata["namespace"] = namespace
		}
		return metadata
	}
	server.put(path.Join(nodesPath, nodeName), map[string]any{
		"apiVersion": "v1", "kind": "Node", "metadata": meta("", nodeName), "spec": spec,
		"status": map[string]any{"addresses": []any{map[string]any{"type": "InternalIP", "address": "192.0.2.10"}}},
	})
	server.put("/api/v1/namespaces/"+podNamespace, map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": meta("", podNamespace)})
	server.put("/api/v1/namespaces/"+podNamespace+"/pods/"+podName, map[string]any{
		"apiVersion": "v1", "kind": "Pod", "metadata": meta(podNamespace, podName), "status": map[string]any{},
		"spec": map[string]any{"nodeName": nodeName, "containers": []any{map[string]any{"name": "c"}}},
	})
	return server, ranges, nil
}

// podRange returns a part of a pool that fits a node, and whether pods get addresses of the pool.
func podRange(pool Object) (netip.Prefix, bool, error) {
	text, _, _ := unstructured.NestedString(pool.Object, "spec", "cidr")
	cidr, err := netip.ParsePrefix(text)
	if err != nil {
		return netip.Prefix{}, false, fmt.Errorf("%s: %w", pool, err)
	}
	disabled, _, _ := unstructured.NestedBool(pool.Object, "spec", "disabled")
	uses, found, _ := unstructured.NestedStringSlice(pool.Object, "spec", "allowedUses")
	bits := 24
	if cidr.Addr().Is6() {
		bits = 80
	}
	return netip.PrefixFrom(cidr.Addr(), max(bits, cidr.Bits())), !disabled && (!found || slices.Contains(uses, "Workload")), nil
}

// poolNames lists the pools that there are.
func poolNames(server *fakeAPIServer) string {
	var names []string
	for _, pool := range server.collection(poolsPath) {
		names = append(names, nameOf(pool))
	}
	return strings.Join(names, ", ")
}
