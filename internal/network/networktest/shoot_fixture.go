package networktest

import (
	"encoding/json"
	"fmt"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/trellis-garden/trellis/internal/contract/contracttest"
)

const (
	// technicalID differs from every namespace, so that a driver that confuses them fails.
	technicalID = "shoot--suite--one"
	name        = "one"
	apiServer   = "api.one.suite.example.org"
	// kubernetesVersion is one with which nodes report routes.
	kubernetesVersion = "1.36.2"
)

// shootFixture creates what Gardener puts into a shoot's namespace before it requests a Network.
type shootFixture struct {
	networkType, namespace string
	// shootAddress is the address of the shoot's kube-apiserver.
	shootAddress string
}

// shoot returns the shoot as the configuration and the changes make it.
func (g shootFixture) shoot(configuration Configuration, changes ...func(*gardencorev1beta1.Shoot)) (*gardencorev1beta1.Shoot, error) {
	shoot := contracttest.Fixture{ProviderType: configuration.infrastructure(), TechnicalID: technicalID, UID: "5f0c9a52-3c1e-4f6b-9d39-8a1f6f1f7a11"}.Shoot()
	config, err := encode(configuration.ProviderConfig)
	if err != nil {
		return nil, err
	}
	shoot.Spec.Kubernetes.Version = kubernetesVersion
	shoot.Spec.Networking.Type = &g.networkType
	shoot.Spec.Networking.ProviderConfig = config
	shoot.Spec.Networking.IPFamilies = nil
	ranges := &gardencorev1beta1.NetworkingStatus{}
	for _, family := range configuration.families() {
		shoot.Spec.Networking.IPFamilies = append(shoot.Spec.Networking.IPFamilies, gardencorev1beta1.IPFamily(family))
		pods, services, nodes := rangesOf(family)
		ranges.Pods, ranges.Services, ranges.Nodes = append(ranges.Pods, pods), append(ranges.Services, services), append(ranges.Nodes, nodes)
	}
	shoot.Spec.Networking.Pods, shoot.Spec.Networking.Services, shoot.Spec.Networking.Nodes = &ranges.Pods[0], &ranges.Services[0], &ranges.Nodes[0]
	shoot.Status.Networking = ranges
	shoot.Status.AdvertisedAddresses = []gardencorev1beta1.ShootAdvertisedAddress{
		{Name: v1beta1constants.AdvertisedAddressExternal, URL: "https://" + apiServer},
	}
	if configuration.Change != nil {
		configuration.Change(shoot)
	}
	for _, change := range changes {
		change(shoot)
	}
	return shoot, nil
}

func rangesOf(family extensionsv1alpha1.IPFamily) (pods, services, nodes string) {
	if family == extensionsv1alpha1.IPFamilyIPv6 {
		return "2001:db8:1::/56", "2001:db8:2::/112", "2001:db8:3::/64"
	}
	return "100.96.0.0/11", "100.64.0.0/13", "10.250.0.0/16"
}

func (g shootFixture) cluster(shoot *gardencorev1beta1.Shoot) (*extensionsv1alpha1.Cluster, error) {
	fixture := contracttest.Fixture{ProviderType: shoot.Spec.Provider.Type}
	return contracttest.NewCluster(g.namespace, shoot, fixture.CloudProfile(), fixture.Seed())
}

// objects returns the objects that exist before the Network.
func (g shootFixture) objects(shoot *gardencorev1beta1.Shoot) ([]client.Object, error) {
	cluster, err := g.cluster(shoot)
	if err != nil {
		return nil, err
	}
	access, err := g.access()
	return []client.Object{cluster, access}, err
}

// access returns the Secrets with which extensions access the shoot.
func (g shootFixture) access() (*corev1.Secret, error) {
	config := clientcmdapi.NewConfig()
	config.Clusters["shoot"] = &clientcmdapi.Cluster{Server: g.shootAddress}
	config.AuthInfos["gardener"] = &clientcmdapi.AuthInfo{}
	config.Contexts["shoot"] = &clientcmdapi.Context{Cluster: "shoot", AuthInfo: "gardener"}
	config.CurrentContext = "shoot"
	kubeconfig, err := clientcmd.Write(*config)
	if err != nil {
		return nil, fmt.Errorf("writing the kubeconfig of the shoot: %w", err)
	}
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: g.namespace, Name: v1beta1constants.SecretNameGardenerInternal},
		Data:       map[string][]byte{"kubeconfig": kubeconfig},
	}, nil
}

// network returns the object that gardenlet creates.
func (g shootFixture) network(shoot *gardencorev1beta1.Shoot) *extensionsv1alpha1.Network {
	object := &extensionsv1alpha1.Network{ObjectMeta: metav1.ObjectMeta{Namespace: g.namespace, Name: name}}
	networking := shoot.Spec.Networking
	object.Spec = extensionsv1alpha1.NetworkSpec{
		DefaultSpec: extensionsv1alpha1.DefaultSpec{Type: g.networkType, ProviderConfig: networking.ProviderConfig},
		PodCIDR:     *networking.Pods,
		ServiceCIDR: *networking.Services,
	}
	for _, family := range networking.IPFamilies {
		object.Spec.IPFamilies = append(object.Spec.IPFamilies, extensionsv1alpha1.IPFamily(family))
	}
	return object
}

func encode(config runtime.Object) (*runtime.RawExtension, error) {
	if config == nil {
		return nil, nil
	}
	raw, err := json.Marshal(config)
	if err != nil {
		return nil, fmt.Errorf("encoding %T: %w", config, err)
	}
	return &runtime.RawExtension{Raw: raw}, nil
}
