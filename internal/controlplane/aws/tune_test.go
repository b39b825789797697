package aws

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/trellis-garden/trellis/internal/controlplane"
	"github.com/trellis-garden/trellis/internal/controlplane/tuning"
	"github.com/trellis-garden/trellis/internal/golden"
)

func tuningOf(t *testing.T, scope tuning.Scope, shoot *controlplane.Shoot) *tuning.Tuning {
	t.Helper()
	tuned, err := New().Tune(&controlplane.TuneRequest{
		Scope: scope, Cluster: shoot.Cluster, Image: findImages(t, shoot.Cluster.Shoot.Spec.Kubernetes.Version),
	})
	require.NoError(t, err)
	return tuned
}

func withInfrastructure(fields string) func(*controlplane.Shoot) {
	return func(shoot *controlplane.Shoot) {
		shoot.Cluster.Shoot.Spec.Provider.InfrastructureConfig = document("InfrastructureConfig", `,"networks":{"vpc":{"cidr":"10.250.0.0/16"},"zones":[]}`+fields)
	}
}

// What Gardener renders is the same for all clouds: package webhooks of e2e writes the files before, and fails when Gardener's change.
func TestDriver_TuneGoldenFiles(t *testing.T) {
	for _, version := range []string{"1.32", "1.36"} {
		shoot := awsShoot(withKubernetes(version + ".3"))
		nodes, controlPlane := tuningOf(t, tuning.Nodes, shoot), tuningOf(t, tuning.ControlPlane, shoot)
		for name, tune := range map[string]func(object client.Object) error{
			"kube-apiserver": func(object client.Object) error {
				return tuning.TuneKubeAPIServer(object.(*appsv1.Deployment), controlPlane.KubeAPIServer)
			},
			"kube-controller-manager": func(object client.Object) error {
				return tuning.TuneKubeControllerManager(object.(*appsv1.Deployment), controlPlane.KubeControllerManager)
			},
			"osc-reconcile": func(object client.Object) error {
				return tuning.TuneOperatingSystemConfig(object.(*extensionsv1alpha1.OperatingSystemConfig), *nodes)
			},
		} {
			t.Run(version+"/"+name, func(t *testing.T) {
				before, err := os.ReadFile(filepath.Join("..", "openstack", "testdata", "tuning", version, name+".before.yaml"))
				require.NoError(t, err)
				var object client.Object = &appsv1.Deployment{}
				if name == "osc-reconcile" {
					object = &extensionsv1alpha1.OperatingSystemConfig{}
				}
				require.NoError(t, yaml.UnmarshalStrict(before, object))
				require.NoError(t, tune(object))
				got, err := yaml.Marshal(object)
				require.NoError(t, err)
				golden.CheckYAML(t, filepath.Join("testdata", "tuning", version, name+".after.yaml"), string(got))

				once, ok := object.DeepCopyObject().(client.Object)
				require.True(t, ok)
				require.NoError(t, tune(object))
				assert.Empty(t, cmp.Diff(once, object), "a second pass")
			})
		}
	}
}

func TestDriver_Tune_RangesOfPods(t *testing.T) {
	ipv4, ipv6 := gardencorev1beta1.IPFamilyIPv4, gardencorev1beta1.IPFamilyIPv6
	for sentence, test := range map[string]struct {
		change func(*controlplane.Shoot)
		want   string
	}{
		"kube-controller-manager gives ranges of IPv4": {withFamilies(ipv4), "true"},
		"with both families the IPAM controller does":  {withFamilies(ipv4, ipv6), "false"},
		"and with IPv6 alone":                          {withFamilies(ipv6), "false"},
		"also as soon as the nodes have a range of IPv6": {
			func(shoot *controlplane.Shoot) {
				shoot.Cluster.Shoot.Status.Networking = &gardencorev1beta1.NetworkingStatus{Nodes: []string{"10.250.0.0/16", "2001:db8::/56"}}
			}, "false",
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			shoot := awsShoot(test.change)
			tuned := tuningOf(t, tuning.ControlPlane, shoot)
			assert.Equal(t, test.want, tuned.KubeControllerManager.SetFlags["--allocate-node-cidrs"])
			isDeployed := slices.ContainsFunc(planOf(t, shoot).Components, isNamed("aws-ipam-controller"))
			assert.Equal(t, test.want == "false", isDeployed, "one of the two gives ranges")
		})
	}
}

