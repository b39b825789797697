package openstack

import (
	"fmt"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/trellis-garden/trellis/apis/networking"
	openstackv1alpha1 "github.com/trellis-garden/trellis/apis/openstack/v1alpha1"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/auth"
	"github.com/trellis-garden/trellis/internal/contract"
	"github.com/trellis-garden/trellis/internal/controlplane"
)

// inputs are a shoot's decoded documents.
type inputs struct {
	config  *openstackv1alpha1.ControlPlaneConfig
	profile *openstackv1alpha1.CloudProfileConfig
	// infrastructure is empty if it is missing or cannot be decoded; infrastructureErr is the error.
	infrastructure    *openstackv1alpha1.InfrastructureStatus
	infrastructureErr error
	// credentials are complete, with Keystone's URL and CA bundle.
	credentials auth.Credentials
	// manilaCredentials are the user's for Manila only; nil if there are none.
	manilaCredentials *auth.Credentials
	// isNew is true while the shoot is being created.
	isNew bool
	// technicalID is the shoot's name in the cloud, clusterName the components' name of the cluster: the namespace. They only differ for self-hosted shoots.
	technicalID, clusterName string
	region                   string
	// kubernetesVersion is the shoot's, e.g. "1.36.3".
	kubernetesVersion string
	// mutatingPolicies is the version in which the shoot serves MutatingAdmissionPolicies, e.g. "admissionregistration.k8s.io/v1"; empty if it does not.
	mutatingPolicies string
	// networkType is the network plugin's, e.g. "calico"; empty if there is none.
	networkType string
	// routesPods is true if the network plugin does not encapsulate packets, so that routes are needed.
	routesPods bool
	// podRanges are in CIDR notation.
	podRanges []string
	// zones are the nodes' zones, sorted. nodeRange is the nodes' IPv4 range in CIDR notation.
	zones     []string
	nodeRange string
}

func configPath() *field.Path { return field.NewPath("spec", "providerConfig") }
func statusPath() *field.Path { return field.NewPath("spec", "infrastructureProviderStatus") }
func profilePath() *field.Path {
	return field.NewPath("cloudProfile", "spec", "providerConfig")
}

// inputsOf returns the inputs of a reconciliation, which it decodes once.
func inputsOf(shoot *controlplane.Shoot) (*inputs, field.ErrorList) {
	return contract.DecodeOnce(shoot.Decoded, func() (*inputs, field.ErrorList) { return decodeInputs(shoot) })
}

// decodeInputs decodes all documents. Each error names the document.
func decodeInputs(shoot *controlplane.Shoot) (*inputs, field.ErrorList) {
	var errs field.ErrorList
	addError := func(path *field.Path, err error) {
		if err != nil {
			errs = append(errs, field.Invalid(path, field.OmitValueType{}, err.Error()))
		}
	}
	in := &inputs{
		technicalID: shoot.TechnicalID, clusterName: shoot.ControlPlane.Namespace, region: shoot.ControlPlane.Spec.Region,
		isNew: shoot.New, kubernetesVersion: shoot.Cluster.Shoot.Spec.Kubernetes.Version, podRanges: shoot.PodRanges,
	}
	in.mutatingPolicies = contract.MutatingAdmissionPolicies(shoot.Cluster.Shoot.Spec.Kubernetes)
	var err error
	in.config, err = openstackv1alpha1.DecodeControlPlaneConfig(shoot.ControlPlane.Spec.ProviderConfig)
	addError(configPath(), err)
	in.infrastructure, in.infrastructureErr = openstackv1alpha1.DecodeInfrastructureStatus(shoot.ControlPlane.Spec.InfrastructureProviderStatus)
	if in.infrastructureErr != nil {
		in.infrastructure = openstackv1alpha1.NewInfrastructureStatus()
	}
	in.zones = zonesOf(shoot.Cluster.Shoot)
	in.nodeRange = nodeRangeOf(in.infrastructure, shoot)
	in.profile, err = openstackv1alpha1.DecodeCloudProfileConfig(shoot.Cluster.CloudProfile.Spec.ProviderConfig)
	addError(profilePath(), err)
	if networks := shoot.Cluster.Shoot.Spec.Networking; networks != nil && networks.Type != nil {
		in.networkType = *networks.Type
		in.routesPods, err = networking.OverlaySwitchedOff(in.networkType, networks.ProviderConfig, Type)
		addError(field.NewPath("shoot", "spec", "networking", "providerConfig"), err)
	}
	if in.profile == nil {
		return in, errs
	}
	keystone, err := keystoneOf(in.profile, in.region)
	addError(profilePath(), err)
	if err != nil {
		return in, errs
	}
	in.credentials, err = completeCredentials(shoot.Credentials, keystone)
	addError(field.NewPath("spec", "secretRef"), err)
	if in.config != nil {
		in.manilaCredentials, err = decodeManilaCredentials(shoot, in, keystone)
		addError(configPath().Child("storage", "csiManila", "credentialsRef"), err)
	}
	return in, errs
}

// checkInfrastructure reports what is missing in the Infrastructure's status.
func (in *inputs) checkInfrastructure() error {
	if in.infrastructureErr != nil {
		return fmt.Errorf("%w: decoding %s: %w", controlplane.ErrInfrastructureIncomplete, statusPath(), in.infrastructureErr)
	}
	_, err := in.nodeSubnet()
	return err
}

// completeCredentials returns the login with Keystone's URL.
func completeCredentials(data map[string][]byte, keystone auth.Keystone) (auth.Credentials, error) {
	credentials, err := auth.ParseCredentials(data)
	if err != nil {
		return credentials, err
	}
	credentials = credentials.WithKeystone(keystone)
	return credentials, credentials.Validate()
}

// decodeManilaCredentials decodes the user's credentials for Manila only. They are for the same cloud.
func decodeManilaCredentials(shoot *controlplane.Shoot, in *inputs, keystone auth.Keystone) (*auth.Credentials, error) {
	name := manilaReference(in.config)
	if name == "" {
		return nil, nil
	}
	data, found := shoot.Referenced[name]
	if !found {
		return nil, fmt.Errorf("the Secret that spec.resources of the Shoot calls %q does not exist: create it, or correct the name", name)
	}
	credentials, err := completeCredentials(data, keystone)
	if err != nil {
		return nil, err
	}
	return &credentials, nil
}

func keystoneOf(profile *openstackv1alpha1.CloudProfileConfig, region string) (auth.Keystone, error) {
	keystone, err := profile.Keystone(region)
	return auth.Keystone{URL: keystone.URL, CACert: value(keystone.CACert), ForceInsecure: profile.KeyStoneForceInsecure}, err
}

func value[T any](pointer *T) T {
	if pointer == nil {
		var zero T
		return zero
	}
	return *pointer
}
