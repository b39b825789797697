package openstack

import (
	"context"
	"fmt"
	"slices"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/trellis-garden/trellis/apis/openstack/v1alpha1"
	"github.com/trellis-garden/trellis/apis/openstack/validation"
	"github.com/trellis-garden/trellis/internal/admission"
)

func shootKind() schema.GroupVersionKind {
	return gardencorev1beta1.SchemeGroupVersion.WithKind("Shoot")
}

func shootWebhooks(garden admission.Garden, options Options) []admission.Webhook {
	webhook := admission.Webhook{
		Rules: admission.CreationsAndUpdates(gardencorev1beta1.GroupName, gardencorev1beta1.SchemeGroupVersion.Version, "shoots"),
		// A selector of Gardener's: whose shoots these are is looked at once more.
		ObjectSelector: admission.Labelled(v1beta1constants.LabelExtensionProviderTypePrefix, Type),
	}
	judging := webhook
	judging.Name, judging.Handler = "shoot."+Type, admission.Judge(shootKind(), shoots{garden}.judge)
	webhooks := []admission.Webhook{judging}
	if options.NodeLocalDNSWithoutTCP {
		defaulting := webhook
		defaulting.Name, defaulting.Mutates, defaulting.Handler = "shootdefaults."+Type, true, shootDefaults()
		webhooks = append(webhooks, defaulting)
	}
	return webhooks
}

// shoots judges Shoots.
type shoots struct {
	garden admission.Garden
}

// judge looks up what it needs step by step: mistakes that are mistakes in any garden are told without a look.
func (s shoots) judge(ctx context.Context, shoot, old *gardencorev1beta1.Shoot) (admission.Verdict, error) {
	if shoot.Spec.Provider.Type != Type || !validation.ShootNeedsValidation(shoot, old) {
		return admission.Verdict{}, nil
	}
	if errs := validation.ValidateShoot(shoot, old, validation.ShootSurroundings{}); len(errs) > 0 {
		return admission.Verdict{Errors: errs}, nil
	}
	spec, err := s.garden.CloudProfileSpec(ctx, shoot)
	if err != nil || spec == nil {
		return admission.Verdict{}, err // Gardener itself refuses a shoot without CloudProfile
	}
	profile, errs := readProfile(spec, shoot, old)
	if profile == nil {
		return admission.Verdict{Errors: errs}, nil
	}
	domain, err := s.domain(ctx, shoot, profile)
	if err != nil {
		return admission.Verdict{}, err
	}
	return admission.Verdict{Errors: validation.ValidateShoot(shoot, old, validation.ShootSurroundings{Profile: profile, Domain: domain})}, nil
}

// readProfile returns what the CloudProfile says about OpenStack. It may be broken; whoever chooses it hears of that. Shoots that live with
// it already are judged without.
func readProfile(spec *gardencorev1beta1.CloudProfileSpec, shoot, old *gardencorev1beta1.Shoot) (*v1alpha1.CloudProfileConfig, field.ErrorList) {
	profile, err := v1alpha1.DecodeCloudProfileConfig(spec.ProviderConfig)
	if err == nil {
		return profile, nil
	}
	reference, path := validation.CloudProfileOf(shoot)
	if old != nil {
		if before, _ := validation.CloudProfileOf(old); before == reference {
			return nil, nil
		}
	}
	return nil, field.ErrorList{field.Invalid(path, reference.Name,
		fmt.Sprintf("what this %s says about OpenStack cannot be used: choose another, or ask its admin to correct its spec.providerConfig: %v", reference.Kind, err))}
}

// domain returns the name of the Keystone domain of the shoot's project. It is empty when the credentials do not tell, and when the
// profile is the same for all: credentials are not read for nothing.
func (s shoots) domain(ctx context.Context, shoot *gardencorev1beta1.Shoot, profile *v1alpha1.CloudProfileConfig) (string, error) {
	if !slices.ContainsFunc(profile.Constraints.FloatingPools, func(pool v1alpha1.FloatingPool) bool { return pool.Domain != nil }) {
		return "", nil
	}
	credentials, err := s.garden.CredentialsOf(ctx, shoot)
	if err != nil {
		return "", err
	}
	return validation.DomainName(credentials), nil
}
