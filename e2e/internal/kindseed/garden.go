package kindseed

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path"
	"path/filepath"

	v1beta1helper "github.com/gardener/gardener/pkg/api/core/v1beta1/helper"
	gardencorev1 "github.com/gardener/gardener/pkg/apis/core/v1"
	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/trellis-garden/trellis/charts"
	"github.com/trellis-garden/trellis/charts/registration"
	"github.com/trellis-garden/trellis/e2e/internal/garden"
)

// others is a registration for the other kinds that a seed and a shoot of type openstack need. Its chart is empty.
const others = "others"

func (env *Env) startGarden(ctx context.Context) error {
	dir, err := env.folder("garden")
	if err != nil {
		return err
	}
	env.Garden, err = garden.Start(ctx, env.Programs, dir)
	return err
}

// Registrations are those of our primary controllers, by the names of their binaries.
func Registrations() (map[string]registration.Entry, error) {
	catalogue, err := registration.Read(charts.Catalogue())
	if err != nil {
		return nil, fmt.Errorf("reading the catalogue of registrations: %w", err)
	}
	entries := map[string]registration.Entry{}
	for _, entry := range catalogue.Primaries().Registrations {
		entries[entry.Chart] = entry
	}
	return entries, nil
}

// Install registers all our primary controllers in the garden, adds the Seed and a Shoot that need them, and waits until gardenlet reports them healthy.
// Build must have built the images of that version. It may be called once.
func (env *Env) Install(ctx context.Context, version string) error {
	return env.install(ctx, "controllers "+version, func(ctx context.Context) error { return env.register(ctx, version) })
}

// InstallFolder is Install with the registrations of a folder, as a release has them, in one of their forms, e.g. "oci". Charts and images are pulled from
// where they say.
func (env *Env) InstallFolder(ctx context.Context, folder, form string) error {
	return env.install(ctx, "controllers of "+folder, func(ctx context.Context) error {
		entries, err := Registrations()
		if err != nil {
			return err
		}
		for _, entry := range entries {
			file := filepath.Join(folder, entry.Name, form+".yaml")
			content, err := os.ReadFile(file)
			if err != nil {
				return fmt.Errorf("reading a registration: %w", err)
			}
			if err := env.createObjects(ctx, file, content); err != nil {
				return err
			}
		}
		return nil
	})
}

func (env *Env) install(ctx context.Context, name string, register func(context.Context) error) error {
	return env.phase(ctx, name, func(ctx context.Context) error {
		entries, err := Registrations()
		if err != nil {
			return err
		}
		if err := register(ctx); err != nil {
			return err
		}
		if err := env.Garden.Register(ctx, otherResources()); err != nil {
			return err
		}
		if err := env.addSeed(ctx); err != nil {
			return err
		}
		for binary := range entries {
			if err := env.AwaitInstalled(ctx, binary); err != nil {
				return err
			}
		}
		return nil
	})
}

func (env *Env) addSeed(ctx context.Context) error {
	networks, err := env.networks(ctx)
	if err != nil {
		return err
	}
	if _, err := env.Garden.AddSeed(ctx, SeedName, garden.SeedOptions{Networks: networks}); err != nil {
		return err
	}
	if _, err := env.Garden.StartGardenlet(ctx, SeedName, env.Config); err != nil {
		return err
	}
	_, err = env.Garden.CreateShoot(ctx, garden.ShootOptions{Name: "needs", Seed: SeedName})
	return err
}

// register creates the manifests of our primary registrations that contain the chart, as an admin does.
func (env *Env) register(ctx context.Context, version string) error {
	catalogue, err := registration.Read(charts.Catalogue())
	if err != nil {
		return fmt.Errorf("reading the catalogue of registrations: %w", err)
	}
	// The repository is never read.
	files, err := registration.Generate(catalogue.Primaries(), registration.Options{Version: version, ChartRepository: "localhost/charts"})
	if err != nil {
		return fmt.Errorf("generating registrations: %w", err)
	}
	for _, file := range files {
		// The operator installs deployments of its own type; here gardenlet installs all.
		if path.Base(file.Path) != "rawchart.yaml" || path.Dir(file.Path) == catalogue.Installer.Name {
			continue
		}
		if err := env.createObjects(ctx, file.Path, file.Content); err != nil {
			return err
		}
	}
	return nil
}

// createObjects creates the objects of a file in the garden.
func (env *Env) createObjects(ctx context.Context, name string, content []byte) error {
	objects, err := decode(content)
	if err != nil {
		return fmt.Errorf("reading %s: %w", name, err)
	}
	for _, object := range objects {
		if err := env.Garden.Client.Create(ctx, object); err != nil {
			return fmt.Errorf("creating %s of %s: %w", object.GetKind(), name, err)
		}
	}
	return nil
}

