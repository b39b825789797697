package network

import (
	"context"
	"fmt"
	"time"

	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"

	"github.com/trellis-garden/trellis/internal/cloud"
	"github.com/trellis-garden/trellis/internal/contract"
	"github.com/trellis-garden/trellis/internal/contract/images"
	"github.com/trellis-garden/trellis/internal/contract/managedresource"
	"github.com/trellis-garden/trellis/internal/fielderrors"
)

type reconciliation = contract.Reconciliation[*extensionsv1alpha1.Network]

// actuator implements the contract with the driver of the object's type.
type actuator struct {
	drivers map[string]Driver
	images  images.Vector
	// gateTimeout is Intervals.GateTimeout.
	gateTimeout time.Duration
}

var _ contract.Actuator[*extensionsv1alpha1.Network] = (*actuator)(nil)

// labelOwner marks the Secrets that hold the plugin's objects with the Network's name.
const labelOwner = "network.trellis.garden/owner"

// resourceShoot is the name of the ManagedResource with all objects in the shoot. It is upstream's: when a shoot moves between the extensions, the
// content changes and gardener-resource-manager deletes nothing that both have.
func resourceShoot(networkType string) string {
	return "extension-networking-" + networkType + "-config"
}

// resourceSeed is the name of the ManagedResource with the objects in the seed.
func resourceSeed(networkType string) string { return "extension-networking-" + networkType + "-seed" }

func newStore(rec *reconciliation) managedresource.Store {
	return managedresource.Store{
		Client: rec.Client, Namespace: rec.Object.Namespace, Labels: map[string]string{labelOwner: rec.Object.Name},
	}
}

// rendered is the input of a reconciliation.
type rendered struct {
	driver Driver
	shoot  *Shoot
	wanted *Rendering
}

// render calls the driver of the object's type, once the configuration of plugin and shoot is validated.
func (a *actuator) render(ctx context.Context, rec *reconciliation, resources managedresource.Store) (*rendered, error) {
	driver, ok := a.drivers[rec.Object.Spec.Type]
	if !ok {
		return nil, fmt.Errorf("no driver for type %q", rec.Object.Spec.Type)
	}
	shoot, err := readShoot(ctx, rec, a.images)
	if err != nil {
		return nil, err
	}
	if problems := driver.Validate(shoot); len(problems) > 0 {
		return nil, cloud.Errorf(cloud.Configuration, "the configuration cannot be fulfilled: %w", fielderrors.Error(problems))
	}
	if problems := incompatibilities(shoot, driver.Capabilities(shoot)); len(problems) > 0 {
		return nil, cloud.Errorf(cloud.Configuration, "the network plugin and the shoot do not agree: %w", fielderrors.Error(problems))
	}
	if driver.Capabilities(shoot).NeedsAPIServerHost && shoot.APIServerHost == "" {
		if shoot, err = a.waitForAPIServerHost(ctx, rec); err != nil {
			return nil, err
		}
	}
	if shoot.Deployed, err = readDeployed(ctx, rec, resources); err != nil {
		return nil, err
	}
	wanted, err := driver.Render(shoot)
	if err != nil {
		return nil, fmt.Errorf("rendering the network plugin: %w", err)
	}
	return &rendered{driver: driver, shoot: shoot, wanted: wanted}, nil
}

// waitForAPIServerHost reads the shoot again until the host name of the kube-apiserver is known: gardenlet may write it after it has requested the
// Network.
func (a *actuator) waitForAPIServerHost(ctx context.Context, rec *reconciliation) (shoot *Shoot, err error) {
	graph := contract.NewGraph("waiting for the name of the kube-apiserver")
	graph.Add(contract.Task{Name: "finding the name of the kube-apiserver", Do: func(ctx context.Context) error {
		return contract.WaitUntil(ctx, func(ctx context.Context) (string, error) {
			if rec.Cluster, err = contract.ReadCluster(ctx, rec.Client, rec.Object.Namespace); err != nil {
				return "", err
			}
			if shoot, err = readShoot(ctx, rec, a.images); err != nil {
				return "", err
			}
			if shoot.APIServerHost == "" {
				return "neither status.advertisedAddresses of the Shoot nor a DNSRecord tells it yet, and nodes without kube-proxy have no other way there", nil
			}
			return "", nil
		})
	}})
	err = rec.StateRecorder.Run(ctx, graph)
	return shoot, err
}

// readDeployed returns what is in the shoot. Nothing is in a shoot that was never reconciled. If the state is empty, another extension may have deployed
// something; if another extension was in charge since, the state is outdated.
func readDeployed(ctx context.Context, rec *reconciliation, resources managedresource.Store) (Deployed, error) {
	if rec.FirstAttempt {
		return Deployed{}, nil
	}
	fromUpstream, err := resources.FromUpstream(ctx, resourceShoot(rec.Object.Spec.Type))
	if err != nil {
		return Deployed{}, fmt.Errorf("finding out which extension deployed the plugin: %w", err)
	}
	if recorded := stateOf(rec.Object); len(recorded.Form) > 0 && !fromUpstream {
		return Deployed{Form: recorded.Form}, nil
	}
	objects, _, err := resources.Content(ctx, resourceShoot(rec.Object.Spec.Type))
	if err != nil {
		return Deployed{}, fmt.Errorf("reading what is deployed: %w", err)
	}
	return Deployed{Objects: objects}, nil
}
