package example

import (
	"context"
	"fmt"
	"slices"

	"github.com/trellis-garden/trellis/apis/example/v1alpha1"
	"github.com/trellis-garden/trellis/apis/example/validation"
	"github.com/trellis-garden/trellis/internal/cloud"
	cloudexample "github.com/trellis-garden/trellis/internal/cloud/example"
	"github.com/trellis-garden/trellis/internal/contract"
	"github.com/trellis-garden/trellis/internal/infrastructure"
)

// reconciliation has the inputs and results of one reconciliation or deletion. No field is written by a task and used by another one that may run at
// the same time.
type reconciliation struct {
	cloud  *cloudexample.Session
	shoot  *infrastructure.Shoot
	config *v1alpha1.InfrastructureConfig // nil in a deletion

	// networks and subnets are those of the shoot. There may be several if a request took effect after its timeout.
	networks []cloudexample.Network
	subnets  []cloudexample.Subnet
	// network and subnet are those that the shoot uses.
	network cloudexample.Network
	subnet  cloudexample.Subnet
}

// reconcileGraph reads what exists in one wave of parallel requests, and creates what is missing.
func (rec *reconciliation) reconcileGraph() *contract.Graph {
	graph := contract.NewGraph("reconciling infrastructure")
	observed := rec.addObservation(graph)
	network := graph.Add(contract.Task{Name: "ensuring network", Do: rec.ensureNetwork, After: observed})
	graph.Add(contract.Task{Name: "ensuring subnet", Do: rec.ensureSubnet, After: []contract.TaskID{network}})
	return graph
}

// deleteGraph reads what exists and deletes it. A network is deleted after its subnets.
func (rec *reconciliation) deleteGraph() *contract.Graph {
	graph := contract.NewGraph("deleting infrastructure")
	observed := rec.addObservation(graph)
	subnets := graph.Add(contract.Task{Name: "deleting subnet", Do: rec.deleteSubnets, After: observed})
	graph.Add(contract.Task{Name: "deleting network", Do: rec.deleteNetworks, After: []contract.TaskID{subnets}})
	return graph
}

func (rec *reconciliation) addObservation(graph *contract.Graph) []contract.TaskID {
	owned := cloudexample.Filter{Owner: rec.shoot.UID}
	networks := graph.Add(contract.Task{Name: "reading networks", Do: func(ctx context.Context) (err error) {
		rec.networks, err = rec.cloud.Networks().List(ctx, owned)
		return err
	}})
	subnets := graph.Add(contract.Task{Name: "reading subnets", Do: func(ctx context.Context) (err error) {
		rec.subnets, err = rec.cloud.Subnets().List(ctx, owned)
		return err
	}})
	return []contract.TaskID{networks, subnets}
}

func (rec *reconciliation) ensureNetwork(ctx context.Context) (err error) {
	if len(rec.networks) > 0 {
		rec.network = rec.networks[0]
		return nil
	}
	rec.network, err = rec.cloud.Networks().Create(ctx, cloudexample.Network{Name: rec.shoot.TechnicalID, Owner: rec.shoot.UID})
	return err
}

func (rec *reconciliation) ensureSubnet(ctx context.Context) (err error) {
	i := slices.IndexFunc(rec.subnets, func(subnet cloudexample.Subnet) bool { return subnet.Network == rec.network.ID })
	if i >= 0 {
		rec.subnet = rec.subnets[i]
		before := &v1alpha1.InfrastructureConfig{Networks: v1alpha1.Networks{Workers: rec.subnet.CIDR}}
		return configurationProblems(validation.ValidateInfrastructureConfigUpdate(before, rec.config, configPath()))
	}
	rec.subnet, err = rec.cloud.Subnets().Create(ctx, cloudexample.Subnet{
		Name: rec.shoot.TechnicalID, Owner: rec.shoot.UID, Network: rec.network.ID, CIDR: rec.config.Networks.Workers,
	})
	return err
}

func (rec *reconciliation) deleteSubnets(ctx context.Context) error {
	for _, subnet := range rec.subnets {
		if err := rec.cloud.Subnets().Delete(ctx, subnet.ID); err != nil && !cloud.IsNotFound(err) {
			return fmt.Errorf("subnet %s: %w", subnet.ID, err)
		}
	}
	return nil
}

func (rec *reconciliation) deleteNetworks(ctx context.Context) error {
	for _, network := range rec.networks {
		if err := rec.cloud.Networks().Delete(ctx, network.ID); err != nil && !cloud.IsNotFound(err) {
			return fmt.Errorf("network %s: %w", network.ID, err)
		}
	}
	return nil
}

// outcome is the result of a successful reconciliation.
func (rec *reconciliation) outcome() *infrastructure.Outcome {
	status := v1alpha1.NewInfrastructureStatus()
	status.Network, status.Subnet = rec.network.ID, rec.subnet.ID
	outcome := &infrastructure.Outcome{ProviderStatus: status, State: status, Nodes: []string{rec.subnet.CIDR}}
	if networking := rec.shoot.Cluster.Shoot.Spec.Networking; networking != nil {
		outcome.Pods, outcome.Services = ranges(networking.Pods), ranges(networking.Services)
	}
	return outcome
}

// ranges returns an optional range as a list.
func ranges(cidr *string) []string {
	if cidr == nil {
		return nil
	}
	return []string{*cidr}
}
