package network

import (
	"fmt"
	"net/netip"
	"testing"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/trellis-garden/trellis/internal/contract"
	"github.com/trellis-garden/trellis/internal/contract/images"
)

const (
	ipv4 = extensionsv1alpha1.IPFamilyIPv4
	ipv6 = extensionsv1alpha1.IPFamilyIPv6
)

func TestCurrentFamilies(t *testing.T) {
	constraint := func(kind gardencorev1beta1.ConditionType, status gardencorev1beta1.ConditionStatus) []gardencorev1beta1.Condition {
		return []gardencorev1beta1.Condition{
			{Type: gardencorev1beta1.ShootHibernationPossible, Status: gardencorev1beta1.ConditionFalse}, {Type: kind, Status: status},
		}
	}
	nodes := gardencorev1beta1.ShootDualStackNodesMigrationReady
	type families = []extensionsv1alpha1.IPFamily
	for sentence, test := range map[string]struct {
		wanted      families
		constraints []gardencorev1beta1.Condition
		want        families
	}{
		"IPv4 by default":                    {want: families{ipv4}},
		"nothing is being changed":           {wanted: families{ipv4, ipv6}, want: families{ipv4, ipv6}},
		"the order of the shoot's spec":      {wanted: families{ipv6, ipv4}, want: families{ipv6, ipv4}},
		"one family":                         {wanted: families{ipv6}, want: families{ipv6}},
		"nodes are not ready for the second": {wanted: families{ipv4, ipv6}, constraints: constraint(nodes, gardencorev1beta1.ConditionFalse), want: families{ipv4}},
		"readiness is unknown":               {wanted: families{ipv4, ipv6}, constraints: constraint(nodes, gardencorev1beta1.ConditionUnknown), want: families{ipv4}},
		"readiness is progressing":           {wanted: families{ipv6, ipv4}, constraints: constraint(nodes, gardencorev1beta1.ConditionProgressing), want: families{ipv6}},
		"nodes are ready":                    {wanted: families{ipv4, ipv6}, constraints: constraint(nodes, gardencorev1beta1.ConditionTrue), want: families{ipv4, ipv6}},
		"a shoot goes back to one family":    {wanted: families{ipv4}, constraints: constraint(nodes, gardencorev1beta1.ConditionFalse), want: families{ipv4}},
		"DNS is another matter": {
			wanted: families{ipv4, ipv6}, constraints: constraint(gardencorev1beta1.ShootDNSServiceMigrationReady, gardencorev1beta1.ConditionFalse), want: families{ipv4, ipv6},
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			assert.Equal(t, test.want, currentFamilies(test.wanted, test.constraints))
		})
	}
}

func TestRangesOf(t *testing.T) {
	one := &extensionsv1alpha1.Network{Spec: extensionsv1alpha1.NetworkSpec{PodCIDR: "100.96.0.0/11", ServiceCIDR: "100.64.0.0/13"}}
	type list = []string
	for sentence, test := range map[string]struct {
		object                *extensionsv1alpha1.Network
		spec                  *gardencorev1beta1.Networking
		status                *gardencorev1beta1.NetworkingStatus
		pods, services, nodes list
	}{
		"no ranges":         {object: &extensionsv1alpha1.Network{}},
		"the Network alone": {object: one, pods: list{"100.96.0.0/11"}, services: list{"100.64.0.0/13"}},
		"the shoot's spec": {
			object: one, spec: &gardencorev1beta1.Networking{Pods: new("10.0.0.0/16"), Services: new(""), Nodes: new("10.250.0.0/16")},
			pods: list{"10.0.0.0/16"}, services: list{"100.64.0.0/13"}, nodes: list{"10.250.0.0/16"},
		},
		"the shoot's status takes precedence": {
			object: one, spec: &gardencorev1beta1.Networking{Pods: new("10.0.0.0/16"), Nodes: new("10.250.0.0/16")},
			status: &gardencorev1beta1.NetworkingStatus{Pods: list{"10.0.0.0/16", "2001:db8::/56"}, Nodes: list{"10.251.0.0/16"}},
			pods:   list{"10.0.0.0/16", "2001:db8::/56"}, services: list{"100.64.0.0/13"}, nodes: list{"10.251.0.0/16"},
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			shoot := &gardencorev1beta1.Shoot{}
			shoot.Spec.Networking, shoot.Status.Networking = test.spec, test.status
			pods, services, nodes := rangesOf(test.object, shoot)
			assert.Equal(t, test.pods, pods)
			assert.Equal(t, test.services, services)
			assert.Equal(t, test.nodes, nodes)
		})
	}
}

