package example

import (
	"encoding/json"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/trellis-garden/trellis/apis/example/v1alpha1"
	cloudexample "github.com/trellis-garden/trellis/internal/cloud/example"
	"github.com/trellis-garden/trellis/internal/contract"
	"github.com/trellis-garden/trellis/internal/controlplane"
)

// inputs are what the components depend on, out of a shoot's documents.
type inputs struct {
	credentials cloudexample.Credentials
	// network is the ID of the nodes' network. It is empty until the Infrastructure has reported it.
	network string
	region  string
	// clusterName is the components' name of the cluster: the namespace.
	clusterName string
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
	in := &inputs{region: shoot.ControlPlane.Spec.Region, clusterName: shoot.ControlPlane.Namespace}
	_, err := v1alpha1.DecodeControlPlaneConfig(shoot.ControlPlane.Spec.ProviderConfig)
	addError(field.NewPath("spec", "providerConfig"), err)
	in.credentials, err = cloudexample.ParseCredentials(shoot.Credentials)
	addError(field.NewPath("spec", "secretRef"), err)
	profile, err := decodeProfile(shoot.Cluster)
	addError(field.NewPath("cloudProfile", "spec", "providerConfig"), err)
	if err == nil {
		in.credentials = in.credentials.WithURL(profile.URL)
	}
	// Users cannot correct what the Infrastructure reports, so a damaged status counts as an incomplete one.
	if status, err := v1alpha1.DecodeInfrastructureStatus(shoot.ControlPlane.Spec.InfrastructureProviderStatus); err == nil {
		in.network = status.Network
	}
	return in, errs
}

func decodeProfile(cluster *contract.Cluster) (*v1alpha1.CloudProfileConfig, error) {
	return v1alpha1.DecodeCloudProfileConfig(cluster.CloudProfile.Spec.ProviderConfig)
}

// The configuration of all components in the seed.
const (
	cloudConfigName   = "cloud-config"
	cloudConfigFolder = "/etc/cloud"
	cloudConfigFile   = "cloud.json"
)

// cloudConfig is a JSON file, so values with any characters are escaped.
func (in *inputs) cloudConfig() (controlplane.Config, error) {
	content, err := json.Marshal(map[string]string{
		"url": in.credentials.URL, "key": in.credentials.Key, "region": in.region, "network": in.network, "cluster": in.clusterName,
	})
	return controlplane.Config{Name: cloudConfigName, Files: map[string][]byte{cloudConfigFile: content}}, err
}
