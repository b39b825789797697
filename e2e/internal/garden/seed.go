package garden

import (
	"context"
	"fmt"
	"time"

	v1beta1helper "github.com/gardener/gardener/pkg/api/core/v1beta1/helper"
	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	gardenerutils "github.com/gardener/gardener/pkg/utils/gardener"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// SeedOptions describe a Seed. The types must be registered as primary for the kinds that they need, or gardener-apiserver refuses the Seed.
type SeedOptions struct {
	// Provider is the type of the seed's infrastructure; default "openstack".
	Provider string
	// DNS is the type of its DNS provider; default DNS.
	DNS string
	// Backup is the type of its backup provider; empty for none.
	Backup string
	// Extensions are the enabled types of the kind Extension.
	Extensions []string
	// Labels are the Seed's.
	Labels map[string]string
	// Ingress is its domain; default one below the name of the seed.
	Ingress string
	// Networks are the cluster's; default some that do not overlap with those of shoots.
	Networks gardencorev1beta1.SeedNetworks
}

// DNS is the default type of seeds' DNS providers.
const DNS = "unit"

// AddSeed creates a Seed with its namespace in the garden, as its gardenlet would. The seed's kinds must have been registered before.
func (g *Garden) AddSeed(ctx context.Context, name string, options SeedOptions) (*gardencorev1beta1.Seed, error) {
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: gardenerutils.ComputeGardenNamespace(name)}}
	if err := g.Client.Create(ctx, namespace); client.IgnoreAlreadyExists(err) != nil {
		return nil, fmt.Errorf("creating namespace %s: %w", namespace.Name, err)
	}
	seed := options.seed(name)
	if err := g.create(ctx, seed); err != nil {
		return nil, fmt.Errorf("creating Seed %s: %w", name, err)
	}
	before := seed.DeepCopy()
	seed.Status.ClusterIdentity = new(name + "-identity")
	if err := g.Client.Status().Patch(ctx, seed, client.MergeFrom(before)); err != nil {
		return nil, fmt.Errorf("identifying Seed %s: %w", name, err)
	}
	return seed, nil
}

// ReportGardenlet writes a gardenlet's part of a Seed's status: its identity, and that it is ready. StartGardenlet does not.
func (g *Garden) ReportGardenlet(ctx context.Context, seedName string) error {
	seed := &gardencorev1beta1.Seed{ObjectMeta: metav1.ObjectMeta{Name: seedName}}
	if err := g.Client.Get(ctx, client.ObjectKeyFromObject(seed), seed); err != nil {
		return fmt.Errorf("reading Seed %s: %w", seedName, err)
	}
	before := seed.DeepCopy()
	ready := v1beta1helper.GetOrInitConditionWithClock(clock.RealClock{}, seed.Status.Conditions, gardencorev1beta1.GardenletReady)
	ready = v1beta1helper.UpdatedConditionWithClock(clock.RealClock{}, ready, gardencorev1beta1.ConditionTrue, "GardenletReady", "Gardenlet is posting ready status.")
	seed.Status.Conditions = v1beta1helper.MergeConditions(seed.Status.Conditions, ready)
	seed.Status.Gardener = &gardencorev1beta1.Gardener{ID: "gardenlet", Name: "gardenlet", Version: GardenerVersion}
	if err := g.Client.Status().Patch(ctx, seed, client.StrategicMergeFrom(before)); err != nil {
		return fmt.Errorf("writing the status of Seed %s: %w", seedName, err)
	}
	return nil
}

func (o SeedOptions) seed(name string) *gardencorev1beta1.Seed {
	secret := corev1.ObjectReference{APIVersion: "v1", Kind: "Secret", Name: secretWithoutContent, Namespace: v1beta1constants.GardenNamespace}
	dns := orElse(o.DNS, DNS)
	seed := &gardencorev1beta1.Seed{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: o.Labels},
		Spec: gardencorev1beta1.SeedSpec{
			Provider: gardencorev1beta1.SeedProvider{Type: orElse(o.Provider, CloudProfile), Region: region, Zones: []string{zone}},
			Ingress: &gardencorev1beta1.Ingress{
				Domain: orElse(o.Ingress, "ingress."+name+".example.com"), Controller: gardencorev1beta1.IngressController{Kind: "nginx"},
			},
			DNS: gardencorev1beta1.SeedDNS{
				Provider: &gardencorev1beta1.SeedDNSProvider{Type: dns, CredentialsRef: &secret},
				Internal: &gardencorev1beta1.SeedDNSProviderConfig{Type: dns, Domain: "internal.example.com", CredentialsRef: secret},
			},
			Networks: o.Networks,
		},
	}
	if o.Networks.Pods == "" {
		seed.Spec.Networks = gardencorev1beta1.SeedNetworks{Pods: "10.0.0.0/16", Services: "10.1.0.0/16", Nodes: new("10.2.0.0/16")}
	}
	if o.Backup != "" {
		seed.Spec.Backup = &gardencorev1beta1.Backup{Provider: o.Backup, Region: new(region), CredentialsRef: &secret}
	}
	for _, extension := range o.Extensions {
		seed.Spec.Extensions = append(seed.Spec.Extensions, gardencorev1beta1.Extension{Type: extension})
	}
	return seed
}

func orElse(value, otherwise string) string {
	if value == "" {
		return otherwise
	}
	return value
}

// create creates an object whose references may be too new for the caches of gardener-apiserver, which refuses it until they are synced.
func (g *Garden) create(ctx context.Context, object client.Object) error {
	for end := time.Now().Add(admissionTimeout); ; {
		err := g.Client.Create(ctx, object)
		if !apierrors.IsForbidden(err) || time.Now().After(end) {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(50 * time.Millisecond):
		}
	}
}
