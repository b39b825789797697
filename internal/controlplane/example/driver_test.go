package example

import (
	"slices"
	"testing"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/trellis-garden/trellis/internal/contract"
	"github.com/trellis-garden/trellis/internal/controlplane"
	"github.com/trellis-garden/trellis/internal/controlplane/component"
	"github.com/trellis-garden/trellis/internal/controlplane/csi"
	"github.com/trellis-garden/trellis/internal/controlplane/tuning"
	"github.com/trellis-garden/trellis/internal/golden"
)

// document returns a document of the example provider's API.
func document(kind, fields string) *runtime.RawExtension {
	return &runtime.RawExtension{Raw: []byte(`{"apiVersion":"example.org/v1alpha1","kind":"` + kind + `"` + fields + `}`)}
}

// exampleShoot returns a shoot with all that the driver reads.
func exampleShoot() *controlplane.Shoot {
	profile := &gardencorev1beta1.CloudProfile{}
	profile.Spec.ProviderConfig = document("CloudProfileConfig", `,"url":"https://cloud.example.org"`)
	return &controlplane.Shoot{
		ControlPlane: &extensionsv1alpha1.ControlPlane{
			ObjectMeta: metav1.ObjectMeta{Namespace: "shoot--dev--one"},
			Spec: extensionsv1alpha1.ControlPlaneSpec{
				DefaultSpec:                  extensionsv1alpha1.DefaultSpec{ProviderConfig: document("ControlPlaneConfig", "")},
				Region:                       "one",
				InfrastructureProviderStatus: document("InfrastructureStatus", `,"network":"network-1"`),
			},
		},
		Cluster:     &contract.Cluster{Shoot: &gardencorev1beta1.Shoot{}, CloudProfile: profile},
		Credentials: map[string][]byte{"key": []byte(`"quoted"`)},
	}
}

func planOf(t *testing.T, shoot *controlplane.Shoot) *controlplane.Plan {
	t.Helper()
	require.Empty(t, New().Validate(shoot))
	plan, err := New().Plan(shoot)
	require.NoError(t, err)
	return plan
}

// seedObjects renders all components of a plan as the contract does.
func seedObjects(t *testing.T, plan *controlplane.Plan, image func(string) (string, error)) []client.Object {
	t.Helper()
	components := slices.Concat(plan.Components, []component.Component{csi.SnapshotController()})
	for _, driver := range plan.CSIDrivers {
		components = append(components, driver.Component())
	}
	var objects []client.Object
	for _, each := range components {
		rendered, err := component.Objects(each, component.Values{
			Namespace: "shoot--dev--one", GenericKubeconfig: "generic-token-kubeconfig-0a1b2c3d", Image: image,
			Secrets: map[string]string{
				cloudConfigName: "cloud-config-1a2b3c4d", ccmCertificate: "cloud-controller-manager-server-2b3c4d5e",
				component.CABundleOf(ccmCertificate): "ca-provider-example-controlplane-bundle-3c4d5e6f",
			},
		})
		require.NoError(t, err)
		objects = append(objects, rendered...)
	}
	return objects
}

func TestDriver_Plan(t *testing.T) {
	folder := golden.Open(t, "testdata/plan")
	images, err := controlplane.ReadImages(ImageVector())
	require.NoError(t, err)
	plan := planOf(t, exampleShoot())
	seed, shoot := map[string]string{}, map[string]string{}
	for _, minor := range []string{"1.32", "1.36"} {
		image := controlplane.ImagesFor(images, minor+".3")
		seed[minor] = golden.Manifest(t, seedObjects(t, plan, image))
		rendered, err := csi.ShootObjects(plan.CSIDrivers, csi.Shoot{Image: image, VerticalPodAutoscaler: true})
		require.NoError(t, err)
		shoot[minor] = golden.Manifest(t, slices.Concat(plan.ShootObjects, rendered))
	}
	folder.Check(t, "1.36-seed.yaml", seed["1.36"])
	folder.CheckDiff(t, "1.32-seed.diff", "1.36-seed.yaml", seed["1.32"])
	folder.Check(t, "shoot.yaml", shoot["1.36"])
	assert.Equal(t, shoot["1.36"], shoot["1.32"], "the node's images do not depend on the version of Kubernetes")
	folder.Check(t, "classes.yaml", golden.Manifest(t, csi.Classes(plan.StorageClasses, plan.SnapshotClasses)))
}