func TestReadAPIServer_Host(t *testing.T) {
	server := APIServer().Get(t)
	namespace, err := server.NewNamespace(t.Context())
	require.NoError(t, err)
	for sentence, test := range map[string]struct {
		addresses map[string]string
		want      string
	}{
		"unknown":                           {},
		"the name that users know":          {addresses: map[string]string{"internal": "https://api.internal.example.org", "external": "https://api.example.org:443"}, want: "api.example.org"},
		"without a domain of the user's":    {addresses: map[string]string{"internal": "https://api.internal.example.org", "unmanaged": "https://1.2.3.4"}, want: "api.internal.example.org"},
		"an address of IPv6":                {addresses: map[string]string{"external": "https://[2001:db8::1]:443"}, want: "2001:db8::1"},
		"an invalid URL is ignored":         {addresses: map[string]string{"external": "https://%zz", "internal": "https://api.internal.example.org"}, want: "api.internal.example.org"},
		"other addresses are not for nodes": {addresses: map[string]string{"service-account-issuer": "https://issuer.example.org"}},
	} {
		t.Run(sentence, func(t *testing.T) {
			shoot := &gardencorev1beta1.Shoot{}
			for name, url := range test.addresses {
				shoot.Status.AdvertisedAddresses = append(shoot.Status.AdvertisedAddresses, gardencorev1beta1.ShootAdvertisedAddress{Name: name, URL: url})
			}
			read, err := readAPIServer(t.Context(), server.Client, namespace, shoot)
			require.NoError(t, err)
			assert.Equal(t, test.want, read.host)
		})
	}
}

func TestReadAPIServer_Addresses(t *testing.T) {
	server := APIServer().Get(t)
	namespace, err := server.NewNamespace(t.Context())
	require.NoError(t, err)
	record := func(name, gardenRole, role string, values ...string) {
		require.NoError(t, server.Client.Create(t.Context(), &extensionsv1alpha1.DNSRecord{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: map[string]string{v1beta1constants.GardenRole: gardenRole, v1beta1constants.LabelRole: role}},
			Spec: extensionsv1alpha1.DNSRecordSpec{
				DefaultSpec: extensionsv1alpha1.DefaultSpec{Type: "example-net"}, Name: name + ".example.org", RecordType: extensionsv1alpha1.DNSRecordTypeA, Values: values,
			},
		}))
	}
	shoot := &gardencorev1beta1.Shoot{}
	none, err := readAPIServer(t.Context(), server.Client, namespace, shoot)
	require.NoError(t, err)
	assert.Empty(t, none, "there is no DNS yet")

	record("internal", v1beta1constants.GardenRoleControlPlane, v1beta1constants.LabelDNSRecordInternal, "192.0.2.2", "2001:db8::1")
	read, err := readAPIServer(t.Context(), server.Client, namespace, shoot)
	require.NoError(t, err)
	assert.Equal(t, "internal.example.org", read.host, "the DNSRecord tells the name before the shoot's status does")

	record("external", v1beta1constants.GardenRoleControlPlane, v1beta1constants.LabelDNSRecordExternal, "192.0.2.2", "192.0.2.1")
	record("ingress", v1beta1constants.GardenRoleControlPlane, v1beta1constants.LabelDNSRecordIngress, "192.0.2.9")
	record("other", v1beta1constants.GardenRoleSystemComponent, v1beta1constants.LabelDNSRecordExternal, "192.0.2.8")
	record("elsewhere", v1beta1constants.GardenRoleControlPlane, v1beta1constants.LabelDNSRecordExternal, "lb.example.org")
	shoot.Status.AdvertisedAddresses = []gardencorev1beta1.ShootAdvertisedAddress{{Name: "unmanaged", URL: "https://192.0.2.3"}}
	found, err := readAPIServer(t.Context(), server.Client, namespace, shoot)
	require.NoError(t, err)
	assert.Equal(t, []netip.Addr{
		netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("192.0.2.2"), netip.MustParseAddr("192.0.2.3"), netip.MustParseAddr("2001:db8::1"),
	}, found.addresses, "each once, in one order, and only those of the kube-apiserver")
}

