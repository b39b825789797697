package workload

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"
	"text/template"

	gardencorev1 "github.com/gardener/gardener/pkg/apis/core/v1"
	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/trellis-garden/trellis/internal/controllerinstallation/problem"
)

// ResolveResources reads the Secrets and ConfigMaps of the garden that a deployment refers to, and returns their data by the names of the references.
// A reference to an object that does not exist, or lacks the label gardener.cloud/role=resource-reference, is a problem.Problem
// (RenderingHelmValuesFailed); transient errors are ordinary errors.
func ResolveResources(
	ctx context.Context, garden client.Reader, namespace string, refs []gardencorev1.NamedResourceReference,
) (map[string]any, error) {
	resolved := map[string]any{}
	for _, ref := range refs {
		data, err := readResource(ctx, garden, namespace, ref)
		if err != nil {
			return nil, err
		}
		// Gardener leaves empty data out, so a template that refers to it fails.
		resolved[ref.Name] = map[string]any{}
		if len(data) > 0 {
			resolved[ref.Name] = map[string]any{"data": data}
		}
	}
	return resolved, nil
}

func readResource(ctx context.Context, garden client.Reader, namespace string, ref gardencorev1.NamedResourceReference) (map[string]any, error) {
	secret, configMap := &corev1.Secret{}, &corev1.ConfigMap{}
	var object client.Object
	switch of := ref.ResourceRef; {
	case of.APIVersion == "v1" && of.Kind == "Secret":
		object = secret
	case of.APIVersion == "v1" && of.Kind == "ConfigMap":
		object = configMap
	default:
		return nil, unresolvable(ref, "refers to %s %s: only Secrets and ConfigMaps (v1) can be referred to", of.APIVersion, of.Kind)
	}
	name := ref.ResourceRef.Kind + " " + ref.ResourceRef.Name
	err := garden.Get(ctx, client.ObjectKey{Namespace: namespace, Name: ref.ResourceRef.Name}, object)
	switch {
	case apierrors.IsNotFound(err):
		return nil, unresolvable(ref, "refers to %s, which does not exist in namespace %s of the garden", name, namespace)
	case err != nil:
		return nil, fmt.Errorf("reading %s in namespace %s of the garden: %w", name, namespace, err)
	case object.GetLabels()[v1beta1constants.GardenRole] != v1beta1constants.GardenRoleResourceReference:
		return nil, unresolvable(ref, "refers to %s in namespace %s of the garden, which lacks the label %s=%s",
			name, namespace, v1beta1constants.GardenRole, v1beta1constants.GardenRoleResourceReference)
	}
	data := map[string]any{}
	for key, value := range secret.Data {
		data[key] = string(value)
	}
	for key, value := range configMap.Data {
		data[key] = value
	}
	return data, nil
}

func unresolvable(ref gardencorev1.NamedResourceReference, format string, args ...any) error {
	return problem.New(problem.RenderingHelmValuesFailed, fmt.Sprintf("resources[%s] ", ref.Name)+fmt.Sprintf(format, args...))
}

// Substitute replaces the templates in values, keys included, such as {{ .resources.<name>.data.<key> }}. Without resources, values are not treated
// as templates. A template that fails is a problem.Problem (RenderingHelmValuesFailed). Neither argument is changed.
func Substitute(values, resources map[string]any) (map[string]any, error) {
	if values == nil || len(resources) == 0 {
		return values, nil
	}
	return substituteMap("values", values, map[string]any{"resources": resources})
}

func substituteMap(path string, values, data map[string]any) (map[string]any, error) {
	substituted := make(map[string]any, len(values))
	// The order is fixed, so that of several errors always the same is reported.
	for _, name := range slices.Sorted(maps.Keys(values)) {
		path := path + "." + name
		key, err := expand(path, name, data)
		if err != nil {
			return nil, err
		}
		if _, twice := substituted[key]; twice {
			// It may contain a secret after substitution.
			return nil, problem.New(problem.RenderingHelmValuesFailed, path+": the key is there twice once templates are replaced")
		}
		if substituted[key], err = substitute(path, values[name], data); err != nil {
			return nil, err
		}
	}
	return substituted, nil
}

func substitute(path string, value any, data map[string]any) (any, error) {
	switch value := value.(type) {
	case map[string]any:
		return substituteMap(path, value, data)
	case []any:
		list := make([]any, len(value))
		for i := range value {
			var err error
			if list[i], err = substitute(fmt.Sprintf("%s[%d]", path, i), value[i], data); err != nil {
				return nil, err
			}
		}
		return list, nil
	case string:
		return expand(path, value, data)
	default:
		return value, nil
	}
}

func expand(path, text string, data map[string]any) (string, error) {
	parsed, err := template.New("values").Option("missingkey=error").Parse(text)
	if err != nil {
		return "", problem.New(problem.RenderingHelmValuesFailed, fmt.Sprintf("%s: %q is no template: %v", path, text, err))
	}
	var expanded bytes.Buffer
	if err := parsed.Execute(&expanded, data); err != nil {
		return "", problem.New(problem.RenderingHelmValuesFailed, fmt.Sprintf("%s: the template %q fails: %v", path, text, err))
	}
	return expanded.String(), nil
}
