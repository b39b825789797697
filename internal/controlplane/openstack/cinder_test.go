package openstack

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	openstackv1alpha1 "github.com/trellis-garden/trellis/apis/openstack/v1alpha1"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/auth"
	"github.com/trellis-garden/trellis/internal/controlplane"
	"github.com/trellis-garden/trellis/internal/controlplane/component"
	"github.com/trellis-garden/trellis/internal/controlplane/csi"
	"github.com/trellis-garden/trellis/internal/golden"
)

// Who logs in as what in storageInputs.
const (
	infrastructureUser     = "robot-of-the-infrastructure"
	infrastructurePassword = "swordfish-of-the-infrastructure"
)

// storageInputs are those of a shoot with volumes, and shared file systems if wanted.
func storageInputs(manila bool) *inputs {
	in := &inputs{
		config: &openstackv1alpha1.ControlPlaneConfig{},
		profile: &openstackv1alpha1.CloudProfileConfig{
			RescanBlockStorageOnResize: new(true), IgnoreVolumeAZ: new(true), NodeVolumeAttachLimit: new(int32(25)),
		},
		infrastructure: &openstackv1alpha1.InfrastructureStatus{},
		credentials: auth.Credentials{
			AuthURL: "https://keystone.example.org:5000/v3", Username: infrastructureUser, Password: infrastructurePassword,
			DomainName: "default", TenantName: "garden",
		},
		technicalID: "shoot--dev--one", clusterName: "shoot--dev--one", region: "RegionOne",
		zones: []string{"zone-1", "zone-2"}, nodeRange: "10.250.0.0/16",
	}
	if manila {
		in.config.Storage = &openstackv1alpha1.Storage{CSIManila: &openstackv1alpha1.CSIManila{
			Enabled: true, CredentialsRef: &openstackv1alpha1.CredentialsReference{Name: "shares"},
		}}
		in.infrastructure.Networks.ShareNetwork = &openstackv1alpha1.ShareNetworkStatus{ID: "a9dc1f93-6c58-4b1e-a1e8-6c1d6a3bd6a5"}
		in.manilaCredentials = &auth.Credentials{
			AuthURL: "https://keystone.example.org:5000/v3", ApplicationCredentialID: "5fd3bcb5", ApplicationCredentialSecret: "shares-only",
			CACert: "-----BEGIN CERTIFICATE-----\n",
		}
	}
	return in
}

// driverNamed returns one of the shoot's storage drivers.
func driverNamed(t *testing.T, in *inputs, name string) csi.Driver {
	t.Helper()
	drivers, err := in.csiDrivers()
	require.NoError(t, err)
	i := slices.IndexFunc(drivers, func(driver csi.Driver) bool { return driver.Name == name })
	require.GreaterOrEqual(t, i, 0)
	return drivers[i]
}

// rendered returns a driver's objects in the seed and in the shoot.
func rendered(t *testing.T, driver csi.Driver, kubernetesVersion string) (seed, shoot []client.Object) {
	t.Helper()
	images, err := controlplane.ReadImages(ImageVector())
	require.NoError(t, err)
	find := controlplane.ImagesFor(images, kubernetesVersion)
	seed, err = component.Objects(driver.Component(), component.Values{
		Namespace: "shoot--dev--one", GenericKubeconfig: "generic-token-kubeconfig-0a1b2c3d",
		Secrets: map[string]string{"cloud-provider-disk-config-csi": "cloud-provider-disk-config-csi-1a2b3c4d"}, Image: find,
	})
	require.NoError(t, err)
	shoot, err = csi.ShootObjects([]csi.Driver{driver}, csi.Shoot{Image: find, VerticalPodAutoscaler: true})
	require.NoError(t, err)
	return seed, shoot
}

func TestCinder(t *testing.T) {
	folder := golden.Open(t, "testdata/cinder")
	for minor, version := range kubernetesVersions() {
		seed, shoot := rendered(t, driverNamed(t, storageInputs(false), cinderDriver), version)
		checkVersion(t, folder, minor, "seed", seed)
		checkVersion(t, folder, minor, "shoot", shoot)
	}
}

// The selectors cannot be changed, and volumes, snapshots and users of the shoot know the other names.
func TestCinder_UpstreamNames(t *testing.T) {
	seed, shoot := rendered(t, driverNamed(t, storageInputs(false), cinderDriver), "1.36.3")
	deployment := seed[0].(*appsv1.Deployment)
	assert.Equal(t, "csi-driver-controller", deployment.Name)
	assert.Equal(t, map[string]string{"app": "csi", "role": "controller"}, deployment.Spec.Selector.MatchLabels)
	for _, object := range shoot {
		if daemonSet, is := object.(*appsv1.DaemonSet); is {
			assert.Equal(t, "csi-driver-node", daemonSet.Name)
			assert.Equal(t, map[string]string{"app": "csi", "role": "disk-driver"}, daemonSet.Spec.Selector.MatchLabels)
		}
	}
	names := map[string]bool{}
	for _, object := range shoot {
		names[object.GetObjectKind().GroupVersionKind().Kind+" "+object.GetName()] = true
	}
	for _, want := range []string{
		"CSIDriver cinder.csi.openstack.org", "ServiceAccount csi-driver-node",
		"ClusterRole extensions.gardener.cloud:provider-openstack:csi-provisioner", "Role extensions.gardener.cloud:provider-openstack:csi-attacher",
		"ClusterRoleBinding extensions.gardener.cloud:provider-openstack:csi-snapshot-controller",
		"RoleBinding extensions.gardener.cloud:provider-openstack:csi-resizer",
	} {
		assert.Contains(t, names, want)
	}
}

