package openstack

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"

	openstackv1alpha1 "github.com/trellis-garden/trellis/apis/openstack/v1alpha1"
	"github.com/trellis-garden/trellis/internal/cloud"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/auth"
	"github.com/trellis-garden/trellis/internal/contract"
	"github.com/trellis-garden/trellis/internal/fielderrors"
	"github.com/trellis-garden/trellis/internal/worker"
)

// inputs are a shoot's decoded documents. Those that cannot be decoded are empty.
type inputs struct {
	shoot   *worker.Shoot
	profile *openstackv1alpha1.CloudProfileConfig
	infra   *openstackv1alpha1.InfrastructureStatus
	// infraErr is the error of decoding the Infrastructure's status.
	infraErr error
	// configs are the configurations of the pools, in their order.
	configs []*openstackv1alpha1.WorkerConfig
}

func poolPath(i int) *field.Path { return field.NewPath("spec", "pools").Index(i) }
func infraPath() *field.Path     { return field.NewPath("spec", "infrastructureProviderStatus") }
func profilePath() *field.Path   { return field.NewPath("cloudProfile", "spec", "providerConfig") }

// inputsOf returns the inputs of a reconciliation, which it decodes once.
func inputsOf(shoot *worker.Shoot) (*inputs, field.ErrorList) {
	return contract.DecodeOnce(shoot.Decoded, func() (*inputs, field.ErrorList) { return decodeInputs(shoot) })
}

// decodeInputs decodes all documents. Each error names its document.
func decodeInputs(shoot *worker.Shoot) (*inputs, field.ErrorList) {
	var errs field.ErrorList
	unreadable := func(path *field.Path, err error) {
		errs = append(errs, field.Invalid(path, field.OmitValueType{}, err.Error()))
	}
	in := &inputs{shoot: shoot}
	var err error
	if in.profile, err = openstackv1alpha1.DecodeCloudProfileConfig(shoot.Cluster.CloudProfile.Spec.ProviderConfig); err != nil {
		in.profile = keystoneOnly(shoot)
		unreadable(profilePath(), err)
	}
	if in.infra, in.infraErr = openstackv1alpha1.DecodeInfrastructureStatus(shoot.Worker.Spec.InfrastructureProviderStatus); in.infraErr != nil {
		in.infra = openstackv1alpha1.NewInfrastructureStatus()
	}
	for i := range shoot.Worker.Spec.Pools {
		config, err := openstackv1alpha1.DecodeWorkerConfig(shoot.Worker.Spec.Pools[i].ProviderConfig)
		if err != nil {
			config = &openstackv1alpha1.WorkerConfig{}
			unreadable(poolPath(i).Child("providerConfig"), err)
		}
		in.configs = append(in.configs, config)
	}
	return in, errs
}

// keystoneOnly is the part of an invalid cloud profile that a deletion needs. Without Keystone, there is no login.
func keystoneOnly(shoot *worker.Shoot) *openstackv1alpha1.CloudProfileConfig {
	profile, err := openstackv1alpha1.DecodeKeystone(shoot.Cluster.CloudProfile.Spec.ProviderConfig)
	if err != nil {
		return &openstackv1alpha1.CloudProfileConfig{}
	}
	return profile
}

// checkInfrastructure reports what every machine needs and the Infrastructure's status lacks. Its next reconciliation resolves that.
func (in *inputs) checkInfrastructure() error {
	if in.infraErr != nil {
		return fmt.Errorf("decoding %s: %w", infraPath(), in.infraErr)
	}
	networks := infraPath().Child("networks")
	for _, required := range []struct {
		path    *field.Path
		present bool
		what    string
	}{
		{networks.Child("id"), in.infra.Networks.ID != "", "network"},
		{networks.Child("subnets"), len(in.subnets()) > 0, "subnet of nodes"},
		{infraPath().Child("securityGroups"), in.nodesGroup() != "", "security group of nodes"},
	} {
		if !required.present {
			return fmt.Errorf("%s: the Infrastructure has not reported the %s yet, which machines require", required.path, required.what)
		}
	}
	return nil
}

// configurationProblems turns field errors into one error.
func configurationProblems(errs field.ErrorList) error {
	if len(errs) == 0 {
		return nil
	}
	return cloud.Errorf(cloud.Configuration, "the configuration cannot be read: %w", fielderrors.Error(errs))
}

// credentials returns the account and the address of the login.
func (in *inputs) credentials() (auth.Credentials, error) {
	credentials, err := auth.ParseCredentials(in.shoot.Credentials)
	if err != nil {
		ref := in.shoot.Worker.Spec.SecretRef
		return credentials, fmt.Errorf("reading the cloud credentials in Secret %s/%s: %w", ref.Namespace, ref.Name, err)
	}
	keystone, err := in.profile.Keystone(in.shoot.Worker.Spec.Region)
	if err != nil {
		return credentials, cloud.Errorf(cloud.Configuration, "%s: %w", profilePath(), err)
	}
	credentials = credentials.WithKeystone(auth.Keystone{
		URL: keystone.URL, CACert: value(keystone.CACert), ForceInsecure: in.profile.KeyStoneForceInsecure,
	})
	return credentials, credentials.Validate()
}

// wantedGroups lists the server groups of pools, in the order of pools.
func (in *inputs) wantedGroups() []groupWant {
	var wants []groupWant
	for i, config := range in.configs {
		if policy := policyOf(config); policy != "" {
			wants = append(wants, groupWant{pool: in.shoot.Worker.Spec.Pools[i].Name, policy: policy})
		}
	}
	return wants
}

func policyOf(config *openstackv1alpha1.WorkerConfig) string {
	if config.ServerGroup == nil {
		return ""
	}
	return config.ServerGroup.Policy
}

// nodesGroup is the name of the shoot's security group, empty if the Infrastructure's status lacks it.
func (in *inputs) nodesGroup() string {
	for _, group := range in.infra.SecurityGroups {
		if group.Purpose == openstackv1alpha1.PurposeNodes {
			return group.Name
		}
	}
	return ""
}

// subnets are the IDs of the nodes' subnets, IPv4 before IPv6.
func (in *inputs) subnets() []string {
	var ids []string
	for _, purpose := range []openstackv1alpha1.Purpose{openstackv1alpha1.PurposeNodes, openstackv1alpha1.PurposeNodesIPv6} {
		for _, subnet := range in.infra.Networks.Subnets {
			if subnet.Purpose == purpose {
				ids = append(ids, subnet.ID)
			}
		}
	}
	return ids
}

// recordedGroup returns the server group that a pool uses. Earlier entries of the pool in the list are to be deleted.
func recordedGroup(dependencies []openstackv1alpha1.ServerGroupDependency, pool string) (openstackv1alpha1.ServerGroupDependency, error) {
	for _, last := range slices.Backward(dependencies) {
		if last.PoolName == pool {
			return last, nil
		}
	}
	return openstackv1alpha1.ServerGroupDependency{}, fmt.Errorf("no server group is recorded for pool %q", pool)
}

func value[T any](pointer *T) T {
	if pointer == nil {
		var zero T
		return zero
	}
	return *pointer
}
