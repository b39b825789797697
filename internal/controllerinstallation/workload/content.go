package workload

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	kubernetesutils "github.com/gardener/gardener/pkg/utils/kubernetes"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/trellis-garden/trellis/internal/controllerinstallation/problem"
)

// contentSecrets returns the immutable Secrets with the manifests of the objects. Charts with dashboards need several. gardener-resource-manager
// sorts objects by kind, so the order here only depends on the objects, and equal objects result in equal names. An object that does not fit into a
// Secret is a problem.Problem (ChartTooLarge).
func contentSecrets(installation Installation, objects []*unstructured.Unstructured) ([]*corev1.Secret, error) {
	files := []map[string][]byte{{}}
	var size int
	for i, object := range sortObjects(objects) {
		manifest, err := manifestOf(object)
		if err != nil {
			return nil, fmt.Errorf("writing the manifest of %s %s: %w", object.GetKind(), object.GetName(), err)
		}
		if len(manifest) > corev1.MaxSecretSize {
			return nil, problem.New(problem.ChartTooLarge, fmt.Sprintf("%s %s has a manifest of %d bytes, and %d are possible",
				object.GetKind(), object.GetName(), len(manifest), corev1.MaxSecretSize))
		}
		if size+len(manifest) > corev1.MaxSecretSize {
			files, size = append(files, map[string][]byte{}), 0
		}
		files[len(files)-1][fileName(i, object)] = manifest
		size += len(manifest)
	}
	var secrets []*corev1.Secret
	for _, data := range files {
		secret := &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{
				Namespace: v1beta1constants.GardenNamespace, Name: "managedresource-" + installation.Name,
				Labels: map[string]string{labelInstallation: installation.Name, labelRegistration: installation.Registration},
			},
			Type: corev1.SecretTypeOpaque, Data: data,
		}
		if err := kubernetesutils.MakeUnique(secret); err != nil {
			return nil, fmt.Errorf("naming the manifests: %w", err)
		}
		secrets = append(secrets, secret)
	}
	return secrets, nil
}

func sortObjects(objects []*unstructured.Unstructured) []*unstructured.Unstructured {
	return slices.SortedStableFunc(slices.Values(objects), func(a, b *unstructured.Unstructured) int {
		return cmp.Or(
			cmp.Compare(a.GetAPIVersion(), b.GetAPIVersion()), cmp.Compare(a.GetKind(), b.GetKind()),
			cmp.Compare(a.GetNamespace(), b.GetNamespace()), cmp.Compare(a.GetName(), b.GetName()),
		)
	})
}

// manifestOf writes JSON, which takes a tenth of the time of YAML to encode and to decode. Special characters of HTML are not escaped.
func manifestOf(object *unstructured.Unstructured) ([]byte, error) {
	var manifest bytes.Buffer
	encoder := json.NewEncoder(&manifest)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(object.Object); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(manifest.Bytes(), []byte("\n")), nil
}

// fileName is unique by its number. The rest is informational, and limited to the characters and the length of a Secret's key.
func fileName(number int, object *unstructured.Unstructured) string {
	const longest = 200
	name := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '-', r == '.', r == '_':
			return r
		default:
			return '_'
		}
	}, strings.ToLower(object.GetKind())+"-"+object.GetName())
	return fmt.Sprintf("%04d-%s.json", number, name[:min(len(name), longest)])
}
