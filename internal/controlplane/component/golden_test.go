package component_test

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/trellis-garden/trellis/internal/controlplane/component"
	"github.com/trellis-garden/trellis/internal/golden"
)

// TestGoldenDeployments_RollOnSecretChange looks at the golden Deployments of the whole contract, those of storage drivers
// and of clouds as well. Those that Gardener deploys and that a cloud only tunes carry a label.
func TestGoldenDeployments_RollOnSecretChange(t *testing.T) {
	deployments := 0
	require.NoError(t, filepath.WalkDir("..", func(name string, _ fs.DirEntry, err error) error {
		if err != nil || !slices.Contains([]string{".yaml", ".diff"}, filepath.Ext(name)) || !strings.Contains(name, "testdata") {
			return err
		}
		content, err := golden.Read(name)
		require.NoError(t, err)
		for document := range strings.SplitSeq(content, "\n---\n") {
			var kind metav1.TypeMeta
			require.NoError(t, yaml.Unmarshal([]byte(document), &kind), name)
			if kind.Kind != "Deployment" {
				continue
			}
			var deployment appsv1.Deployment
			require.NoError(t, yaml.UnmarshalStrict([]byte(document), &deployment), name)
			if deployment.Labels[v1beta1constants.LabelExtensionProviderMutatedByControlplaneWebhook] == "true" {
				continue
			}
			deployments++
			assert.Empty(t, staleness(deployment.Spec.Template.Spec), "%s: Deployment %q", name, deployment.Name)
		}
		return nil
	}))
	assert.GreaterOrEqual(t, deployments, 6, "those of this package and of the cloud-controller-manager")
}

// staleness says which of a pod's volumes and variables may hold something old. A name that ends in a checksum changes with
// the content, and with it the pod. Kubeconfigs with tokens, and tokens alone, are read again by whoever uses them.
func staleness(pod corev1.PodSpec) []string {
	checksum := regexp.MustCompile(`-[0-9a-f]{8}(-[0-9a-f]{5})?$`)
	var found []string
	for _, volume := range pod.Volumes {
		switch source := volume.VolumeSource; {
		case source.EmptyDir != nil:
		case source.Secret != nil && checksum.MatchString(source.Secret.SecretName):
		case source.Projected != nil && isKubeconfig(source.Projected):
		case source.Secret != nil && len(source.Secret.Items) == 1 && source.Secret.Items[0].Key == "token":
		default:
			found = append(found, "volume "+volume.Name)
		}
	}
	for _, container := range pod.Containers {
		if len(container.EnvFrom) > 0 {
			found = append(found, "variables of container "+container.Name)
		}
		for _, variable := range container.Env {
			if variable.ValueFrom != nil && variable.ValueFrom.FieldRef == nil { // the fields of a pod are its own
				found = append(found, fmt.Sprintf("variable %s of container %s", variable.Name, container.Name))
			}
		}
	}
	return found
}

func isKubeconfig(volume *corev1.ProjectedVolumeSource) bool {
	if len(volume.Sources) != 2 || volume.Sources[0].Secret == nil || volume.Sources[1].Secret == nil {
		return false
	}
	kubeconfig, token := volume.Sources[0].Secret, volume.Sources[1].Secret
	return strings.HasPrefix(kubeconfig.Name, "generic-token-kubeconfig") && kubeconfig.Items[0].Key == "kubeconfig" &&
		strings.HasPrefix(token.Name, "shoot-access-") && token.Items[0].Key == "token"
}

func TestStaleness(t *testing.T) {
	for sentence, change := range map[string]func(*corev1.PodSpec){
		"a Secret with the same name for ever": func(pod *corev1.PodSpec) { pod.Volumes[0].Secret.SecretName = "cloud-provider-config" },
		"certificates of the host": func(pod *corev1.PodSpec) {
			pod.Volumes[0].VolumeSource = corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/etc/ssl"}}
		},
		"something else next to a token": func(pod *corev1.PodSpec) {
			at := slices.IndexFunc(pod.Volumes, func(v corev1.Volume) bool { return v.Projected != nil })
			pod.Volumes[at].Projected.Sources[0].Secret.Name = "cloudprovider"
		},
		"a password in a variable": func(pod *corev1.PodSpec) {
			pod.Containers[0].Env[0].ValueFrom = &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{Key: "password"}}
		},
		"a Secret as variables": func(pod *corev1.PodSpec) { pod.Containers[0].EnvFrom = make([]corev1.EnvFromSource, 1) },
	} {
		t.Run(sentence, func(t *testing.T) {
			objects, err := component.Objects(exampleComponent(), testValues())
			require.NoError(t, err)
			pod := objects[0].(*appsv1.Deployment).Spec.Template.Spec
			require.Empty(t, staleness(pod))
			change(&pod)
			assert.Len(t, staleness(pod), 1)
		})
	}
}
