package infrastructure

import (
	"context"
	"fmt"
	"time"

	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/trellis-garden/trellis/internal/contract"
	"github.com/trellis-garden/trellis/internal/observer"
)

// Names of the observations of Infrastructures.
const (
	// ObservationDrift compares every field of every resource that the driver creates with what the last reconciliation has written. The message says what
	// differs, and whether the next reconciliation repairs it or a user must.
	ObservationDrift = "drift"
	// ObservationQuota compares the account's quotas with what the shoot's workers need at their maximum, beyond what they use.
	ObservationQuota = "quota"
	// ObservationOrphans looks for resources in the account that are left from an earlier shoot of the same technical ID, or are the shoot's own but not in
	// use, and for load balancers and volumes that Kubernetes' components of an earlier shoot have created.
	ObservationOrphans = "orphans"
	// ObservationDeletionBlockers looks for what would block the deletion of the Infrastructure, and does not belong to the shoot.
	ObservationDeletionBlockers = "deletion-blockers"
	// ObservationCredentials checks that the credentials are accepted, and do not expire soon.
	ObservationCredentials = "credentials"
)

// Observations are what a secondary controller reports of Infrastructures.
func Observations() []observer.Observation {
	return []observer.Observation{
		{Name: ObservationDrift, Condition: "InfrastructureWithoutDrift"},
		{Name: ObservationQuota, Condition: "InfrastructureQuotaSufficient"},
		{Name: ObservationOrphans, Condition: "InfrastructureWithoutOrphans"},
		{Name: ObservationDeletionBlockers, Condition: "InfrastructureDeletable"},
		{Name: ObservationCredentials, Condition: "InfrastructureCredentialsValid"},
	}
}

// Observer observes Infrastructures of one type for a secondary controller. It reads the cloud and changes nothing. It is shared by concurrent observations
// of different shoots.
//
// What an observer MUST do:
//   - read the cloud through observer.Shared, with one wave of reads for all shoots of an account;
//   - compare with reads after since only, the time of the primary's last success;
//   - name the resource, the field, both values, and who repairs the difference; never the content of a Secret.
type Observer interface {
	Observe(ctx context.Context, input *ObserverInput) (observer.Result, error)
}

// ObserverInput is the input of one observation of one Infrastructure.
type ObserverInput struct {
	*Shoot
	// Wanted, Since and Now are those of observer.Input.
	Wanted     observer.Names
	Since, Now time.Time
	// Namespaces returns the namespaces of all Infrastructures in this seed, of any type: the technical IDs of its shoots. It makes no request. A shoot of
	// another seed is not among them.
	Namespaces func(context.Context) (map[string]bool, error)
}

// AddObserver adds the secondary controller for Infrastructures to a manager. observers holds an Observer for each type in options.Types.
func AddObserver(mgr manager.Manager, observers map[string]Observer, options observer.Options) error {
	if err := contract.RequireDrivers("infrastructure observer", observers, options.Types); err != nil {
		return err
	}
	return observer.Add(mgr, observer.Observer[*extensionsv1alpha1.Infrastructure]{
		Name:         "infrastructure",
		New:          func() *extensionsv1alpha1.Infrastructure { return &extensionsv1alpha1.Infrastructure{} },
		Observations: Observations(),
		Observe: func(ctx context.Context, input observer.Input[*extensionsv1alpha1.Infrastructure]) (observer.Result, error) {
			one, found := observers[input.Object.Spec.Type]
			if !found {
				return observer.Result{}, fmt.Errorf("no observer for type %q", input.Object.Spec.Type)
			}
			shoot, err := newShoot(ctx, input.Reader, input.Object, input.Cluster)
			if err != nil {
				return observer.Result{}, err
			}
			shoot.Log = input.Log
			return one.Observe(ctx, &ObserverInput{
				Shoot: shoot, Wanted: input.Wanted, Since: input.Since, Now: input.Now,
				Namespaces: func(ctx context.Context) (map[string]bool, error) { return namespaces(ctx, mgr.GetCache()) },
			})
		},
	}, options)
}

// namespaces returns the namespaces of all Infrastructures.
func namespaces(ctx context.Context, reader client.Reader) (map[string]bool, error) {
	list := &extensionsv1alpha1.InfrastructureList{}
	if err := reader.List(ctx, list, client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("listing Infrastructures: %w", err)
	}
	found := make(map[string]bool, len(list.Items))
	for i := range list.Items {
		found[list.Items[i].Namespace] = true
	}
	return found, nil
}
