package landscape

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	gardencorev1 "github.com/gardener/gardener/pkg/apis/core/v1"
	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	operatorv1alpha1 "github.com/gardener/gardener/pkg/apis/operator/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/util/yaml"
)

// ReadManifests reads files, and all .yaml and .yml files below folders, as they are applied to a virtual garden, or written by
// kubectl get --output=yaml. Of an object that is there several times the first counts. Extensions of gardener-operator stand for
// the registrations that it makes of them; all else that a Garden does not hold is passed over.
func ReadManifests(paths ...string) (*Garden, error) {
	m, err := newManifests()
	if err != nil {
		return nil, err
	}
	for _, path := range paths {
		err := filepath.WalkDir(path, func(file string, entry fs.DirEntry, err error) error {
			extension := filepath.Ext(file)
			if err != nil || entry.IsDir() || file != path && extension != ".yaml" && extension != ".yml" {
				return err
			}
			content, err := os.ReadFile(file) //nolint:gosec // files of whoever runs the check
			if err != nil {
				return err
			}
			if err := m.file(content); err != nil {
				return fmt.Errorf("%s: %w", file, err)
			}
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("reading manifests: %w", err)
		}
	}
	for i := range m.garden.Seeds {
		m.garden.Domains[m.garden.Seeds[i].Name] = domainsOfManifest(&m.garden.Seeds[i])
	}
	return m.garden, nil
}

// domainsOfManifest takes domains from the seed alone: Secrets are in no repository.
func domainsOfManifest(seed *gardencorev1beta1.Seed) Domains {
	var domains Domains
	if internal := seed.Spec.DNS.Internal; internal != nil {
		domains.Internal = &Domain{Name: internal.Domain, Provider: internal.Type}
	} else {
		domains.Unknown = "DNSRecords of shoots: unknown. The seed names no domains (spec.dns.internal, spec.dns.defaults)"
	}
	for _, domain := range seed.Spec.DNS.Defaults {
		domains.Defaults = append(domains.Defaults, Domain{Name: domain.Domain, Provider: domain.Type})
	}
	return domains
}

// manifests collects objects.
type manifests struct {
	decoder runtime.Decoder
	garden  *Garden
	seen    map[string]bool
}

func newManifests() (*manifests, error) {
	scheme := runtime.NewScheme()
	builder := runtime.NewSchemeBuilder(AddToScheme, operatorv1alpha1.AddToScheme)
	if err := builder.AddToScheme(scheme); err != nil {
		return nil, err
	}
	return &manifests{
		decoder: serializer.NewCodecFactory(scheme).UniversalDeserializer(),
		garden:  &Garden{Domains: map[string]Domains{}}, seen: map[string]bool{},
	}, nil
}

func (m *manifests) file(content []byte) error {
	documents := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(content), 4<<10)
	for {
		var document runtime.RawExtension
		switch err := documents.Decode(&document); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
		if err := m.document(document.Raw); err != nil {
			return err
		}
	}
}

func (m *manifests) document(raw []byte) error {
	if len(raw) == 0 || bytes.Equal(raw, []byte("null")) {
		return nil
	}
	object, kind, err := m.decoder.Decode(raw, nil, nil)
	switch {
	case runtime.IsNotRegisteredError(err) || runtime.IsMissingKind(err) || runtime.IsMissingVersion(err):
		return nil // a kind that says nothing about registrations, or no manifest
	case err != nil:
		return err
	}
	if list, ok := object.(*corev1.List); ok {
		for _, item := range list.Items {
			if err := m.document(item.Raw); err != nil {
				return err
			}
		}
		return nil
	}
	if named, ok := object.(metav1.Object); ok {
		id := fmt.Sprintf("%s %s/%s", kind.Kind, named.GetNamespace(), named.GetName())
		if m.seen[id] {
			return nil
		}
		m.seen[id] = true
	}
	m.add(object)
	return nil
}

func (m *manifests) add(object runtime.Object) {
	g := m.garden
	switch o := object.(type) {
	case *gardencorev1beta1.ControllerRegistration:
		g.addRegistration(*o)
	case *gardencorev1.ControllerDeployment:
		g.Deployments = append(g.Deployments, *o)
	case *gardencorev1beta1.ControllerDeployment:
		g.Deployments = append(g.Deployments, inV1(o))
	case *gardencorev1beta1.ControllerInstallation:
		g.Installations = append(g.Installations, *o)
	case *gardencorev1beta1.Seed:
		g.Seeds = append(g.Seeds, *o)
	case *gardencorev1beta1.Shoot:
		g.Shoots = append(g.Shoots, *o)
	case *gardencorev1beta1.CloudProfile:
		g.CloudProfiles = append(g.CloudProfiles, *o)
	case *gardencorev1beta1.BackupBucket:
		g.BackupBuckets = append(g.BackupBuckets, *o)
	case *gardencorev1beta1.BackupEntry:
		g.BackupEntries = append(g.BackupEntries, *o)
	case *operatorv1alpha1.Extension:
		g.addExtension(o)
	}
}

// inV1 does what the API server does with types that are not its own (gardener/pkg/apis/core/v1, conversion_controllerdeployment.go).
func inV1(o *gardencorev1beta1.ControllerDeployment) gardencorev1.ControllerDeployment {
	converted := gardencorev1.ControllerDeployment{ObjectMeta: *o.ObjectMeta.DeepCopy()}
	if o.Type != "" && o.Type != gardencorev1beta1.ControllerDeploymentTypeHelm {
		metav1.SetMetaDataAnnotation(&converted.ObjectMeta, gardencorev1.MigrationControllerDeploymentType, o.Type)
		metav1.SetMetaDataAnnotation(&converted.ObjectMeta, gardencorev1.MigrationControllerDeploymentProviderConfig, string(o.ProviderConfig.Raw))
	}
	return converted
}

// addRegistration lets one registration be given as itself and as Extension.
func (g *Garden) addRegistration(r gardencorev1beta1.ControllerRegistration) {
	if !slices.ContainsFunc(g.Registrations, func(known gardencorev1beta1.ControllerRegistration) bool { return known.Name == r.Name }) {
		g.Registrations = append(g.Registrations, r)
	}
}

// addExtension does what gardener-operator does (gardener/pkg/utils/gardener/operator, ControllerRegistrationForExtension).
func (g *Garden) addExtension(e *operatorv1alpha1.Extension) {
	if e.Spec.Deployment == nil || e.Spec.Deployment.ExtensionDeployment == nil || e.Spec.Deployment.ExtensionDeployment.Helm == nil {
		return // admission alone
	}
	deployment := e.Spec.Deployment.ExtensionDeployment
	g.addRegistration(gardencorev1beta1.ControllerRegistration{
		ObjectMeta: metav1.ObjectMeta{Name: e.Name, Labels: e.Labels},
		Spec: gardencorev1beta1.ControllerRegistrationSpec{
			Resources:  e.Spec.Resources,
			Deployment: &gardencorev1beta1.ControllerRegistrationDeployment{Policy: deployment.Policy, SeedSelector: deployment.SeedSelector},
		},
	})
}
