package csi_test

import (
	"errors"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	storagev1 "k8s.io/api/storage/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/trellis-garden/trellis/internal/controlplane/component"
	"github.com/trellis-garden/trellis/internal/controlplane/csi"
	"github.com/trellis-garden/trellis/internal/golden"
)

// checkGolden compares objects with a file in testdata.
func checkGolden(t *testing.T, name string, objects []client.Object) {
	t.Helper()
	golden.Check(t, filepath.Join("testdata", name), golden.Manifest(t, objects))
}

// exampleDriver is a storage driver that has everything a driver can have.
func exampleDriver() csi.Driver {
	return csi.Driver{
		Name: "example.csi.example.org",
		Spec: storagev1.CSIDriverSpec{AttachRequired: new(true), PodInfoOnMount: new(false)},
		Controller: csi.Controller{
			Name: "example-controller", Selector: map[string]string{"app": "example", "role": "controller"}, ContainerPrefix: "example-", User: 65532,
			Plugin: component.Container{
				Name: "example-driver", Image: "example-image", Args: []string{"--endpoint=$(CSI_ENDPOINT)"},
				Env:   []corev1.EnvVar{{Name: "COLOR", Value: "red"}},
				Files: []component.Files{{Source: "example-config", Path: "/etc/example"}},
			},
			Extra: []component.Container{{Name: "example-extra", Image: "extra-image"}},
			Sidecars: csi.Sidecars{
				Provisioner: &csi.Sidecar{ShootAccess: "csi-provisioner", Args: []string{"--feature-gates=Topology=true"}},
				Attacher:    &csi.Sidecar{ShootAccess: "csi-attacher"},
				Snapshotter: &csi.Sidecar{ShootAccess: "csi-snapshotter"},
				Resizer:     &csi.Sidecar{ShootAccess: "csi-resizer"},
			},
			Egress: []component.Destination{component.PublicNetworks},
		},
		Node: csi.Node{
			Name: "example-node", Selector: map[string]string{"app": "example", "role": "node"}, ServiceAccount: "example-node", ContainerPrefix: "example-",
			Plugin: component.Container{
				Name: "example-driver", Image: "example-image", Args: []string{"--endpoint=$(CSI_ENDPOINT)"},
				Files: []component.Files{{Source: "example-settings", Path: "/etc/example"}},
			},
			Extra:       []component.Container{{Name: "example-sidecar", Image: "sidecar-image"}},
			Secrets:     map[string]map[string][]byte{"example-settings": {"settings": []byte("limit=25")}},
			HostFolders: []csi.HostFolder{{Name: "device-dir", HostPath: "/dev", Path: "/dev", Type: corev1.HostPathDirectory, Propagation: corev1.MountPropagationHostToContainer}},
			HealthPort:  9808, Critical: true,
		},
		RolePrefix: "extensions.gardener.cloud:provider-example:",
	}
}

// exampleDriverWithMounter is a driver whose plugin has somebody else mount, and which shares ServiceAccounts with example.
func exampleDriverWithMounter() csi.Driver {
	driver := exampleDriver()
	driver.Name = "other.csi.example.org"
	driver.Controller.Name, driver.Controller.ContainerPrefix = "other-controller", "other-"
	driver.Controller.Sidecars = csi.Sidecars{
		Provisioner: &csi.Sidecar{ShootAccess: "csi-provisioner"}, Resizer: &csi.Sidecar{ShootAccess: "csi-provisioner"},
	}
	between := []component.SharedFolder{{Name: "between-dir", Path: "/between"}}
	driver.Node = csi.Node{
		Name: "other-node", Selector: map[string]string{"app": "other"}, ServiceAccount: "other-node", ContainerPrefix: "other-",
		Plugin:     component.Container{Name: "other-driver", Image: "other-image", Shared: between},
		Mounter:    &component.Container{Name: "other-mounter", Image: "mounter-image", Shared: between},
		HealthPort: 9809,
	}
	return driver
}