func TestKubeProxyOf(t *testing.T) {
	iptables, nftables := gardencorev1beta1.ProxyModeIPTables, gardencorev1beta1.ProxyMode("NFTables")
	for sentence, test := range map[string]struct {
		config *gardencorev1beta1.KubeProxyConfig
		want   KubeProxy
	}{
		"enabled by default":        {want: KubeProxy{Enabled: true, Mode: iptables}},
		"enabled by an empty block": {config: &gardencorev1beta1.KubeProxyConfig{}, want: KubeProxy{Enabled: true, Mode: iptables}},
		"enabled with a mode":       {config: &gardencorev1beta1.KubeProxyConfig{Enabled: new(true), Mode: &nftables}, want: KubeProxy{Enabled: true, Mode: nftables}},
		"disabled":                  {config: &gardencorev1beta1.KubeProxyConfig{Enabled: new(false)}, want: KubeProxy{Mode: iptables}},
	} {
		t.Run(sentence, func(t *testing.T) {
			shoot := &gardencorev1beta1.Shoot{}
			shoot.Spec.Kubernetes.KubeProxy = test.config
			assert.Equal(t, test.want, kubeProxyOf(shoot))
		})
	}
}

func TestReadShoot(t *testing.T) {
	server := APIServer().Get(t)
	namespace, err := server.NewNamespace(t.Context())
	require.NoError(t, err)
	object := &extensionsv1alpha1.Network{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "one"}}
	shoot := &gardencorev1beta1.Shoot{}
	shoot.Spec.Provider.Type = "azure"
	shoot.Spec.Kubernetes.Version = "1.36.2"
	rec := &reconciliation{Object: object, Client: server.Client, Cluster: &contract.Cluster{ObjectMeta: metav1.ObjectMeta{Name: namespace}, Shoot: shoot}}

	read, err := readShoot(t.Context(), rec, images.Vector{})
	require.NoError(t, err)
	assert.Equal(t, 443, read.APIServerPort)
	assert.Equal(t, namespace, read.TechnicalID, "the namespace stands in for a technical ID that is not known yet")
	assert.False(t, read.Infrastructure.IPIP)
	assert.False(t, read.Hibernated)
	assert.NotSame(t, object, read.Network, "the driver has a copy")

	shoot.Status.TechnicalID = "shoot--dev--other"
	shoot.Spec.Hibernation = &gardencorev1beta1.Hibernation{Enabled: new(true)}
	read, err = readShoot(t.Context(), rec, images.Vector{})
	require.NoError(t, err)
	assert.Equal(t, "shoot--dev--other", read.TechnicalID)
	assert.True(t, read.Hibernated)

	shoot.DeletionTimestamp = new(metav1.Now())
	read, err = readShoot(t.Context(), rec, images.Vector{})
	require.NoError(t, err)
	assert.False(t, read.Hibernated, "a shoot wakes up to be deleted")

	rec.Cluster.Shoot = nil
	_, err = readShoot(t.Context(), rec, images.Vector{})
	assert.EqualError(t, err, fmt.Sprintf("the Cluster resource %q lacks its shoot", namespace))
}
