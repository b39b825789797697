package components

import (
	"context"
	"fmt"
	"net"
	"time"

	"github.com/Masterminds/semver/v3"
	gardenerimages "github.com/gardener/gardener/imagevector"
	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"github.com/gardener/gardener/pkg/client/kubernetes"
	fakekubernetes "github.com/gardener/gardener/pkg/client/kubernetes/fake"
	genericapiserver "github.com/gardener/gardener/pkg/component/apiserver"
	"github.com/gardener/gardener/pkg/component/extensions/operatingsystemconfig"
	"github.com/gardener/gardener/pkg/component/kubernetes/apiserver"
	"github.com/gardener/gardener/pkg/component/kubernetes/controllermanager"
	gardenletfeatures "github.com/gardener/gardener/pkg/gardenlet/features"
	"github.com/gardener/gardener/pkg/utils/imagevector"
	"github.com/go-logr/logr"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
)

// Namespace is the shoot's namespace.
const Namespace = "shoot--dev--tuned"

// Component is the output of one of Gardener's components.
type Component struct {
	// Name is unique, and valid as the name of a file.
	Name   string
	Object client.Object
}

// Render renders the components of a shoot with a version of Kubernetes, e.g. "1.36.3".
func Render(ctx context.Context, version string) ([]Component, error) {
	seed := fake.NewClientBuilder().WithScheme(kubernetes.SeedScheme).
		WithObjectTracker(testing.NewObjectTracker(kubernetes.SeedScheme, kubernetes.SeedCodec.UniversalDecoder())).Build()
	if err := Deploy(ctx, seed, Namespace, version); err != nil {
		return nil, err
	}
	return collect(ctx, seed)
}

// Deploy deploys the components of a shoot with a version of Kubernetes into its namespace, as gardenlet does in each reconciliation of the shoot.
// The Secrets that they refer to are not created.
func Deploy(ctx context.Context, seed client.Client, namespace, version string) error {
	d, err := newDeployer(seed, namespace, version)
	if err != nil {
		return err
	}
	for _, deploy := range []func(context.Context) error{d.kubeAPIServer, d.kubeControllerManager, d.operatingSystemConfigs} {
		if err := deploy(ctx); err != nil {
			return err
		}
	}
	return nil
}

type deployer struct {
	seed      client.Client
	namespace string
	version   *semver.Version
}

func newDeployer(seed client.Client, namespace, version string) (*deployer, error) {
	target, err := semver.NewVersion(version)
	if err != nil {
		return nil, fmt.Errorf("parsing version %q: %w", version, err)
	}
	gardenletfeatures.RegisterFeatureGates() // components ask for them; a second time does nothing
	return &deployer{seed: seed, namespace: namespace, version: target}, nil
}

// runtime is the seed's version.
func (d *deployer) runtime() *semver.Version { return semver.MustParse("1.34.0") }

func (d *deployer) clients() kubernetes.Interface {
	return fakekubernetes.NewClientSetBuilder().WithClient(d.seed).WithAPIReader(d.seed).Build()
}

func (d *deployer) kubeAPIServer(ctx context.Context) error {
	image, err := d.image(gardenerimages.ContainerImageNameKubeApiserver)
	if err != nil {
		return err
	}
	vpnClient, err := d.image(gardenerimages.ContainerImageNameVpnClient)
	if err != nil {
		return err
	}
	proxy, err := d.image(gardenerimages.ContainerImageNameEnvoyProxy)
	if err != nil {
		return err
	}
	server := apiserver.New(d.clients(), d.namespace, secrets{d.namespace}, apiserver.Values{
		Values: genericapiserver.Values{
			EnabledAdmissionPlugins: []genericapiserver.AdmissionPluginConfig{
				{AdmissionPlugin: gardencorev1beta1.AdmissionPlugin{Name: "NodeRestriction"}},
			},
			RuntimeVersion: d.runtime(),
		},
		APIAudiences: []string{"kubernetes", "gardener"},
		Autoscaling: apiserver.AutoscalingConfig{
			APIServerResources: corev1.ResourceRequirements{Requests: corev1.ResourceList{
				corev1.ResourceCPU: resource.MustParse("250m"), corev1.ResourceMemory: resource.MustParse("500Mi"),
			}},
			Replicas: new(int32(2)), MinReplicas: 2, MaxReplicas: 6,
		},
		ExternalHostname:    "api.tuned.dev.example.com",
		Images:              apiserver.Images{KubeAPIServer: image, VPNClient: vpnClient, EnvoyProxy: proxy},
		PriorityClassName:   v1beta1constants.PriorityClassNameShootControlPlane500,
		ServiceAccount:      apiserver.ServiceAccountConfig{Issuer: "https://api.tuned.dev.example.com"},
		ServiceNetworkCIDRs: ranges("100.104.0.0/13"),
		SNI:                 apiserver.SNIConfig{Enabled: true, AdvertiseAddress: "10.2.170.21"},
		Version:             d.version,
		VPN: apiserver.VPNConfig{
			Enabled: true, IPFamilies: []gardencorev1beta1.IPFamily{gardencorev1beta1.IPFamilyIPv4},
			NodeNetworkCIDRs: ranges("10.250.0.0/16"), PodNetworkCIDRs: ranges("100.64.0.0/12"),
		},
	})
	if err := server.Deploy(ctx); err != nil {
		return fmt.Errorf("deploying kube-apiserver: %w", err)
	}
	return nil
}