func images(name string) (string, error) { return "registry.example.org/" + name + ":v1", nil }

func testValues() component.Values {
	return component.Values{
		Namespace: "shoot--dev--one", GenericKubeconfig: "generic-token-kubeconfig-0a1b2c3d",
		Secrets: map[string]string{"example-config": "example-config-1a2b3c4d"}, Image: images,
	}
}

func shootObjects(t *testing.T, shoot csi.Shoot, drivers ...csi.Driver) []client.Object {
	t.Helper()
	shoot.Image = images
	objects, err := csi.ShootObjects(drivers, shoot)
	require.NoError(t, err)
	return objects
}

// objectsOfType returns the objects of a type.
func objectsOfType[T client.Object](objects []client.Object) []T {
	var found []T
	for _, object := range objects {
		if object, is := object.(T); is {
			found = append(found, object)
		}
	}
	return found
}

func TestDriver_Component(t *testing.T) {
	objects, err := component.Objects(exampleDriver().Component(), testValues())
	require.NoError(t, err)
	checkGolden(t, "controller.yaml", objects)
	assert.Equal(t, []string{"csi-attacher", "csi-provisioner", "csi-resizer", "csi-snapshotter"}, exampleDriver().Component().ShootAccesses())
}

func TestShootObjects(t *testing.T) {
	checkGolden(t, "shoot.yaml", shootObjects(t, csi.Shoot{VerticalPodAutoscaler: true}, exampleDriver()))
	both := shootObjects(t, csi.Shoot{}, exampleDriver(), exampleDriverWithMounter())
	assert.Equal(t, both, shootObjects(t, csi.Shoot{}, exampleDriver(), exampleDriverWithMounter()), "the same every time")
}

func TestSnapshotController(t *testing.T) {
	objects, err := component.Objects(csi.SnapshotController(), testValues())
	require.NoError(t, err)
	checkGolden(t, "snapshotcontroller.yaml", objects)
	assert.Equal(t, []string{"csi-snapshot-controller"}, csi.SnapshotController().ShootAccesses())
}

func TestHasSnapshots(t *testing.T) {
	assert.True(t, csi.HasSnapshots([]csi.Driver{exampleDriverWithMounter(), exampleDriver()}))
	assert.False(t, csi.HasSnapshots([]csi.Driver{exampleDriverWithMounter()}))
	assert.False(t, csi.HasSnapshots(nil))
	for _, role := range objectsOfType[*rbacv1.ClusterRole](shootObjects(t, csi.Shoot{}, exampleDriverWithMounter())) {
		assert.NotContains(t, role.Name, "snapshot")
	}
}

func TestDriver_UnusedSidecars(t *testing.T) {
	var names []string
	for _, container := range exampleDriverWithMounter().Component().Containers {
		names = append(names, container.Name)
	}
	assert.Equal(t, []string{"example-driver", "example-extra", "other-provisioner", "other-resizer", "other-liveness-probe"}, names)
}

func TestShootObjects_PrivilegedContainers(t *testing.T) {
	daemonSets := objectsOfType[*appsv1.DaemonSet](shootObjects(t, csi.Shoot{}, exampleDriver(), exampleDriverWithMounter()))
	require.Len(t, daemonSets, 2)
	for i, want := range []string{"example-driver", "other-mounter"} {
		for _, container := range daemonSets[i].Spec.Template.Spec.Containers {
			privileged := container.SecurityContext.Privileged != nil && *container.SecurityContext.Privileged
			assert.Equal(t, container.Name == want, privileged, container.Name)
			assert.Equal(t, privileged, slices.ContainsFunc(container.VolumeMounts, func(mount corev1.VolumeMount) bool { return mount.MountPath == "/var/lib/kubelet" }))
		}
	}
}

func TestShootObjects_WithoutVerticalPodAutoscaler(t *testing.T) {
	for _, object := range shootObjects(t, csi.Shoot{}, exampleDriver()) {
		assert.NotEqual(t, "VerticalPodAutoscaler", object.GetObjectKind().GroupVersionKind().Kind)
	}
}

