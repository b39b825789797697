package example

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/trellis-garden/trellis/apis/example/v1alpha1"
	cloudexample "github.com/trellis-garden/trellis/internal/cloud/example"
	"github.com/trellis-garden/trellis/internal/worker"
)

// Type is the type of Workers that the driver reconciles.
const Type = "example"

// Driver reconciles Workers of type example.
type Driver struct {
	sessions *cloudexample.Sessions
}

var _ worker.Driver = (*Driver)(nil)

// New returns a driver that uses the sessions.
func New(sessions *cloudexample.Sessions) *Driver {
	return &Driver{sessions: sessions}
}

// Validate implements worker.Driver.
func (d *Driver) Validate(shoot *worker.Shoot) field.ErrorList {
	_, errs := decodeCloudProfile(shoot)
	for i := range shoot.Worker.Spec.Pools {
		_, poolErrs := decodePool(shoot, i)
		errs = append(errs, poolErrs...)
	}
	return errs
}

// Prepare implements worker.Driver. It creates missing groups. Recorded groups that no pool needs stay recorded, for Cleanup.
func (d *Driver) Prepare(ctx context.Context, shoot *worker.Shoot) (runtime.Object, error) {
	if _, err := decodeInfrastructure(shoot); err != nil {
		return nil, err
	}
	status, err := v1alpha1.DecodeWorkerStatus(shoot.Worker.Status.ProviderStatus)
	if err != nil {
		return nil, fmt.Errorf("reading the recorded providerStatus: %w", err)
	}
	pools := poolsWithGroup(shoot)
	if len(pools) == 0 {
		return status, nil
	}
	groups, err := d.groups(shoot)
	if err != nil {
		return nil, err
	}
	if status.Groups, err = groups.ensure(ctx, pools); err != nil {
		return nil, err
	}
	return status, nil
}

// Cleanup implements worker.Driver. While there are pools, it deletes the recorded groups that no pool needs, and makes no request if there are none.
// In a deletion it deletes all groups of the shoot, recorded or not.
func (d *Driver) Cleanup(ctx context.Context, shoot *worker.Shoot, status runtime.Object) (runtime.Object, error) {
	recorded, err := decodeStatus(status)
	if err != nil {
		return nil, err
	}
	unused := unusedGroups(recorded, poolsWithGroup(shoot))
	if len(unused) == 0 && !shoot.Deleting {
		return recorded, nil
	}
	groups, err := d.groups(shoot)
	if err != nil {
		return nil, err
	}
	if shoot.Deleting {
		return v1alpha1.NewWorkerStatus(), groups.removeAll(ctx)
	}
	for _, pool := range unused {
		if err := groups.remove(ctx, recorded.Groups[pool]); err != nil {
			return nil, err
		}
		delete(recorded.Groups, pool)
	}
	return recorded, nil
}

// groups returns the shoot's groups. It makes no request yet.
func (d *Driver) groups(shoot *worker.Shoot) (*groups, error) {
	profile, errs := decodeCloudProfile(shoot)
	if err := configurationProblems(errs); err != nil {
		return nil, err
	}
	credentials, err := cloudexample.ParseCredentials(shoot.Credentials)
	if err != nil {
		ref := shoot.Worker.Spec.SecretRef
		return nil, fmt.Errorf("reading the cloud credentials in Secret %s/%s: %w", ref.Namespace, ref.Name, err)
	}
	session, err := d.sessions.Get(credentials.WithURL(profile.URL))
	if err != nil {
		return nil, err
	}
	return &groups{cloud: session.Groups(), owner: shoot.UID, prefix: shoot.TechnicalID + "-"}, nil
}