// arguments returns the flags of a container.
func arguments(t *testing.T, containers []component.Container, name string) []string {
	t.Helper()
	i := slices.IndexFunc(containers, func(container component.Container) bool { return container.Name == name })
	require.GreaterOrEqual(t, i, 0, name)
	return containers[i].Args
}

func TestCinder_ControllerConfig(t *testing.T) {
	in := storageInputs(false)
	config, err := in.cinderConfig()
	require.NoError(t, err)
	for _, line := range []string{`rescan-on-resize = "true"`, `node-volume-attach-limit = "25"`, `ignore-volume-az = "true"`} {
		assert.Contains(t, string(config.Files[cloudConfigFile]), line)
	}
	plugin := driverNamed(t, in, cinderDriver).Controller.Plugin
	assert.Equal(t, []component.Files{{Source: config.Name, Path: "/etc/kubernetes/cloudprovider"}}, plugin.Files)
	assert.Contains(t, plugin.Args, "--cloud-config=/etc/kubernetes/cloudprovider/"+cloudConfigFile)
}

func TestCinder_NodeConfig(t *testing.T) {
	node := driverNamed(t, storageInputs(false), cinderDriver).Node
	settings := string(node.Secrets[cinderNodeConfigName][cloudConfigFile])
	assert.Contains(t, settings, `rescan-on-resize = "true"`)
	assert.Contains(t, settings, `node-volume-attach-limit = "25"`)
	assert.NotContains(t, settings, "Global")
}

func TestCinder_AttacherMaxEntries(t *testing.T) {
	containers := driverNamed(t, storageInputs(false), cinderDriver).Component().Containers
	assert.Contains(t, arguments(t, containers, "openstack-csi-attacher"), "--max-entries=1000")
}

// What is not a Secret with a checksum in its name is a token, which is read again with each request.
func TestStorageControllers_RollOnSecretChange(t *testing.T) {
	for _, name := range []string{cinderDriver, manilaDriver} {
		seed, _ := rendered(t, driverNamed(t, storageInputs(true), name), "1.36.3")
		for _, volume := range seed[0].(*appsv1.Deployment).Spec.Template.Spec.Volumes {
			if volume.Secret != nil {
				assert.Regexp(t, `-[0-9a-f]{8}$`, volume.Secret.SecretName)
				continue
			}
			assert.True(t, volume.EmptyDir != nil || volume.Projected != nil, "%s: %s", name, volume.Name)
		}
	}
}

func TestNodePlugins_RollOnSecretChange(t *testing.T) {
	in := storageInputs(true)
	before, _ := nodeSecrets(t, in)
	in.profile.NodeVolumeAttachLimit = new(int32(26))
	after, mounted := nodeSecrets(t, in)
	assert.NotEqual(t, before, after)
	assert.Equal(t, after, mounted)
}

// nodeSecrets returns the Secrets that the drivers bring to the shoot, and those that their pods there mount.
func nodeSecrets(t *testing.T, in *inputs) (brought, mounted []string) {
	t.Helper()
	for _, name := range []string{cinderDriver, manilaDriver} {
		_, shoot := rendered(t, driverNamed(t, in, name), "1.36.3")
		for _, object := range shoot {
			switch object := object.(type) {
			case *corev1.Secret:
				brought = append(brought, object.Name)
			case *appsv1.DaemonSet:
				for _, volume := range object.Spec.Template.Spec.Volumes {
					if volume.Secret != nil {
						mounted = append(mounted, volume.Secret.SecretName)
					}
				}
			}
		}
	}
	return brought, mounted
}

func TestShootObjects_NoInfrastructureCredentials(t *testing.T) {
	for sentence, in := range map[string]*inputs{"with volumes": storageInputs(false), "with shared file systems": storageInputs(true)} {
		t.Run(sentence, func(t *testing.T) {
			objects, err := in.manilaShootObjects()
			require.NoError(t, err)
			drivers, err := in.csiDrivers()
			require.NoError(t, err)
			for _, driver := range drivers {
				_, shoot := rendered(t, driver, "1.36.3")
				objects = append(objects, shoot...)
			}
			objects = append(objects, csi.Classes(in.storageClasses(), in.snapshotClasses())...)
			for _, object := range objects {
				text, err := yaml.Marshal(object)
				require.NoError(t, err)
				if secret, is := object.(*corev1.Secret); is {
					for _, content := range secret.Data {
						text = append(text, content...)
					}
				}
				assert.NotContains(t, string(text), infrastructureUser, object.GetName())
				assert.NotContains(t, string(text), infrastructurePassword, object.GetName())
			}
		})
	}
}