func TestShootObjects_SecretChangeRollsDaemonSet(t *testing.T) {
	before := shootObjects(t, csi.Shoot{}, exampleDriver())
	changed := exampleDriver()
	changed.Node.Secrets["example-settings"]["settings"] = []byte("limit=26")
	after := shootObjects(t, csi.Shoot{}, changed)

	secrets := objectsOfType[*corev1.Secret](slices.Concat(before, after))
	require.Len(t, secrets, 2)
	assert.NotEqual(t, secrets[0].Name, secrets[1].Name)
	for i, objects := range [][]client.Object{before, after} {
		daemonSet := objectsOfType[*appsv1.DaemonSet](objects)[0]
		assert.True(t, *secrets[i].Immutable)
		assert.True(t, slices.ContainsFunc(daemonSet.Spec.Template.Spec.Volumes, func(volume corev1.Volume) bool {
			return volume.Secret != nil && volume.Secret.SecretName == secrets[i].Name
		}))
		assert.Contains(t, slices.Collect(maps.Values(daemonSet.Annotations)), secrets[i].Name, "nobody takes it for garbage")
	}
}

func TestShootObjects_SharedServiceAccount(t *testing.T) {
	objects := shootObjects(t, csi.Shoot{}, exampleDriver(), exampleDriverWithMounter())
	names := map[string]int{}
	for _, role := range objectsOfType[*rbacv1.ClusterRole](objects) {
		names[role.Name]++
		if strings.HasSuffix(role.Name, ":csi-provisioner") {
			assert.True(t, allows(role.Rules, "", "persistentvolumes", "create"), "what the provisioner may")
			assert.True(t, allows(role.Rules, "", "persistentvolumeclaims/status", "patch"), "what other's resizer may, by the same account")
		}
	}
	for name, times := range names {
		assert.Equal(t, 1, times, name)
	}
	assert.Len(t, names, 5)
}

func allows(rules []rbacv1.PolicyRule, group, resource, verb string) bool {
	return slices.ContainsFunc(rules, func(rule rbacv1.PolicyRule) bool {
		return slices.Contains(rule.APIGroups, group) && slices.Contains(rule.Resources, resource) && slices.Contains(rule.Verbs, verb)
	})
}

func TestShootObjects_LeastPrivilege(t *testing.T) {
	for _, role := range objectsOfType[*rbacv1.ClusterRole](shootObjects(t, csi.Shoot{}, exampleDriver(), exampleDriverWithMounter())) {
		for _, rule := range role.Rules {
			assert.NotContains(t, rule.Resources, "secrets", role.Name)
			for _, words := range [][]string{rule.APIGroups, rule.Resources, rule.Verbs} {
				assert.NotContains(t, words, "*", role.Name)
			}
		}
	}
}

func TestShootObjects_Errors(t *testing.T) {
	for sentence, test := range map[string]struct {
		spoil     func(*csi.Driver, *csi.Shoot)
		complaint string
	}{
		"a Secret that the node's part mounts and does not bring along": {
			func(driver *csi.Driver, _ *csi.Shoot) { driver.Node.Secrets = nil },
			`storage driver "example.csi.example.org": mounting for DaemonSet "example-node": container "example-driver" mounts "example-settings"`,
		},
		"an image that nobody knows": {
			func(_ *csi.Driver, shoot *csi.Shoot) {
				shoot.Image = func(string) (string, error) { return "", errors.New("no such image") }
			},
			`looking up the image of container "example-driver" in DaemonSet "example-node": no such image`,
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			driver, shoot := exampleDriver(), csi.Shoot{Image: images}
			test.spoil(&driver, &shoot)
			_, err := csi.ShootObjects([]csi.Driver{driver}, shoot)
			assert.ErrorContains(t, err, test.complaint)
		})
	}
}
