package garden

import (
	"slices"
	"testing"

	gardencorev1 "github.com/gardener/gardener/pkg/apis/core/v1"
	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/trellis-garden/trellis/e2e/internal/garden"
)

// Names of upstream's registrations, and of those of ours that replace them.
const (
	monolith       = "provider-openstack"
	upstreamCalico = "networking-calico"
)

func movedKinds() []string { return []string{"ControlPlane", "Infrastructure", "Worker"} }

// upstreamChart has the switches of upstream's charts, without their effect.
const upstreamChart = `apiVersion: v1
kind: ConfigMap
metadata:
  name: controllers
  namespace: {{ .Release.Namespace }}
data:
  disabled: {{ join "," .Values.disableControllers | quote }}
`

// testMonolith creates a common landscape: one extension serves all kinds of the cloud, another one the network.
func testMonolith(t *testing.T, env *environment) {
	chart, err := garden.PackChart("upstream", map[string]string{"configmap.yaml": upstreamChart})
	require.NoError(t, err)
	kinds := append([]string{"BackupBucket", "BackupEntry", "Bastion"}, movedKinds()...)
	require.NoError(t, env.Register(t.Context(), garden.Registration{Name: monolith, Chart: chart, Resources: append(
		garden.Primary("openstack", kinds...), garden.Primary("openstack-designate", "DNSRecord")...)}))
	require.NoError(t, env.Register(t.Context(), garden.Registration{Name: upstreamCalico, Chart: chart, Resources: garden.Primary("calico", "Network")}))
	require.NoError(t, env.Register(t.Context(), garden.Registration{
		Name: "os-gardenlinux", Resources: garden.Primary(garden.MachineImage, "OperatingSystemConfig"),
	}))
	_, err = env.AddSeed(t.Context(), "one", garden.SeedOptions{
		DNS: "openstack-designate", Backup: "openstack", Labels: map[string]string{"a": "label"},
	})
	require.NoError(t, err)
	_, err = env.StartGardenlet(t.Context(), "one", env.cluster.Config)
	require.NoError(t, err)
	_, err = env.CreateShoot(t.Context(), garden.ShootOptions{Name: "first", Seed: "one"})
	require.NoError(t, err)
	env.createExtensions(t)
	for _, name := range []string{monolith, upstreamCalico} {
		eventually(t, name+" is installed and in use", func() bool {
			return is(*env.installed(t, name), gardencorev1beta1.ControllerInstallationRequired, gardencorev1beta1.ConditionTrue)
		})
	}
}

// createExtensions creates gardenlet's extension objects of the shoot: while they exist, their controllers are needed.
func (env *environment) createExtensions(t *testing.T) {
	t.Helper()
	namespace := "shoot--dev--first"
	meta := metav1.ObjectMeta{Name: "first", Namespace: namespace}
	openstack, secret := extensionsv1alpha1.DefaultSpec{Type: "openstack"}, corev1.SecretReference{Name: "cloudprovider", Namespace: namespace}
	for _, object := range []client.Object{
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}},
		&extensionsv1alpha1.Infrastructure{ObjectMeta: meta, Spec: extensionsv1alpha1.InfrastructureSpec{
			DefaultSpec: openstack, Region: "RegionOne", SecretRef: secret,
		}},
		&extensionsv1alpha1.ControlPlane{ObjectMeta: meta, Spec: extensionsv1alpha1.ControlPlaneSpec{
			DefaultSpec: openstack, Region: "RegionOne", SecretRef: secret,
		}},
		&extensionsv1alpha1.Worker{ObjectMeta: meta, Spec: extensionsv1alpha1.WorkerSpec{
			DefaultSpec: openstack, Region: "RegionOne", SecretRef: secret, Pools: []extensionsv1alpha1.WorkerPool{},
		}},
		&extensionsv1alpha1.Network{ObjectMeta: meta, Spec: extensionsv1alpha1.NetworkSpec{
			DefaultSpec: extensionsv1alpha1.DefaultSpec{Type: "calico"}, PodCIDR: "100.96.0.0/11", ServiceCIDR: "100.64.0.0/13",
		}},
	} {
		require.NoError(t, env.cluster.Client.Create(t.Context(), object))
	}
}

