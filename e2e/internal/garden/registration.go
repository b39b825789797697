package garden

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"

	gardencorev1 "github.com/gardener/gardener/pkg/apis/core/v1"
	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Registration is what an admin registers: a ControllerRegistration, and a ControllerDeployment of the same name.
type Registration struct {
	Name      string
	Resources []gardencorev1beta1.ControllerResource
	// Policy is OnDemand where it is empty.
	Policy gardencorev1beta1.ControllerDeploymentPolicy
	// Chart is the archive of a Helm chart. Nothing means one with a single ConfigMap.
	Chart  []byte
	Values map[string]any
}

// Primary lists kinds of one type as resources of a registration.
func Primary(extensionType string, kinds ...string) []gardencorev1beta1.ControllerResource {
	var resources []gardencorev1beta1.ControllerResource
	for _, kind := range kinds {
		resources = append(resources, gardencorev1beta1.ControllerResource{Kind: kind, Type: extensionType})
	}
	return resources
}

// Register creates both objects.
func (g *Garden) Register(ctx context.Context, registration Registration) error {
	deployment, err := registration.deployment()
	if err != nil {
		return fmt.Errorf("packing the chart of %s: %w", registration.Name, err)
	}
	if err := g.Client.Create(ctx, deployment); err != nil {
		return fmt.Errorf("creating ControllerDeployment %s: %w", registration.Name, err)
	}
	if err := g.Client.Create(ctx, registration.registration()); err != nil {
		return fmt.Errorf("creating ControllerRegistration %s: %w", registration.Name, err)
	}
	return nil
}

func (r Registration) registration() *gardencorev1beta1.ControllerRegistration {
	policy := r.Policy
	if policy == "" {
		policy = gardencorev1beta1.ControllerDeploymentPolicyOnDemand
	}
	return &gardencorev1beta1.ControllerRegistration{
		ObjectMeta: metav1.ObjectMeta{Name: r.Name},
		Spec: gardencorev1beta1.ControllerRegistrationSpec{
			Resources: r.Resources,
			Deployment: &gardencorev1beta1.ControllerRegistrationDeployment{
				Policy: &policy, DeploymentRefs: []gardencorev1beta1.DeploymentRef{{Name: r.Name}},
			},
		},
	}
}

func (r Registration) deployment() (*gardencorev1.ControllerDeployment, error) {
	deployment := &gardencorev1.ControllerDeployment{
		ObjectMeta: metav1.ObjectMeta{Name: r.Name},
		Helm:       &gardencorev1.HelmControllerDeployment{RawChart: r.Chart},
	}
	if len(r.Chart) == 0 {
		var err error
		if deployment.Helm.RawChart, err = PackChart(r.Name, map[string]string{"configmap.yaml": configMap}); err != nil {
			return nil, err
		}
	}
	if r.Values != nil {
		raw, err := json.Marshal(r.Values)
		if err != nil {
			return nil, err
		}
		deployment.Helm.Values = &apiextensionsv1.JSON{Raw: raw}
	}
	return deployment, nil
}

const configMap = `apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ .Release.Name }}
  namespace: {{ .Release.Namespace }}
data:
  image: {{ .Values.image | default "none" | quote }}
`

// PackChart packs a chart with the given files of its templates folder.
func PackChart(name string, templates map[string]string) ([]byte, error) {
	return PackChartWithValues(name, "", templates)
}

// PackChartWithValues does so with a file of default values.
func PackChartWithValues(name, values string, templates map[string]string) ([]byte, error) {
	files := map[string]string{"Chart.yaml": "apiVersion: v2\nname: " + name + "\nversion: 0.1.0\n", "values.yaml": values}
	for path, content := range templates {
		files["templates/"+path] = content
	}
	var archive bytes.Buffer
	compressed := gzip.NewWriter(&archive)
	packed := tar.NewWriter(compressed)
	for path, content := range files {
		header := &tar.Header{Name: name + "/" + path, Mode: 0o644, Size: int64(len(content))}
		if err := packed.WriteHeader(header); err != nil {
			return nil, err
		}
		if _, err := packed.Write([]byte(content)); err != nil {
			return nil, err
		}
	}
	if err := packed.Close(); err != nil {
		return nil, err
	}
	if err := compressed.Close(); err != nil {
		return nil, err
	}
	return archive.Bytes(), nil
}
