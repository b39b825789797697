package garden

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	gardencorev1 "github.com/gardener/gardener/pkg/apis/core/v1"
	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
)

// Registration describes a ControllerRegistration, and a ControllerDeployment of the same name.
type Registration struct {
	Name      string
	Resources []gardencorev1beta1.ControllerResource
	// Policy is the deployment policy; default OnDemand.
	Policy gardencorev1beta1.ControllerDeploymentPolicy
	// SeedSelector selects the seeds for which it may be installed; nil selects all. gardener-apiserver accepts one if there are no primary resources.
	SeedSelector *metav1.LabelSelector
	// Annotations are the ControllerRegistration's.
	Annotations map[string]string
	// Chart is the archive of a Helm chart; default one with a single ConfigMap.
	Chart  []byte
	Values map[string]any
	// Custom makes it a ControllerDeployment of a type that gardenlet does not install. Chart and Values are ignored then.
	Custom *Custom
	// InjectGardenKubeconfig and References are the ControllerDeployment's, of either type. core/v1beta1 has no references.
	InjectGardenKubeconfig bool
	References             []gardencorev1.NamedResourceReference
}

// Custom is a ControllerDeployment of a type that is not Gardener's.
type Custom struct {
	Type string
	// Config is the encoded providerConfig; nil for none.
	Config json.RawMessage
	// Older creates it in core/v1beta1, where type and providerConfig are fields. In core/v1 they are annotations.
	Older bool
}

// Primary returns kinds of one type as primary resources of a registration.
func Primary(extensionType string, kinds ...string) []gardencorev1beta1.ControllerResource {
	var resources []gardencorev1beta1.ControllerResource
	for _, kind := range kinds {
		resources = append(resources, gardencorev1beta1.ControllerResource{Kind: kind, Type: extensionType})
	}
	return resources
}

// Register creates both objects.
func (g *Garden) Register(ctx context.Context, registration Registration) error {
	if err := g.Deploy(ctx, registration); err != nil {
		return err
	}
	if err := g.Client.Create(ctx, registration.registration()); err != nil {
		return fmt.Errorf("creating ControllerRegistration %s: %w", registration.Name, err)
	}
	return nil
}

// Deploy creates the ControllerDeployment only, or updates an existing one.
func (g *Garden) Deploy(ctx context.Context, registration Registration) error {
	object, change, err := registration.deployment()
	if err != nil {
		return fmt.Errorf("putting ControllerDeployment %s together: %w", registration.Name, err)
	}
	// gardener-controller-manager writes its finalizer at any time.
	if err := retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		_, err := controllerutil.CreateOrUpdate(ctx, g.Client, object, change)
		return err
	}); err != nil {
		return fmt.Errorf("writing ControllerDeployment %s: %w", registration.Name, err)
	}
	return nil
}

func (r Registration) registration() *gardencorev1beta1.ControllerRegistration {
	policy := r.Policy
	if policy == "" {
		policy = gardencorev1beta1.ControllerDeploymentPolicyOnDemand
	}
	return &gardencorev1beta1.ControllerRegistration{
		ObjectMeta: metav1.ObjectMeta{Name: r.Name, Annotations: r.Annotations},
		Spec: gardencorev1beta1.ControllerRegistrationSpec{
			Resources: r.Resources,
			Deployment: &gardencorev1beta1.ControllerRegistrationDeployment{
				Policy: &policy, SeedSelector: r.SeedSelector, DeploymentRefs: []gardencorev1beta1.DeploymentRef{{Name: r.Name}},
			},
		},
	}
}

// deployment returns the object and a function that sets its content, for creation and update.
func (r Registration) deployment() (client.Object, func() error, error) {
	meta := metav1.ObjectMeta{Name: r.Name}
	if r.Custom != nil && r.Custom.Older {
		object := &gardencorev1beta1.ControllerDeployment{ObjectMeta: meta}
		return object, func() error { return r.Custom.inFields(object, r) }, nil
	}
	object := &gardencorev1.ControllerDeployment{ObjectMeta: meta}
	if r.Custom != nil {
		return object, func() error { return r.Custom.inAnnotations(object, r) }, nil
	}
	helm, err := r.helm()
	if err != nil {
		return nil, nil, err
	}
	return object, func() error {
		delete(object.Annotations, gardencorev1.MigrationControllerDeploymentType)
		delete(object.Annotations, gardencorev1.MigrationControllerDeploymentProviderConfig)
		object.Helm, object.InjectGardenKubeconfig, object.Resources = helm, new(r.InjectGardenKubeconfig), r.References
		return nil
	}, nil
}

func (c *Custom) inFields(object *gardencorev1beta1.ControllerDeployment, r Registration) error {
	if len(r.References) > 0 {
		return errors.New("core/v1beta1 has no resources")
	}
	object.Type, object.ProviderConfig = c.Type, runtime.RawExtension{Raw: c.Config}
	object.InjectGardenKubeconfig = new(r.InjectGardenKubeconfig)
	return nil
}

func (c *Custom) inAnnotations(object *gardencorev1.ControllerDeployment, r Registration) error {
	object.Helm, object.InjectGardenKubeconfig, object.Resources = nil, new(r.InjectGardenKubeconfig), r.References
	metav1.SetMetaDataAnnotation(&object.ObjectMeta, gardencorev1.MigrationControllerDeploymentType, c.Type)
	if delete(object.Annotations, gardencorev1.MigrationControllerDeploymentProviderConfig); c.Config != nil {
		metav1.SetMetaDataAnnotation(&object.ObjectMeta, gardencorev1.MigrationControllerDeploymentProviderConfig, string(c.Config))
	}
	return nil
}

func (r Registration) helm() (*gardencorev1.HelmControllerDeployment, error) {
	helm := &gardencorev1.HelmControllerDeployment{RawChart: r.Chart}
	if len(r.Chart) == 0 {
		var err error
		if helm.RawChart, err = PackChart(r.Name, map[string]string{"configmap.yaml": configMap}); err != nil {
			return nil, fmt.Errorf("packing a chart: %w", err)
		}
	}
	if r.Values != nil {
		raw, err := json.Marshal(r.Values)
		if err != nil {
			return nil, fmt.Errorf("encoding values: %w", err)
		}
		helm.Values = &apiextensionsv1.JSON{Raw: raw}
	}
	return helm, nil
}

const configMap = `apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ .Release.Name }}
  namespace: {{ .Release.Namespace }}
data:
  image: {{ .Values.image | default "none" | quote }}
`

// PackChart packs a chart with the given files in its templates folder.
func PackChart(name string, templates map[string]string) ([]byte, error) {
	return PackChartWithValues(name, "", templates)
}

// PackChartWithValues packs a chart with a file of default values, too.
func PackChartWithValues(name, values string, templates map[string]string) ([]byte, error) {
	files := map[string]string{"Chart.yaml": "apiVersion: v2\nname: " + name + "\nversion: 0.1.0\n", "values.yaml": values}
	for path, content := range templates {
		files["templates/"+path] = content
	}
	return PackFiles(name, files)
}

// PackFiles packs files like a chart, even if they are none. The same files give the same archive.
func PackFiles(name string, files map[string]string) ([]byte, error) {
	var archive bytes.Buffer
	compressed := gzip.NewWriter(&archive)
	packed := tar.NewWriter(compressed)
	for _, path := range slices.Sorted(maps.Keys(files)) {
		header := &tar.Header{Name: name + "/" + path, Mode: 0o644, Size: int64(len(files[path]))}
		if err := packed.WriteHeader(header); err != nil {
			return nil, err
		}
		if _, err := packed.Write([]byte(files[path])); err != nil {
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
