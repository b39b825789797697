package landscape

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	gardencorev1 "github.com/gardener/gardener/pkg/apis/core/v1"
	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Garden is what is read of a virtual garden.
type Garden struct {
	Registrations []gardencorev1beta1.ControllerRegistration
	Deployments   []gardencorev1.ControllerDeployment
	Installations []gardencorev1beta1.ControllerInstallation
	Seeds         []gardencorev1beta1.Seed
	Shoots        []gardencorev1beta1.Shoot
	CloudProfiles []gardencorev1beta1.CloudProfile
	BackupBuckets []gardencorev1beta1.BackupBucket
	BackupEntries []gardencorev1beta1.BackupEntry
	// Domains are those of each seed's shoots, by the seed's name.
	Domains map[string]Domains
	// References tells of what ControllerDeployments refer to whether it is there. What could not be looked at is not in it.
	References map[Reference]bool
}

// selfHostedShoot returns the shoot whose cluster the seed is, nil for other seeds.
func (g *Garden) selfHostedShoot(seed *gardencorev1beta1.Seed) *gardencorev1beta1.Shoot {
	if _, selfHosted := seed.Labels[v1beta1constants.LabelSelfHostedShootCluster]; !selfHosted {
		return nil
	}
	for i := range g.Shoots {
		if shoot := &g.Shoots[i]; shoot.Namespace == v1beta1constants.GardenNamespace && shoot.Name == seed.Name {
			return shoot
		}
	}
	return nil
}

// AddToScheme registers what Read needs.
func AddToScheme(scheme *runtime.Scheme) error {
	builder := runtime.NewSchemeBuilder(gardencorev1.AddToScheme, gardencorev1beta1.AddToScheme, corev1.AddToScheme)
	return builder.AddToScheme(scheme)
}

// Read lists what Garden holds. Of Secrets and ConfigMaps it asks for metadata only: for seeds whose specification does not name the
// domains of their shoots, and for what ControllerDeployments refer to. That it may not is no error, but stands in Domains.Unknown, or is
// missing in References.
func Read(ctx context.Context, c client.Reader) (*Garden, error) {
	var (
		registrations gardencorev1beta1.ControllerRegistrationList
		deployments   gardencorev1.ControllerDeploymentList
		installations gardencorev1beta1.ControllerInstallationList
		seeds         gardencorev1beta1.SeedList
		shoots        gardencorev1beta1.ShootList
		cloudProfiles gardencorev1beta1.CloudProfileList
		buckets       gardencorev1beta1.BackupBucketList
		entries       gardencorev1beta1.BackupEntryList
	)
	for _, list := range []struct {
		name string
		into client.ObjectList
	}{
		{"controllerregistrations", &registrations},
		{"controllerdeployments", &deployments},
		{"controllerinstallations", &installations},
		{"seeds", &seeds},
		{"shoots", &shoots},
		{"cloudprofiles", &cloudProfiles},
		{"backupbuckets", &buckets},
		{"backupentries", &entries},
	} {
		if err := c.List(ctx, list.into); meta.IsNoMatchError(err) {
			return nil, fmt.Errorf("listing %s: this is no virtual garden, since it does not know them; take the kubeconfig of the virtual garden, "+
				"not that of its runtime cluster or of a seed: %w", list.name, err)
		} else if err != nil {
			return nil, fmt.Errorf("listing %s of all namespaces in the virtual garden: %w", list.name, err)
		}
	}
	g := &Garden{
		Registrations: registrations.Items, Deployments: deployments.Items, Installations: installations.Items,
		Seeds: seeds.Items, Shoots: shoots.Items, CloudProfiles: cloudProfiles.Items,
		BackupBuckets: buckets.Items, BackupEntries: entries.Items,
		Domains: map[string]Domains{},
	}
	for i := range g.Seeds {
		domains, err := readDomains(ctx, c, &g.Seeds[i])
		if err != nil {
			return nil, err
		}
		g.Domains[g.Seeds[i].Name] = domains
	}
	var err error
	if g.References, err = readReferences(ctx, c, g.Deployments); err != nil {
		return nil, err
	}
	return g, nil
}

// Annotations of the Secrets by which domains were given before seeds named them, as gardener/pkg/utils/gardener/dns.go has them.
const (
	annotationProvider = "dns.gardener.cloud/provider"
	annotationDomain   = "dns.gardener.cloud/domain"
	annotationPriority = "dns.gardener.cloud/domain-default-priority"
)

// readDomains takes the domains from the seed's specification, and what is not there from Secrets in the seed's namespace.
func readDomains(ctx context.Context, c client.Reader, seed *gardencorev1beta1.Seed) (Domains, error) {
	var domains Domains
	dns := seed.Spec.DNS
	if dns.Internal != nil {
		domains.Internal = &Domain{Name: dns.Internal.Domain, Provider: dns.Internal.Type}
	} else {
		found, unknown, err := domainsOfSecrets(ctx, c, seed.Name, v1beta1constants.GardenRoleInternalDomain)
		if err != nil {
			return Domains{}, err
		}
		domains.Unknown = unknown
		if len(found) > 0 {
			domains.Internal = &found[0]
		}
	}
	if len(dns.Defaults) > 0 {
		for _, domain := range dns.Defaults {
			domains.Defaults = append(domains.Defaults, Domain{Name: domain.Domain, Provider: domain.Type})
		}
		return domains, nil
	}
	found, unknown, err := domainsOfSecrets(ctx, c, seed.Name, v1beta1constants.GardenRoleDefaultDomain)
	if err != nil {
		return Domains{}, err
	}
	domains.Defaults = found
	if unknown != "" {
		domains.Unknown = unknown
	}
	return domains, nil
}

// domainsOfSecrets returns the domains in the order of their priority.
func domainsOfSecrets(ctx context.Context, c client.Reader, seed, role string) (found []Domain, unknown string, err error) {
	namespace := "seed-" + seed
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("SecretList"))
	err = c.List(ctx, list, client.InNamespace(namespace), client.MatchingLabels{v1beta1constants.GardenRole: role})
	switch {
	case apierrors.IsForbidden(err):
		return nil, fmt.Sprintf("DNSRecords of shoots: unknown. The seed names no domains (spec.dns.internal, spec.dns.defaults), and the Secrets "+
			"with them cannot be listed; allow to list secrets in namespace %s, of which metadata is read only", namespace), nil
	case err != nil:
		return nil, "", fmt.Errorf("listing secrets with DNS domains in namespace %s of the virtual garden: %w", namespace, err)
	}
	slices.SortStableFunc(list.Items, func(a, b metav1.PartialObjectMetadata) int { return priority(b) - priority(a) })
	for _, secret := range list.Items {
		found = append(found, Domain{Name: secret.Annotations[annotationDomain], Provider: secret.Annotations[annotationProvider]})
	}
	return found, "", nil
}

func priority(secret metav1.PartialObjectMetadata) int {
	value, err := strconv.Atoi(secret.Annotations[annotationPriority])
	if err != nil {
		return 0
	}
	return value
}
