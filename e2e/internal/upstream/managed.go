package upstream

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	extensionssecretsmanager "github.com/gardener/gardener/extensions/pkg/util/secret/manager"
	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"github.com/gardener/gardener/pkg/extensions"
	gardenerutils "github.com/gardener/gardener/pkg/utils/gardener"
	kubernetesutils "github.com/gardener/gardener/pkg/utils/kubernetes"
	"github.com/gardener/gardener/pkg/utils/managedresources"
	"github.com/gardener/gardener/pkg/utils/secrets"
	secretsmanager "github.com/gardener/gardener/pkg/utils/secrets/manager"
	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/utils/clock"

	"github.com/trellis-garden/trellis/e2e/internal/repo"
)

const (
	cloudControllerManager = "cloud-controller-manager"
	authority              = "ca-provider-openstack-controlplane"
	identity               = "provider-openstack-controlplane"
)

// ControlPlane creates the shoot's control plane: certificates, and ManagedResources for seed and shoot. The CRDs of snapshots and the roles of
// storage drivers' sidecars in the shoot are left out.
func (s *Shoot) ControlPlane(ctx context.Context) error {
	certificate, err := s.certify(ctx)
	if err != nil {
		return err
	}
	if err := s.deployControlPlane(ctx, certificate); err != nil {
		return fmt.Errorf("leaving the control plane of shoot %s: %w", s.Name, err)
	}
	component := s.Gardenlet.ControlPlane(s.Shoot)
	if err := component.Deploy(ctx); err != nil {
		return err
	}
	object, err := s.Gardenlet.GetControlPlane(ctx, s.Shoot)
	if err != nil {
		return err
	}
	if err := s.markSucceeded(ctx, object, &object.Status.DefaultStatus, "controlplane", func() {}); err != nil {
		return err
	}
	return component.Wait(ctx)
}

// certify returns the name of the Secret with the certificate of the cloud-controller-manager.
func (s *Shoot) certify(ctx context.Context) (string, error) {
	cluster, err := extensions.GetCluster(ctx, s.Gardenlet.Seed, s.Namespace())
	if err != nil {
		return "", fmt.Errorf("reading the Cluster of shoot %s: %w", s.Name, err)
	}
	configs := []extensionssecretsmanager.SecretConfigWithOptions{
		{
			Config:  &secrets.CertificateSecretConfig{Name: authority, CommonName: authority, CertType: secrets.CACert},
			Options: []secretsmanager.GenerateOption{secretsmanager.Persist()},
		},
		{
			Config: &secrets.CertificateSecretConfig{
				Name: cloudControllerManager + "-server", CommonName: cloudControllerManager,
				DNSNames: kubernetesutils.DNSNamesForService(cloudControllerManager, s.Namespace()),
				CertType: secrets.ServerCert, SkipPublishingCACertificate: true,
			},
			Options: []secretsmanager.GenerateOption{secretsmanager.SignedByCA(authority)},
		},
	}
	manager, err := extensionssecretsmanager.SecretsManagerForCluster(
		ctx, logr.Discard(), clock.RealClock{}, s.Gardenlet.Seed, cluster, identity, configs)
	if err != nil {
		return "", fmt.Errorf("creating a secrets manager for shoot %s: %w", s.Name, err)
	}
	issued, err := extensionssecretsmanager.GenerateAllSecrets(ctx, manager, configs)
	if err != nil {
		return "", fmt.Errorf("making certificates of shoot %s: %w", s.Name, err)
	}
	return issued[cloudControllerManager+"-server"].Name, nil
}