// decode reads the documents of a YAML file.
func decode(content []byte) ([]*unstructured.Unstructured, error) {
	var objects []*unstructured.Unstructured
	decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(content), 4096)
	for {
		object := &unstructured.Unstructured{}
		switch err := decoder.Decode(&object.Object); {
		case errors.Is(err, io.EOF):
			return objects, nil
		case err != nil:
			return nil, err
		case len(object.Object) > 0: // a comment is a document, too
			objects = append(objects, object)
		}
	}
}

// ChangeDeployment changes the chart and the values of a controller's deployment, e.g. for an upgrade or more replicas. It does not wait.
func (env *Env) ChangeDeployment(ctx context.Context, binary string, change func(helm *gardencorev1.HelmControllerDeployment) error) error {
	name := RegistrationName(binary)
	deployment := &gardencorev1.ControllerDeployment{ObjectMeta: metav1.ObjectMeta{Name: name}}
	if err := env.Garden.Client.Get(ctx, client.ObjectKeyFromObject(deployment), deployment); err != nil {
		return fmt.Errorf("reading ControllerDeployment %s: %w", name, err)
	}
	before := deployment.DeepCopy()
	if err := change(deployment.Helm); err != nil {
		return err
	}
	if err := env.Garden.Client.Patch(ctx, deployment, client.MergeFrom(before)); err != nil {
		return fmt.Errorf("changing ControllerDeployment %s: %w", name, err)
	}
	return nil
}

// SetValues merges values into the top level of a controller's values. It does not wait.
func (env *Env) SetValues(ctx context.Context, binary string, values map[string]any) error {
	return env.ChangeDeployment(ctx, binary, func(helm *gardencorev1.HelmControllerDeployment) error {
		all := map[string]any{}
		if err := json.Unmarshal(helm.Values.Raw, &all); err != nil {
			return fmt.Errorf("reading the values of %s: %w", binary, err)
		}
		maps.Copy(all, values)
		raw, err := json.Marshal(all)
		helm.Values = &apiextensionsv1.JSON{Raw: raw}
		return err
	})
}

// Upgrade changes a controller's chart to that of another version, which may be older. It does not wait.
func (env *Env) Upgrade(ctx context.Context, binary, version string) error {
	return env.ChangeDeployment(ctx, binary, func(helm *gardencorev1.HelmControllerDeployment) (err error) {
		helm.RawChart, err = charts.Archive(binary, version)
		return err
	})
}

// Installation reads the ControllerInstallation of a controller; it is nil if there is none.
func (env *Env) Installation(ctx context.Context, binary string) (*gardencorev1beta1.ControllerInstallation, error) {
	name := RegistrationName(binary)
	list := &gardencorev1beta1.ControllerInstallationList{}
	if err := env.Garden.Client.List(ctx, list, client.MatchingFields{"spec.registrationRef.name": name}); err != nil {
		return nil, fmt.Errorf("listing the installations of %s: %w", name, err)
	}
	if len(list.Items) == 0 {
		return nil, nil //nolint:nilnil // the comment says what nil is
	}
	return &list.Items[0], nil
}

// AwaitInstalled waits until gardenlet reports a controller as installed, healthy and not progressing, which it requires before it reconciles
// a shoot.
func (env *Env) AwaitInstalled(ctx context.Context, binary string) error {
	var found *gardencorev1beta1.ControllerInstallation
	err := env.waitUntil(ctx, func(ctx context.Context) (_ bool, err error) {
		found, err = env.Installation(ctx, binary)
		return found != nil && v1beta1helper.IsControllerInstallationSuccessful(*found), err
	})
	if err != nil && found != nil {
		return fmt.Errorf("waiting for the installation of %s: %w; it says %v", binary, err, describeConditions(found.Status.Conditions))
	}
	if err != nil {
		return fmt.Errorf("waiting for the installation of %s: %w", binary, err)
	}
	return nil
}

func describeConditions(conditions []gardencorev1beta1.Condition) []string {
	var all []string
	for _, condition := range conditions {
		all = append(all, fmt.Sprintf("%s=%s: %s", condition.Type, condition.Status, condition.Message))
	}
	return all
}

// Namespace is the namespace of an installed controller in the seed.
func (env *Env) Namespace(ctx context.Context, binary string) (string, error) {
	found, err := env.Installation(ctx, binary)
	if err != nil {
		return "", err
	}
	if found == nil {
		return "", fmt.Errorf("%s is not installed", binary)
	}
	return v1beta1constants.GardenRoleExtension + "-" + found.Name, nil
}