func TestDriver_CloudConfig(t *testing.T) {
	config := planOf(t, exampleShoot()).Configs[0]
	assert.JSONEq(t, `{"url":"https://cloud.example.org","key":"\"quoted\"","region":"one","network":"network-1","cluster":"shoot--dev--one"}`,
		string(config.Files[cloudConfigFile]))
}

func TestDriver_Invalid(t *testing.T) {
	for sentence, test := range map[string]struct {
		change func(*controlplane.Shoot)
		want   string
	}{
		"an unknown field": {
			func(shoot *controlplane.Shoot) {
				shoot.ControlPlane.Spec.ProviderConfig = document("ControlPlaneConfig", `,"zone":"a"`)
			},
			`spec.providerConfig: Invalid value: decoding ControlPlaneConfig: unknown field "zone": correct the name or remove the field`,
		},
		"no key": {
			func(shoot *controlplane.Shoot) { shoot.Credentials = nil },
			"spec.secretRef: Invalid value: ",
		},
		"a cloud profile of another cloud": {
			func(shoot *controlplane.Shoot) {
				shoot.Cluster.CloudProfile.Spec.ProviderConfig = document("Other", "")
			},
			"cloudProfile.spec.providerConfig: Invalid value: decoding CloudProfileConfig",
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			shoot := exampleShoot()
			test.change(shoot)
			errs := New().Validate(shoot)
			require.Len(t, errs, 1)
			assert.ErrorContains(t, errs[0], test.want)
			_, err := New().Plan(shoot)
			assert.Error(t, err)
		})
	}
}

func TestDriver_IncompleteInfrastructureStatus(t *testing.T) {
	for sentence, status := range map[string]*runtime.RawExtension{
		"missing": nil, "without a network": document("InfrastructureStatus", ""), "that cannot be decoded": document("Other", ""),
	} {
		t.Run(sentence, func(t *testing.T) {
			shoot := exampleShoot()
			shoot.ControlPlane.Spec.InfrastructureProviderStatus = status
			assert.Empty(t, New().Validate(shoot), "users cannot correct it")
			_, err := New().Plan(shoot)
			assert.ErrorIs(t, err, controlplane.ErrInfrastructureIncomplete)
		})
	}
}

func TestDriver_Tune(t *testing.T) {
	external := map[string]string{"--cloud-provider": "external"}
	tuned, err := New().Tune(&controlplane.TuneRequest{Scope: tuning.ControlPlane})
	require.NoError(t, err)
	assert.Equal(t, &tuning.Tuning{KubeControllerManager: tuning.Pod{SetFlags: external}}, tuned)
	tuned, err = New().Tune(&controlplane.TuneRequest{Scope: tuning.Nodes})
	require.NoError(t, err)
	assert.Equal(t, &tuning.Tuning{Kubelet: tuning.Kubelet{SetFlags: external}}, tuned)
}

func TestDriver_CompleteCredentials(t *testing.T) {
	cluster := exampleShoot().Cluster
	secret := &corev1.Secret{Data: map[string][]byte{"key": []byte("k"), "url": []byte("https://elsewhere.example.org")}}
	require.NoError(t, New().CompleteCredentials(secret, cluster))
	assert.Equal(t, map[string][]byte{"key": []byte("k"), "url": []byte("https://cloud.example.org")}, secret.Data)

	cluster.CloudProfile.Spec.ProviderConfig = nil
	require.NoError(t, New().CompleteCredentials(secret, cluster))
	assert.Equal(t, map[string][]byte{"key": []byte("k")}, secret.Data)
}