// testMoved replaces the upstream extension in the order of docs/operations/migrate-from-upstream.md, which is the only one that Gardener permits.
func testMoved(t *testing.T, env *environment) {
	// Ours cannot be registered first, and not as secondaries either.
	for _, name := range trellisRegistrations(t) {
		objects := objectsOf(t, name, "rawchart")
		require.NoError(t, apply(t, env.Client, objects[0]))
		assert.ErrorContains(t, apply(t, env.Client, objects[1]), "another ControllerRegistration resource already exists")
	}
	assert.ErrorContains(t, change(t, env.Client, controllerRegistration(monolith), func(r *gardencorev1beta1.ControllerRegistration) {
		r.Spec.Resources[len(r.Spec.Resources)-1].Primary = new(false)
	}), "primary: Invalid value: false: field is immutable")

	// The switches must be applied in the seed first.
	for name, disabled := range map[string]string{monolith: `"controlplane","infrastructure","worker"`, upstreamCalico: `"network"`} {
		env.setValues(t, name, `{"disableControllers":[`+disabled+`]}`)
		eventually(t, name+" has its switches", func() bool { return env.disabled(t, name) != "" })
	}
	before := env.managedResource(t, env.installed(t, monolith))
	require.NoError(t, env.removeKinds(t, monolith, movedKinds()...))
	require.NoError(t, env.removeKinds(t, upstreamCalico, "Network"))
	testGap(t, env)

	for _, name := range trellisRegistrations(t) {
		for _, object := range objectsOf(t, name, "rawchart") {
			require.NoError(t, apply(t, env.Client, object))
		}
	}
	for _, name := range trellisRegistrations(t) {
		eventually(t, name+" is installed and in use", func() bool {
			return is(*env.installed(t, name), gardencorev1beta1.ControllerInstallationRequired, gardencorev1beta1.ConditionTrue)
		})
	}
	eventually(t, "what came up in the gap has reached the seed", func() bool { return env.image(t) == "new" })
	eventually(t, "an extension that serves nothing has gone by itself", func() bool { return len(env.installations(t, upstreamCalico)) == 0 })
	require.NoError(t, env.Client.Delete(t.Context(), controllerRegistration(upstreamCalico)))
	eventually(t, "and so may its registration", func() bool { return !exists(t, env.Client, controllerRegistration(upstreamCalico)) })
	after := env.managedResource(t, env.installed(t, monolith))
	assert.Equal(t, before.UID, after.UID)
	assert.Equal(t, before.Spec.SecretRefs, after.Spec.SecretRefs, "the monolith's pods do not roll when kinds are taken out")
	for _, id := range env.required(t, "one") {
		assert.Len(t, env.serving(t, id), 1, id)
	}
}

// testGap checks the state while needed kinds have no controller: nothing changes on the seed.
func testGap(t *testing.T, env *environment) {
	env.setValues(t, "os-gardenlinux", `{"image":"new"}`)
	_, err := env.CreateShoot(t.Context(), garden.ShootOptions{Name: "second", Seed: "one"})
	assert.ErrorContains(t, err, "given Shoot uses non-registered provider type")
	assert.NotEqual(t, "new", env.image(t), "a change of anybody's chart waits, and has waited as long as the shoot was tried")
	for _, name := range []string{monolith, upstreamCalico, "os-gardenlinux"} {
		env.installed(t, name)
	}
}

// addKind gives a kind back to the upstream extension.
func (env *environment) addKind(t *testing.T, kind string) error {
	t.Helper()
	return change(t, env.Client, controllerRegistration(monolith), func(r *gardencorev1beta1.ControllerRegistration) {
		r.Spec.Resources = append(r.Spec.Resources, garden.Primary("openstack", kind)...)
	})
}

func (env *environment) removeKinds(t *testing.T, name string, kinds ...string) error {
	t.Helper()
	return change(t, env.Client, controllerRegistration(name), func(r *gardencorev1beta1.ControllerRegistration) {
		r.Spec.Resources = slices.DeleteFunc(r.Spec.Resources, func(resource gardencorev1beta1.ControllerResource) bool {
			return slices.Contains(kinds, resource.Kind)
		})
	})
}

func (env *environment) setValues(t *testing.T, name, values string) {
	t.Helper()
	require.NoError(t, change(t, env.Client, deployment(name), func(d *gardencorev1.ControllerDeployment) {
		d.Helm.Values = &apiextensionsv1.JSON{Raw: []byte(values)}
	}))
}

// serving returns the names of the registrations with a kind and type.
func (env *environment) serving(t *testing.T, id string) []string {
	t.Helper()
	list := &gardencorev1beta1.ControllerRegistrationList{}
	require.NoError(t, env.Client.List(t.Context(), list))
	var names []string
	for _, registration := range list.Items {
		for _, resource := range registration.Spec.Resources {
			if resource.Kind+"/"+resource.Type == id {
				names = append(names, registration.Name)
			}
		}
	}
	return names
}

// disabled returns what is disabled in an upstream extension's values on the seed.
func (env *environment) disabled(t *testing.T, name string) string {
	t.Helper()
	return env.configMap(t, name, "controllers")["disabled"]
}

// image returns the image of the operating system extension on the seed.
func (env *environment) image(t *testing.T) string {
	t.Helper()
	return env.configMap(t, "os-gardenlinux", "os-gardenlinux")["image"]
}

func (env *environment) configMap(t *testing.T, registration, name string) map[string]string {
	t.Helper()
	object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: namespaceOf(env.installed(t, registration)).Name}}
	require.True(t, exists(t, env.cluster.Client, object))
	return object.Data
}
