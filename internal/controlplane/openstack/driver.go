package openstack

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/client"

	openstackv1alpha1 "github.com/trellis-garden/trellis/apis/openstack/v1alpha1"
	"github.com/trellis-garden/trellis/internal/cloud"
	"github.com/trellis-garden/trellis/internal/controlplane"
	"github.com/trellis-garden/trellis/internal/controlplane/calico"
	"github.com/trellis-garden/trellis/internal/controlplane/component"
	"github.com/trellis-garden/trellis/internal/fielderrors"
)

// Type is the provider type that the driver serves.
const Type = "openstack"

// Driver describes a shoot's control plane on OpenStack. It has no state.
type Driver struct{}

var _ controlplane.Driver = (*Driver)(nil)

// New returns the driver.
func New() *Driver { return &Driver{} }

// References implements controlplane.Driver: the user may give credentials for Manila only.
func (d *Driver) References(shoot *controlplane.Shoot) []string {
	config, err := openstackv1alpha1.DecodeControlPlaneConfig(shoot.ControlPlane.Spec.ProviderConfig)
	if err != nil {
		return nil
	}
	if name := manilaReference(config); name != "" {
		return []string{name}
	}
	return nil
}

// Validate implements controlplane.Driver.
func (d *Driver) Validate(shoot *controlplane.Shoot) field.ErrorList {
	in, errs := inputsOf(shoot)
	if len(errs) > 0 {
		return errs
	}
	if in.checkInfrastructure() != nil {
		return nil // Plan says so: it is nothing that the user could correct
	}
	return in.validate(shoot)
}

// Plan implements controlplane.Driver.
func (d *Driver) Plan(shoot *controlplane.Shoot) (*controlplane.Plan, error) {
	in, errs := inputsOf(shoot)
	if len(errs) > 0 {
		return nil, cloud.Errorf(cloud.Configuration, "the configuration cannot be read: %w", fielderrors.Error(errs))
	}
	if err := in.checkInfrastructure(); err != nil {
		return nil, err
	}
	configs, err := in.configs()
	if err != nil {
		return nil, fmt.Errorf("writing the configuration of the components: %w", err)
	}
	drivers, err := in.csiDrivers()
	if err != nil {
		return nil, fmt.Errorf("configuring the storage drivers: %w", err)
	}
	manila, err := in.manilaShootObjects()
	if err != nil {
		return nil, fmt.Errorf("configuring Manila: %w", err)
	}
	var (
		policy []client.Object
		stale  []controlplane.NodeCondition
	)
	if in.routesPods {
		shoot := calico.Shoot{NetworkType: in.networkType, MutatingPolicies: in.mutatingPolicies}
		policy, stale = shoot.Objects(), shoot.StaleNodeConditions()
	}
	return &controlplane.Plan{
		Configs:             configs,
		Certificates:        []controlplane.Certificate{{Name: ccmCertificate, Service: ccmName}},
		Components:          []component.Component{in.cloudControllerManager()},
		CSIDrivers:          drivers,
		ShootObjects:        slices.Concat(ccmRBAC(), manila, policy),
		StorageClasses:      in.storageClasses(),
		SnapshotClasses:     in.snapshotClasses(),
		Retired:             []client.Object{retiredBinding()},
		StaleNodeConditions: stale,
		Messages:            in.messages(),
	}, nil
}

// configs are the files that components in the seed mount.
func (in *inputs) configs() ([]controlplane.Config, error) {
	ccm, err := in.ccmConfig()
	if err != nil {
		return nil, err
	}
	cinder, err := in.cinderConfig()
	if err != nil {
		return nil, err
	}
	return []controlplane.Config{ccm, cinder}, nil
}

// messages describe what is accepted for existing shoots only.
func (in *inputs) messages() []string {
	messages := in.featureGates().Messages("cloudControllerManager.featureGates")
	if !in.hasManila() {
		return messages
	}
	if in.manilaCredentials == nil {
		messages = append(messages, "every user of the shoot who may read Secrets in kube-system can read the credentials of its infrastructure: "+
			"give Manila credentials of its own, of the same project (storage.csiManila.credentialsRef)")
	}
	if zones := in.zonesWithoutClass(); len(zones) > 0 {
		messages = append(messages, "no storage class of Manila for the zones "+strings.Join(zones, ", ")+
			", whose names cannot be part of one: use the class "+manilaClass+"-auto")
	}
	return messages
}
