package example

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/trellis-garden/trellis/internal/cloud"
	"github.com/trellis-garden/trellis/internal/contract"
	"github.com/trellis-garden/trellis/internal/controlplane"
	"github.com/trellis-garden/trellis/internal/controlplane/component"
	"github.com/trellis-garden/trellis/internal/controlplane/csi"
	"github.com/trellis-garden/trellis/internal/controlplane/tuning"
	"github.com/trellis-garden/trellis/internal/fielderrors"
)

// Type is the provider type that the driver serves.
const Type = "example"

// Driver describes a shoot's control plane on the example cloud. It has no state.
type Driver struct{}

var _ controlplane.Driver = (*Driver)(nil)

// New returns the driver.
func New() *Driver { return &Driver{} }

// References implements controlplane.Driver: the configuration refers to no Secrets.
func (d *Driver) References(*controlplane.Shoot) []string { return nil }

// Validate implements controlplane.Driver.
func (d *Driver) Validate(shoot *controlplane.Shoot) field.ErrorList {
	_, errs := inputsOf(shoot)
	return errs
}

// Plan implements controlplane.Driver.
func (d *Driver) Plan(shoot *controlplane.Shoot) (*controlplane.Plan, error) {
	in, errs := inputsOf(shoot)
	if len(errs) > 0 {
		return nil, cloud.Errorf(cloud.Configuration, "the configuration cannot be read: %w", fielderrors.Error(errs))
	}
	if in.network == "" {
		return nil, fmt.Errorf("%w: spec.infrastructureProviderStatus names no network", controlplane.ErrInfrastructureIncomplete)
	}
	config, err := in.cloudConfig()
	if err != nil {
		return nil, fmt.Errorf("writing the configuration of the components: %w", err)
	}
	return &controlplane.Plan{
		Configs:         []controlplane.Config{config},
		Certificates:    []controlplane.Certificate{{Name: ccmCertificate, Service: ccmName}},
		Components:      []component.Component{in.cloudControllerManager()},
		CSIDrivers:      []csi.Driver{storageDriver()},
		ShootObjects:    ccmRBAC(),
		StorageClasses:  []storagev1.StorageClass{storageClass()},
		SnapshotClasses: []csi.SnapshotClass{{Name: "default", Driver: storageDriverName, Default: true, DeletionPolicy: "Delete"}},
	}, nil
}

// Tune implements controlplane.Driver: the cloud's part of Kubernetes is the cloud-controller-manager.
func (d *Driver) Tune(request *controlplane.TuneRequest) (*tuning.Tuning, error) {
	external := map[string]string{"--cloud-provider": "external"}
	if request.Scope == tuning.ControlPlane {
		return &tuning.Tuning{KubeControllerManager: tuning.Pod{SetFlags: external}}, nil
	}
	return &tuning.Tuning{Kubelet: tuning.Kubelet{SetFlags: external}}, nil
}

// CompleteCredentials implements controlplane.Driver: programs without the cloud profile use the same address of the cloud. A cloud profile that cannot be
// decoded has none. It is not refused here, since the objects that need it report that.
func (d *Driver) CompleteCredentials(secret *corev1.Secret, cluster *contract.Cluster) error {
	delete(secret.Data, "url")
	if profile, err := decodeProfile(cluster); err == nil {
		secret.Data["url"] = []byte(profile.URL)
	}
	return nil
}
