//go:build gardenet

package gardenet

import (
	"net/netip"
	"testing"

	"github.com/containernetworking/cni/libcni"
	types100 "github.com/containernetworking/cni/pkg/types/100"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// pod is a network namespace that the CNI plugins have connected, with an object in the API server.
type pod struct {
	*namespace
	key       string // namespace/name
	node      *node
	addresses []netip.Addr
}

// newPod connects a pod to a node and makes it known, as container runtime and kubelet do. It listens at ports 80 and 81; port 80 is named "web".
func (n *node) newPod(t *testing.T, namespaceName, name string, labels map[string]string) *pod {
	space, err := newNamespace()
	require.NoError(t, err)
	p := &pod{namespace: space, key: namespaceName + "/" + name, node: n}
	t.Cleanup(space.close)
	p.connect(t)
	labels["name"] = name
	object := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespaceName, Name: name, Labels: labels},
		Spec: corev1.PodSpec{NodeName: n.name, Containers: []corev1.Container{{Name: "main", Image: "none", Ports: []corev1.ContainerPort{
			{Name: "web", ContainerPort: 80, Protocol: corev1.ProtocolTCP}, {Name: "web-udp", ContainerPort: 80, Protocol: corev1.ProtocolUDP},
		}}}},
	}
	pods := n.cluster.clients.CoreV1().Pods(namespaceName)
	created, err := pods.Create(t.Context(), object, metav1.CreateOptions{})
	require.NoError(t, err)
	created.Status.Phase, created.Status.PodIP = corev1.PodRunning, p.addresses[0].String()
	for _, address := range p.addresses {
		created.Status.PodIPs = append(created.Status.PodIPs, corev1.PodIP{IP: address.String()})
	}
	_, err = pods.UpdateStatus(t.Context(), created, metav1.UpdateOptions{})
	require.NoError(t, err)
	for _, port := range []int{80, 81} {
		p.serve(t, port)
	}
	return p
}

// connect runs the plugins that the agent's configuration names, in the namespace of the node.
func (p *pod) connect(t *testing.T) {
	list, err := libcni.NetworkConfFromBytes(p.node.conflist(t))
	require.NoError(t, err)
	plugins := libcni.NewCNIConfigWithCacheDir([]string{p.node.cluster.plugins}, t.TempDir(), nil)
	err = p.node.do(func() error {
		result, err := plugins.AddNetworkList(t.Context(), list, &libcni.RuntimeConf{ContainerID: "pod-" + p.node.name + p.key[:1] + p.key[2:], NetNS: p.path(), IfName: "eth0"})
		if err != nil {
			return err
		}
		added, err := types100.NewResultFromResult(result)
		if err != nil {
			return err
		}
		for _, ip := range added.IPs {
			address, _ := netip.AddrFromSlice(ip.Address.IP)
			p.addresses = append(p.addresses, address.Unmap())
		}
		return nil
	})
	require.NoError(t, err, "connecting pod %s", p.key)
}

// address returns the address of a family.
func (p *pod) address(v6 bool) netip.Addr {
	for _, address := range p.addresses {
		if address.Is6() == v6 {
			return address
		}
	}
	return netip.Addr{}
}