func (d *deployer) kubeControllerManager(ctx context.Context) error {
	image, err := d.image(gardenerimages.ContainerImageNameKubeControllerManager)
	if err != nil {
		return err
	}
	manager := controllermanager.New(logr.Discard(), d.clients(), d.namespace, secrets{d.namespace}, controllermanager.Values{
		RuntimeVersion:    d.runtime(),
		TargetVersion:     d.version,
		Image:             image,
		Replicas:          1,
		PriorityClassName: v1beta1constants.PriorityClassNameShootControlPlane300,
		Config:            &gardencorev1beta1.KubeControllerManagerConfig{NodeCIDRMaskSize: new(int32(24))},
		PodNetworks:       ranges("100.64.0.0/12"),
		ServiceNetworks:   ranges("100.104.0.0/13"),
	})
	if err := manager.Deploy(ctx); err != nil {
		return fmt.Errorf("deploying kube-controller-manager: %w", err)
	}
	return nil
}

func (d *deployer) image(name string) (string, error) {
	image, err := gardenerimages.Containers().FindImage(name,
		imagevector.RuntimeVersion(d.runtime().String()), imagevector.TargetVersion(d.version.String()))
	if err != nil {
		return "", fmt.Errorf("finding the image of %s: %w", name, err)
	}
	return image.String(), nil
}

// operatingSystemConfigs deploys one for each purpose, for one pool.
func (d *deployer) operatingSystemConfigs(ctx context.Context) error {
	names := []string{
		gardenerimages.ContainerImageNamePauseContainer, gardenerimages.ContainerImageNameValitail,
		gardenerimages.ContainerImageNameOpentelemetryCollector,
	}
	images, err := imagevector.FindImages(gardenerimages.Containers(), names,
		imagevector.RuntimeVersion(d.version.String()), imagevector.TargetVersion(d.version.String()))
	if err != nil {
		return fmt.Errorf("finding images: %w", err)
	}
	agent, err := gardenerimages.Containers().FindImage(gardenerimages.ContainerImageNameGardenerNodeAgent)
	if err != nil {
		return fmt.Errorf("finding the image of gardener-node-agent: %w", err)
	}
	agent.WithOptionalTag("v1.149.3")
	images[gardenerimages.ContainerImageNameGardenerNodeAgent] = agent
	configs := operatingsystemconfig.New(logr.Discard(), d.seed, secrets{d.namespace}, &operatingsystemconfig.Values{
		Namespace:         d.namespace,
		KubernetesVersion: d.version,
		Workers: []gardencorev1beta1.Worker{{
			Name: "pool",
			Machine: gardencorev1beta1.Machine{
				Type: "m1.large", Image: &gardencorev1beta1.ShootMachineImage{Name: "gardenlinux", Version: new("1877.5.0")},
			},
			CRI: &gardencorev1beta1.CRI{Name: gardencorev1beta1.CRINameContainerD},
		}},
		InitValues: operatingsystemconfig.InitValues{APIServerURL: "https://api.tuned.dev.example.com"},
		OriginalValues: operatingsystemconfig.OriginalValues{
			CABundle:               "a bundle of certificates",
			ClusterDNSAddresses:    []string{"100.104.0.10"},
			ClusterDomain:          gardencorev1beta1.DefaultDomain,
			Images:                 images,
			KubeletConfig:          &gardencorev1beta1.KubeletConfig{},
			KubeProxyEnabled:       true,
			SSHPublicKeys:          []string{"ssh-rsa AAAA"},
			SSHAccessEnabled:       true,
			NodeMonitorGracePeriod: metav1.Duration{Duration: 40 * time.Second},
			PrimaryIPFamily:        gardencorev1beta1.IPFamilyIPv4,
		},
	}, time.Second, time.Second, time.Second)
	if err := configs.Deploy(ctx); err != nil {
		return fmt.Errorf("deploying operating system configurations: %w", err)
	}
	return nil
}

// collect reads the deployed objects, without fields that differ between two deployments.
func collect(ctx context.Context, seed client.Client) ([]Component, error) {
	var components []Component
	for _, name := range []string{v1beta1constants.DeploymentNameKubeAPIServer, v1beta1constants.DeploymentNameKubeControllerManager} {
		deployment := &appsv1.Deployment{}
		if err := seed.Get(ctx, client.ObjectKey{Namespace: Namespace, Name: name}, deployment); err != nil {
			return nil, fmt.Errorf("reading Deployment %s: %w", name, err)
		}
		components = append(components, Component{Name: name, Object: deployment})
	}
	configs := &extensionsv1alpha1.OperatingSystemConfigList{}
	if err := seed.List(ctx, configs, client.InNamespace(Namespace)); err != nil {
		return nil, fmt.Errorf("listing operating system configurations: %w", err)
	}
	for i := range configs.Items {
		config := &configs.Items[i]
		config.Annotations[v1beta1constants.GardenerTimestamp] = "2026-01-01T00:00:00Z"
		components = append(components, Component{Name: "osc-" + string(config.Spec.Purpose), Object: config})
	}
	for _, component := range components {
		kind, err := apiutil.GVKForObject(component.Object, seed.Scheme())
		if err != nil {
			return nil, err
		}
		component.Object.GetObjectKind().SetGroupVersionKind(kind)
		component.Object.SetResourceVersion("")
	}
	return components, nil
}

func ranges(texts ...string) []net.IPNet {
	nets := make([]net.IPNet, 0, len(texts))
	for _, text := range texts {
		if _, ipNet, err := net.ParseCIDR(text); err == nil {
			nets = append(nets, *ipNet)
		}
	}
	return nets
}
