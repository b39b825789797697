package aws_test

import (
	"context"
	"errors"

	"k8s.io/apimachinery/pkg/util/validation/field"

	awsv1alpha1 "github.com/trellis-garden/trellis/apis/aws/v1alpha1"
	"github.com/trellis-garden/trellis/internal/cloud"
	cloudaws "github.com/trellis-garden/trellis/internal/cloud/aws"
	"github.com/trellis-garden/trellis/internal/cloud/aws/auth"
	"github.com/trellis-garden/trellis/internal/contract"
	"github.com/trellis-garden/trellis/internal/infrastructure"
)

// brokenDriver is a driver that works as long as nothing goes wrong and nobody has the same idea for a name.
type brokenDriver struct {
	driver    addressDriver
	want      map[string]int
	violation string
}

func brokenDrivers() map[string]brokenDriver {
	one := map[string]int{"elastic IP": 1}
	return map[string]brokenDriver{
		"a driver that ignores the tag of the cluster": {
			driver: addressDriver{find: findNamed, create: allocate, remove: release}, want: one, violation: "there are 0 of kind elastic IP instead of 1",
		},
		"a driver that creates without an intent, and goes by its records": {
			driver: addressDriver{find: findRecorded, create: allocate, remove: release}, want: one, violation: "there are 2 of kind elastic IP instead of 1",
		},
		"a driver that repeats a creation whose response was lost": {
			driver: addressDriver{find: findTagged, create: allocateUntilItWorks, remove: release}, want: one, violation: "there are 2 of kind elastic IP instead of 1",
		},
		"a driver that leaves the elastic IP": {
			driver: addressDriver{find: findTagged, create: allocate, remove: nothing}, want: one, violation: "left behind: elastic IP",
		},
	}
}

// addressDriver has a single elastic IP. What is wrong with it is one of its parts.
type addressDriver struct {
	sessions *cloudaws.Sessions
	find     func(context.Context, *cloudaws.Session, *infrastructure.Shoot) ([]cloudaws.Address, error)
	create   func(context.Context, *cloudaws.Session, cloudaws.Tags) (cloudaws.Address, error)
	remove   func(context.Context, *cloudaws.Session, string) error
}

var _ infrastructure.Driver = addressDriver{}

func (d addressDriver) Validate(*infrastructure.Shoot) field.ErrorList { return nil }

func (d addressDriver) Reconcile(ctx context.Context, shoot *infrastructure.Shoot, recorder contract.StateRecorder) (*infrastructure.Outcome, error) {
	session, found, err := d.findAddresses(ctx, shoot)
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		created, err := d.create(ctx, session, tagsOf(shoot))
		if err != nil {
			return nil, err
		}
		found = append(found, created)
		recorder.RecordState(stateOf(created.AllocationID))
	}
	return &infrastructure.Outcome{ProviderStatus: awsv1alpha1.NewInfrastructureStatus(), State: stateOf(found[0].AllocationID)}, nil
}

func (d addressDriver) Delete(ctx context.Context, shoot *infrastructure.Shoot, _ contract.StateRecorder) error {
	session, found, err := d.findAddresses(ctx, shoot)
	if err != nil {
		return err
	}
	for _, address := range found {
		if err := d.remove(ctx, session, address.AllocationID); err != nil && !cloud.IsNotFound(err) {
			return err
		}
	}
	return nil
}

func (d addressDriver) findAddresses(ctx context.Context, shoot *infrastructure.Shoot) (*cloudaws.Session, []cloudaws.Address, error) {
	credentials, err := auth.ParseCredentials(shoot.Credentials)
	if err != nil {
		return nil, nil, err
	}
	session, err := d.sessions.Get(ctx, credentials, shoot.Infrastructure.Spec.Region)
	if err != nil {
		return nil, nil, err
	}
	found, err := d.find(ctx, session, shoot)
	return session, found, err
}

// findTagged finds what the tag of the cluster says is the shoot's.
func findTagged(ctx context.Context, session *cloudaws.Session, shoot *infrastructure.Shoot) ([]cloudaws.Address, error) {
	return session.ListAddresses(ctx, cloudaws.Filter{Tags: tagsOf(shoot)})
}

// findNamed believes that a name belongs to whoever needs it.
func findNamed(ctx context.Context, session *cloudaws.Session, shoot *infrastructure.Shoot) ([]cloudaws.Address, error) {
	return session.ListAddresses(ctx, cloudaws.Filter{Tags: cloudaws.Tags{"Name": shoot.TechnicalID}})
}

// findRecorded believes that nothing exists but what is recorded.
func findRecorded(ctx context.Context, session *cloudaws.Session, shoot *infrastructure.Shoot) ([]cloudaws.Address, error) {
	recorded, err := awsv1alpha1.DecodeInfrastructureState(shoot.Infrastructure.Status.State)
	if err != nil || recorded == nil {
		return nil, err
	}
	return session.ListAddresses(ctx, cloudaws.Filter{IDs: []string{recorded.Data[addressKey()]}})
}

func allocate(ctx context.Context, session *cloudaws.Session, tags cloudaws.Tags) (cloudaws.Address, error) {
	return session.AllocateAddress(ctx, tags)
}

// allocateUntilItWorks takes a lost response for a call without effect.
func allocateUntilItWorks(ctx context.Context, session *cloudaws.Session, tags cloudaws.Tags) (cloudaws.Address, error) {
	var failures error
	for range 3 {
		created, err := session.AllocateAddress(ctx, tags)
		if err == nil || cloud.KindOf(err) != cloud.Unavailable {
			return created, err
		}
		failures = errors.Join(failures, err)
	}
	return cloudaws.Address{}, failures
}

func release(ctx context.Context, session *cloudaws.Session, id string) error {
	return session.ReleaseAddress(ctx, id)
}

func nothing(context.Context, *cloudaws.Session, string) error { return nil }

func tagsOf(shoot *infrastructure.Shoot) cloudaws.Tags {
	return cloudaws.Tags{"Name": shoot.TechnicalID, "kubernetes.io/cluster/" + shoot.TechnicalID: "owned"}
}

func addressKey() string { return awsv1alpha1.ZoneStateKey(zone, awsv1alpha1.ZoneKeyElasticIP) }

func stateOf(id string) *awsv1alpha1.InfrastructureState {
	state := awsv1alpha1.NewInfrastructureState()
	state.Data = map[string]string{addressKey(): id}
	return state
}
