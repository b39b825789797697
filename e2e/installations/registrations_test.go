package installations

import (
	"encoding/json"
	"testing"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	installationv1alpha1 "github.com/trellis-garden/trellis/apis/installation/v1alpha1"
	"github.com/trellis-garden/trellis/charts"
	"github.com/trellis-garden/trellis/e2e/internal/garden"
)

const (
	// pullSecret and bundleSecret are the registry's credentials and CA: in the namespace garden for the operator there, in that of its seed for the
	// other one.
	pullSecret, bundleSecret = "registry-credentials", "registry-authority"
	version                  = "v0.0.0-dev"
)

// needed is a registration that shoots need, and that the operator serves.
type needed struct {
	name, chart, kind, typ string
	older, oci, inject     bool
}

// trellis are our own controllers. Together they use each way to register for the operator.
func trellis() []needed {
	return []needed{
		{name: "infrastructure", chart: "infrastructure-controller", kind: "Infrastructure", typ: "openstack", older: true},
		{name: "controlplane", chart: "controlplane-controller", kind: "ControlPlane", typ: "openstack"},
		{name: "worker", chart: "worker-controller", kind: "Worker", typ: "openstack", oci: true},
		{name: "network", chart: "network-controller", kind: "Network", typ: "calico", older: true, oci: true, inject: true},
	}
}

// others are the other kinds that shoots and seeds need. They are gardenlet's.
func others() []garden.Registration {
	return []garden.Registration{
		{Name: "provider-local", Resources: garden.Primary("local", "Infrastructure", "ControlPlane", "Worker")},
		{Name: "dns", Resources: garden.Primary(garden.DNS, "DNSRecord")},
		{Name: "os-gardenlinux", Resources: garden.Primary(garden.MachineImage, "OperatingSystemConfig")},
	}
}

// registration is a registration for the operator.
func (n needed) registration(t *testing.T, env *environment) garden.Registration {
	t.Helper()
	r := n.helm(t)
	config := newConfig()
	config.Values = rawOf(t, r.Values)
	if n.oci {
		digest, err := env.registry.Push("charts/"+n.chart, version, r.Chart)
		require.NoError(t, err)
		config.OCIRepository = &installationv1alpha1.OCIRepository{
			Repository:        env.registry.Address() + "/charts/" + n.chart,
			Digest:            digest,
			PullSecretRef:     &corev1.LocalObjectReference{Name: pullSecret},
			CABundleSecretRef: &corev1.LocalObjectReference{Name: bundleSecret},
		}
	} else {
		config.Chart = r.Chart
	}
	r.Custom = custom(t, config)
	r.Custom.Older = n.older
	return r
}

// helm is the same registration for gardenlet.
func (n needed) helm(t *testing.T) garden.Registration {
	t.Helper()
	archive, err := charts.Archive(n.chart, version)
	require.NoError(t, err)
	return garden.Registration{
		Name: n.name, Resources: garden.Primary(n.typ, n.kind), Chart: archive,
		Values:                 map[string]any{"types": []string{n.typ}},
		Annotations:            map[string]string{"security.gardener.cloud/pod-security-enforce": "restricted"},
		InjectGardenKubeconfig: n.inject,
	}
}

func newConfig() *installationv1alpha1.ControllerDeploymentConfig {
	return installationv1alpha1.NewControllerDeploymentConfig()
}

// custom makes a configuration the operator's.
func custom(t *testing.T, config *installationv1alpha1.ControllerDeploymentConfig) *garden.Custom {
	t.Helper()
	encoded, err := installationv1alpha1.Encode(config)
	require.NoError(t, err)
	return &garden.Custom{Type: installationv1alpha1.DeploymentType, Config: encoded.Raw}
}

func rawOf(t *testing.T, values map[string]any) *runtime.RawExtension {
	t.Helper()
	if values == nil {
		return nil
	}
	raw, err := json.Marshal(values)
	require.NoError(t, err)
	return &runtime.RawExtension{Raw: raw}
}

// everywhere is a registration without resources that is installed on all seeds with a label, whether or not they need it.
func everywhere(name, label string) garden.Registration {
	return garden.Registration{
		Name: name, Policy: gardencorev1beta1.ControllerDeploymentPolicyAlways,
		SeedSelector: &metav1.LabelSelector{MatchLabels: map[string]string{label: "true"}},
	}
}

// Labels of Seeds, each for a registration of one part.
const (
	forEqual, forBroken, forDrift, forWithoutGardenlet, forManaged, forMovedWithoutOperator = "for-equal", "for-broken", "for-drift", "for-alone", "for-managed", "for-moved-alone"
)

func labelled(labels ...string) map[string]string {
	set := map[string]string{}
	for _, label := range labels {
		set[label] = "true"
	}
	return set
}

// registrySecrets are the Secrets for the environment's registry.
func (env *environment) registrySecrets(namespace string) []client.Object {
	return []client.Object{
		&corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Name: pullSecret, Namespace: namespace}, Type: corev1.SecretTypeDockerConfigJson,
			Data: map[string][]byte{corev1.DockerConfigJsonKey: env.registry.DockerConfig()},
		},
		&corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Name: bundleSecret, Namespace: namespace},
			Data:       map[string][]byte{"bundle.crt": env.registry.CABundle()},
		},
	}
}
