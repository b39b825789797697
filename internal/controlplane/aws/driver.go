package aws

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/trellis-garden/trellis/internal/cloud"
	"github.com/trellis-garden/trellis/internal/controlplane"
	"github.com/trellis-garden/trellis/internal/controlplane/calico"
	"github.com/trellis-garden/trellis/internal/controlplane/component"
	"github.com/trellis-garden/trellis/internal/controlplane/csi"
	"github.com/trellis-garden/trellis/internal/controlplane/rbac"
	"github.com/trellis-garden/trellis/internal/definitions"
	"github.com/trellis-garden/trellis/internal/fielderrors"
)

// Type is the provider type that the driver serves.
const Type = "aws"

// Driver describes a shoot's control plane on AWS. It is made by New, and keeps nothing of a shoot.
type Driver struct {
	// loadBalancerCRDs are encoded at their first use. They are shared, and never changed.
	loadBalancerCRDs func() ([]client.Object, error)
}

var _ controlplane.Driver = (*Driver)(nil)

// New returns the driver.
func New() *Driver { return &Driver{loadBalancerCRDs: definitions.Once(loadBalancerCRDs)} }

// References implements controlplane.Driver: the configuration refers to no Secrets.
func (d *Driver) References(*controlplane.Shoot) []string { return nil }

// Validate implements controlplane.Driver.
func (d *Driver) Validate(shoot *controlplane.Shoot) field.ErrorList {
	in, errs := inputsOf(shoot)
	if len(errs) > 0 {
		return errs
	}
	return append(in.validate(), validateNginxAddon(shoot.Cluster.Shoot)...)
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
	cloudConfig, err := in.cloudConfig()
	if err != nil {
		return nil, fmt.Errorf("writing the configuration of the components: %w", err)
	}
	credentials, err := in.credentialsConfig()
	if err != nil {
		return nil, fmt.Errorf("writing the credentials of the components: %w", err)
	}
	plan := &controlplane.Plan{
		Configs:         append(credentials, cloudConfig),
		Certificates:    []controlplane.Certificate{{Name: ccmCertificate, Service: ccmName}},
		Components:      []component.Component{in.cloudControllerManager()},
		CSIDrivers:      []csi.Driver{in.ebs()},
		ShootObjects:    slices.Concat(rbac.CloudControllerManager(ccmRole, ccmName).Objects(), volumeModifierPermissions().Objects()),
		StorageClasses:  in.storageClasses(),
		SnapshotClasses: in.snapshotClasses(),
		Retired:         []client.Object{retiredBinding()},
		RetiredAccess:   []string{routeControllerName, ipamControllerName, balancerName},
		Messages:        in.messages(),
	}
	in.addNodeControllers(plan)
	in.addElasticFileSystem(plan)
	if err := in.addLoadBalancerController(plan, d.loadBalancerCRDs); err != nil {
		return nil, err
	}
	return plan, nil
}

// addNodeControllers adds the controllers for routes and for ranges of pods. Those that are not needed are left out: upstream's extension scales them to zero.
func (in *inputs) addNodeControllers(plan *controlplane.Plan) {
	if in.programsRoutes() {
		plan.Components = append(plan.Components, in.routeController())
		plan.EventReporters = append(plan.EventReporters, routeEvents())
		plan.ShootObjects = append(plan.ShootObjects, routeControllerPermissions().Objects()...)
		if in.overlayOff {
			routed := calico.Shoot{NetworkType: in.networkType, MutatingPolicies: in.mutatingPolicies}
			plan.ShootObjects = append(plan.ShootObjects, routed.Objects()...)
			plan.StaleNodeConditions = routed.StaleNodeConditions()
		}
	}
	if in.givesPodRanges() {
		plan.Components = append(plan.Components, in.ipamController())
		plan.ShootObjects = append(plan.ShootObjects, ipamControllerPermissions().Objects()...)
	}
}
