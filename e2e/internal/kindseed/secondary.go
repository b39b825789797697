package kindseed

import (
	"context"
	"fmt"
	"path"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/trellis-garden/trellis/charts"
	"github.com/trellis-garden/trellis/charts/registration"
)

// RegisterSecondary creates the manifests of the registration of a secondary controller that contain the chart, with values besides its own, for seeds with
// labels. Build must have built the image of that version.
func (env *Env) RegisterSecondary(ctx context.Context, name, version string, values map[string]any, seedLabels map[string]string) error {
	catalogue, err := registration.Read(charts.Catalogue())
	if err != nil {
		return fmt.Errorf("reading the catalogue of registrations: %w", err)
	}
	// The repository is never read.
	files, err := registration.Generate(catalogue, registration.Options{Version: version, ChartRepository: "localhost/charts"})
	if err != nil {
		return fmt.Errorf("generating registrations: %w", err)
	}
	for _, file := range files {
		if path.Base(file.Path) != "rawchart.yaml" || path.Base(path.Dir(file.Path)) != name {
			continue
		}
		objects, err := decode(file.Content)
		if err != nil {
			return fmt.Errorf("reading %s: %w", file.Path, err)
		}
		for _, object := range objects {
			if err := configure(object, values, seedLabels); err != nil {
				return err
			}
			if err := env.Garden.Client.Create(ctx, object); err != nil {
				return fmt.Errorf("creating %s of %s: %w", object.GetKind(), file.Path, err)
			}
		}
		return nil
	}
	return fmt.Errorf("there is no registration %s", name)
}

// configure adds values to a ControllerDeployment, and a selector to a ControllerRegistration.
func configure(object *unstructured.Unstructured, values map[string]any, seedLabels map[string]string) error {
	if object.GetKind() == "ControllerRegistration" {
		return unstructured.SetNestedStringMap(object.Object, seedLabels, "spec", "deployment", "seedSelector", "matchLabels")
	}
	for name, value := range values {
		if err := unstructured.SetNestedField(object.Object, value, "helm", "values", name); err != nil {
			return err
		}
	}
	return nil
}
