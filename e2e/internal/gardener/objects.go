package gardener

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

//go:embed manifests/garden.yaml
var gardenObjects []byte

// fieldOwner owns the fields of applied objects.
const fieldOwner = client.FieldOwner("landscape")

func (g *Garden) createObjects(ctx context.Context) error { return g.Apply(ctx, gardenObjects) }

// Apply applies manifests. For a moment API servers do not know each other yet, and admission plugins of gardener-apiserver do not know new objects:
// all failures but those of invalid objects are retried.
func (c *Cluster) Apply(ctx context.Context, manifests []byte, change ...func(*unstructured.Unstructured) error) error {
	objects, err := decode(manifests)
	if err != nil {
		return fmt.Errorf("decoding manifests: %w", err)
	}
	for _, object := range objects {
		for _, change := range change {
			if err := change(object); err != nil {
				return fmt.Errorf("changing %s %s: %w", object.GetKind(), object.GetName(), err)
			}
		}
		if err := c.apply(ctx, object); err != nil {
			return fmt.Errorf("applying %s %s to %s: %w", object.GetKind(), client.ObjectKeyFromObject(object), c.Name, err)
		}
	}
	return nil
}

func (c *Cluster) apply(ctx context.Context, object *unstructured.Unstructured) error {
	for end := time.Now().Add(admissionTimeout); ; {
		err := c.Client.Apply(ctx, client.ApplyConfigurationFromUnstructured(object), fieldOwner, client.ForceOwnership)
		if err == nil || apierrors.IsInvalid(err) || apierrors.IsBadRequest(err) || time.Now().After(end) {
			return err
		}
		select {
		case <-ctx.Done():
			return errors.Join(err, ctx.Err())
		case <-time.After(interval):
		}
	}
}

// decode returns the objects of manifests, without documents that are empty.
func decode(manifests []byte) ([]*unstructured.Unstructured, error) {
	decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(manifests), 4096)
	var objects []*unstructured.Unstructured
	for {
		object := &unstructured.Unstructured{}
		err := decoder.Decode(&object.Object)
		switch {
		case errors.Is(err, io.EOF):
			return objects, nil
		case err != nil:
			return nil, err
		case len(object.Object) > 0:
			objects = append(objects, object)
		}
	}
}
