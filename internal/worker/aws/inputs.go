package aws

import (
	"fmt"
	"slices"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	awsv1alpha1 "github.com/trellis-garden/trellis/apis/aws/v1alpha1"
	"github.com/trellis-garden/trellis/internal/cloud"
	"github.com/trellis-garden/trellis/internal/contract"
	"github.com/trellis-garden/trellis/internal/fielderrors"
	"github.com/trellis-garden/trellis/internal/worker"
)

// inputs are a shoot's decoded documents. Those that cannot be decoded are empty.
type inputs struct {
	shoot   *worker.Shoot
	profile *awsv1alpha1.CloudProfileConfig
	infra   *awsv1alpha1.InfrastructureStatus
	// infraErr is the error of decoding the Infrastructure's status.
	infraErr error
}

// unknown stands in a class for what is not known in a deletion. The machine driver requires it to have a value, also to delete machines.
const unknown = "unknown"

func poolPath(i int) *field.Path { return field.NewPath("spec", "pools").Index(i) }
func infraPath() *field.Path     { return field.NewPath("spec", "infrastructureProviderStatus") }
func profilePath() *field.Path   { return field.NewPath("cloudProfile", "spec", "providerConfig") }

// inputsOf returns the inputs of a reconciliation, which it decodes once.
func inputsOf(shoot *worker.Shoot) (*inputs, field.ErrorList) {
	return contract.DecodeOnce(shoot.Decoded, func() (*inputs, field.ErrorList) { return decodeInputs(shoot) })
}

// decodeInputs decodes the documents of the whole shoot. Each error names its document.
func decodeInputs(shoot *worker.Shoot) (*inputs, field.ErrorList) {
	var errs field.ErrorList
	in := &inputs{shoot: shoot}
	var err error
	if in.profile, err = awsv1alpha1.DecodeCloudProfileConfig(shoot.Cluster.CloudProfile.Spec.ProviderConfig); err != nil {
		in.profile = &awsv1alpha1.CloudProfileConfig{}
		errs = append(errs, field.Invalid(profilePath(), field.OmitValueType{}, err.Error()))
	}
	if in.infra, in.infraErr = awsv1alpha1.DecodeInfrastructureStatus(shoot.Worker.Spec.InfrastructureProviderStatus); in.infraErr != nil {
		in.infra = awsv1alpha1.NewInfrastructureStatus()
	}
	return in, errs
}

// configurationProblems turns field errors into one error.
func configurationProblems(errs field.ErrorList) error {
	if len(errs) == 0 {
		return nil
	}
	return cloud.Errorf(cloud.Configuration, "the configuration cannot be read: %w", fielderrors.Error(errs))
}

// securityGroup returns the ID of the security group of nodes.
func (in *inputs) securityGroup() (string, error) {
	found := in.infra.VPC.FindSecurityGroup(awsv1alpha1.PurposeNodes)
	if found == nil {
		return unknown, in.missing(infraPath().Child("vpc", "securityGroups"), "security group of nodes")
	}
	return found.ID, nil
}

// subnet returns the ID of the subnet of nodes in a zone.
func (in *inputs) subnet(zone string) (string, error) {
	found := in.infra.VPC.FindSubnet(awsv1alpha1.PurposeNodes, zone)
	if found == nil {
		return unknown, in.missing(infraPath().Child("vpc", "subnets"), fmt.Sprintf("subnet of nodes in zone %q", zone))
	}
	return found.ID, nil
}

// instanceProfile returns the name of the shoot's instance profile.
func (in *inputs) instanceProfile() (string, error) {
	found := in.infra.IAM.FindInstanceProfile(awsv1alpha1.PurposeNodes)
	if found == nil {
		return unknown, in.missing(infraPath().Child("iam", "instanceProfiles"), "instance profile of nodes")
	}
	return found.Name, nil
}

// missing is the error for what the Infrastructure's status lacks. Its next reconciliation resolves that, so the error has no kind.
func (in *inputs) missing(path *field.Path, what string) error {
	if in.infraErr != nil {
		return fmt.Errorf("decoding %s: %w", infraPath(), in.infraErr)
	}
	return fmt.Errorf("%s: the Infrastructure has not reported the %s yet, which machines require", path, what)
}

// usesIPv6 reports whether machines have IPv6 addresses, alone or besides those of IPv4.
func (in *inputs) usesIPv6() bool {
	return slices.Contains(in.ipFamilies(), gardencorev1beta1.IPFamilyIPv6)
}

// usesIPv6Only reports whether machines have no IPv4 addresses.
func (in *inputs) usesIPv6Only() bool { return gardencorev1beta1.IsIPv6SingleStack(in.ipFamilies()) }

func (in *inputs) ipFamilies() []gardencorev1beta1.IPFamily {
	if networking := in.shoot.Cluster.Shoot.Spec.Networking; networking != nil {
		return networking.IPFamilies
	}
	return nil
}

func value[T any](pointer *T) T {
	if pointer == nil {
		var zero T
		return zero
	}
	return *pointer
}