func (s *Shoot) deployControlPlane(ctx context.Context, certificate string) error {
	for _, account := range []string{
		cloudControllerManager, "csi-attacher", "csi-provisioner", "csi-snapshotter", "csi-resizer", "csi-snapshot-controller",
	} {
		if err := gardenerutils.NewShootAccessSecret(account, s.Namespace()).Reconcile(ctx, s.Gardenlet.Seed); err != nil {
			return fmt.Errorf("asking for a token of %s: %w", account, err)
		}
	}
	cluster, err := extensions.GetCluster(ctx, s.Gardenlet.Seed, s.Namespace())
	if err != nil {
		return fmt.Errorf("reading the Cluster of shoot %s: %w", s.Name, err)
	}
	words := []string{
		"NAMESPACE", s.Namespace(), "CERTIFICATE:" + cloudControllerManager + "-server", certificate,
		"GENERIC-KUBECONFIG", cluster.ObjectMeta.Annotations[v1beta1constants.AnnotationKeyGenericTokenKubeconfigSecretName],
	}
	for _, resource := range []struct {
		name, file string
		overwrite  bool
	}{
		{"extension-controlplane-shoot-webhooks", "shoot-webhooks", false},
		{"extension-controlplane-shoot", "shoot", false},
		{"extension-controlplane-storageclasses", "storageclasses", true},
	} {
		content, err := file("controlplane", resource.file)
		if err != nil {
			return err
		}
		if err := s.manage(ctx, resource.name, content, resource.overwrite); err != nil {
			return err
		}
	}
	for name, of := range map[string]string{"extension-controlplane-configuration-seed": "configuration-seed", "extension-controlplane-seed": "seed"} {
		content, err := file("controlplane", of, words...)
		if err != nil {
			return err
		}
		if err := managedresources.CreateForSeed(
			ctx, s.Gardenlet.Seed, s.Namespace(), name, false, map[string][]byte{of: content}); err != nil {
			return fmt.Errorf("creating ManagedResource %s: %w", name, err)
		}
	}
	return nil
}

// Network creates the shoot's Calico: a ManagedResource for the shoot, and the objects in the seed. The CRDs of Calico's kinds and the rights of
// its components are left out.
func (s *Shoot) Network(ctx context.Context) error {
	content, err := file("network", "shoot")
	if err != nil {
		return err
	}
	if err := s.manage(ctx, "extension-networking-calico-config", content, false); err != nil {
		return err
	}
	if content, err = file("network", "seed"); err != nil {
		return err
	}
	decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(content), 4096)
	for {
		object := &unstructured.Unstructured{}
		if err := decoder.Decode(&object.Object); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return fmt.Errorf("reading what Calico has in the seed: %w", err)
		}
		if len(object.Object) == 0 {
			continue // a comment
		}
		object.SetNamespace(s.Namespace())
		if err := s.Gardenlet.Seed.Create(ctx, object); err != nil {
			return fmt.Errorf("creating %s %s: %w", object.GetKind(), object.GetName(), err)
		}
	}
	component, err := s.Gardenlet.Network(s.Shoot)
	if err != nil {
		return err
	}
	if err := component.Deploy(ctx); err != nil {
		return err
	}
	object, err := s.Gardenlet.GetNetwork(ctx, s.Shoot)
	if err != nil {
		return err
	}
	if err := s.markSucceeded(ctx, object, &object.Status.DefaultStatus, "network", func() {
		object.Status.IPFamilies = []extensionsv1alpha1.IPFamily{extensionsv1alpha1.IPFamilyIPv4}
	}); err != nil {
		return err
	}
	return component.Wait(ctx)
}

// manage creates a ManagedResource for the shoot's cluster.
func (s *Shoot) manage(ctx context.Context, name string, content []byte, overwrite bool) error {
	labels := map[string]string{v1beta1constants.ShootNoCleanup: "true"}
	if err := managedresources.Create(ctx, s.Gardenlet.Seed, s.Namespace(), name, nil, false, "",
		map[string][]byte{"chart": content}, new(false), labels, &overwrite); err != nil {
		return fmt.Errorf("creating ManagedResource %s: %w", name, err)
	}
	return nil
}

// file reads a file of upstream's objects, which the tests of a contract have, and replaces its variables.
func file(contract, name string, words ...string) ([]byte, error) {
	path, err := repo.Path("e2e", contract, "testdata", "upstream", name+".yaml")
	if err != nil {
		return nil, err
	}
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading what upstream leaves: %w", err)
	}
	return []byte(strings.NewReplacer(words...).Replace(string(content))), nil
}