func TestDriver_Tune_VolumeAttributesClasses(t *testing.T) {
	annotated := withAnnotation("aws.provider.extensions.gardener.cloud/enable-volume-attributes-class", "true")
	tuned := tuningOf(t, tuning.ControlPlane, awsShoot(annotated, withKubernetes("1.33.4")))
	gate := map[string]map[string]string{"--feature-gates": {"VolumeAttributesClass": "true"}}
	assert.Equal(t, map[string]map[string]string{
		"--feature-gates": {"VolumeAttributesClass": "true"}, "--runtime-config": {"storage.k8s.io/v1beta1": "true"},
	}, tuned.KubeAPIServer.SetEntries)
	assert.Equal(t, gate, tuned.KubeControllerManager.SetEntries)
	assert.Equal(t, gate, tuned.KubeScheduler.SetEntries)
	assert.Equal(t, gate, tuned.ClusterAutoscaler.SetEntries)

	tuned = tuningOf(t, tuning.ControlPlane, awsShoot(annotated, withKubernetes("1.34.0")))
	assert.Empty(t, tuned.KubeAPIServer.SetEntries, "the version has them")
	assert.Equal(t, tuning.Pod{}, tuned.KubeScheduler)
}

func TestDriver_Tune_NodeFiles(t *testing.T) {
	mtu := []string{"/opt/bin/mtu-customizer.sh"}
	registries := []string{"/opt/bin/ecr-credential-provider", "/opt/gardener/ecr-credential-provider-config.json"}
	for sentence, test := range map[string]struct {
		fields string
		want   []string
	}{
		"by default both":    {"", append(slices.Clone(mtu), registries...)},
		"no change of MTU":   {`,"enableMTUCustomizer":false`, registries},
		"no registries":      {`,"enableECRAccess":false`, mtu},
		"neither":            {`,"enableECRAccess":false,"enableMTUCustomizer":false`, nil},
		"an unknown setting": {`,"enableECRAccess":false,"enableMTUCustomizer":false,"new":true`, nil},
	} {
		t.Run(sentence, func(t *testing.T) {
			tuned := tuningOf(t, tuning.Nodes, awsShoot(withInfrastructure(test.fields)))
			var paths []string
			for _, file := range tuned.Files {
				paths = append(paths, file.Path)
			}
			assert.Equal(t, test.want, paths)
			_, set := tuned.Kubelet.SetFlags["--image-credential-provider-config"]
			assert.Equal(t, slices.Contains(test.want, registries[1]), set)
			assert.Equal(t, slices.Contains(test.want, mtu[0]), len(tuned.Units) == 1)
		})
	}
}

func TestDriver_Tune_InvalidInfrastructureConfig(t *testing.T) {
	shoot := awsShoot()
	shoot.Cluster.Shoot.Spec.Provider.InfrastructureConfig = document("Other", "")
	_, err := New().Tune(&controlplane.TuneRequest{Scope: tuning.Nodes, Cluster: shoot.Cluster})
	require.ErrorContains(t, err, "decoding shoot.spec.provider.infrastructureConfig: ")
	shoot.Cluster.Shoot.Spec.Provider.InfrastructureConfig = nil
	_, err = New().Tune(&controlplane.TuneRequest{Scope: tuning.Nodes, Cluster: shoot.Cluster})
	require.ErrorContains(t, err, "shoot.spec.provider.infrastructureConfig is missing")
	_, err = New().Tune(&controlplane.TuneRequest{Scope: tuning.ControlPlane, Cluster: shoot.Cluster})
	require.NoError(t, err, "a kube-apiserver must not depend on it")
}
