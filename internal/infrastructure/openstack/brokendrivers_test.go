package openstack_test

import (
	"context"
	"encoding/json"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	openstackv1alpha1 "github.com/trellis-garden/trellis/apis/openstack/v1alpha1"
	"github.com/trellis-garden/trellis/internal/cloud"
	cloudopenstack "github.com/trellis-garden/trellis/internal/cloud/openstack"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/auth"
	"github.com/trellis-garden/trellis/internal/contract"
	"github.com/trellis-garden/trellis/internal/infrastructure"
)

// brokenDriver is a driver that works as long as nothing goes wrong and nobody has the same idea for a name.
type brokenDriver struct {
	build     func(*cloudopenstack.Sessions) infrastructure.Driver
	violation string
}

func brokenDrivers() map[string]brokenDriver {
	return map[string]brokenDriver{
		"a driver that creates before it records": {
			build: func(sessions *cloudopenstack.Sessions) infrastructure.Driver {
				return networkDriver{sessions: sessions, find: findRecorded, name: anyName}
			},
			violation: "there are 2 of kind network instead of 1",
		},
		"a driver that adopts by name": {
			build: func(sessions *cloudopenstack.Sessions) infrastructure.Driver {
				return networkDriver{sessions: sessions, find: findByName, name: technicalID}
			},
			violation: `foreign network "shoot--suite--one" {`,
		},
	}
}

// networkDriver makes a single network. What is wrong with it is how it finds the network again.
type networkDriver struct {
	sessions *cloudopenstack.Sessions
	find     func(context.Context, *cloudopenstack.Session, *infrastructure.Shoot) ([]cloudopenstack.Network, error)
	name     func(*infrastructure.Shoot) string
}

var _ infrastructure.Driver = networkDriver{}

func (d networkDriver) Validate(*infrastructure.Shoot) field.ErrorList { return nil }

func (d networkDriver) Reconcile(ctx context.Context, shoot *infrastructure.Shoot, recorder contract.StateRecorder) (*infrastructure.Outcome, error) {
	session, found, err := d.findNetworks(ctx, shoot)
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		created, err := session.CreateNetwork(ctx, cloudopenstack.NetworkCreate{Name: d.name(shoot)})
		if err != nil {
			return nil, err
		}
		found = append(found, created)
		recorder.RecordState(stateOf(created.ID))
	}
	status := &openstackv1alpha1.InfrastructureStatus{}
	status.APIVersion, status.Kind = openstackv1alpha1.GroupVersion().String(), "InfrastructureStatus"
	return &infrastructure.Outcome{ProviderStatus: status, State: stateOf(found[0].ID), Nodes: []string{"10.250.0.0/16"}}, nil
}

func (d networkDriver) Delete(ctx context.Context, shoot *infrastructure.Shoot, _ contract.StateRecorder) error {
	session, found, err := d.findNetworks(ctx, shoot)
	if err != nil {
		return err
	}
	for _, network := range found {
		err := session.DeleteNetwork(ctx, network.ID)
		if kind := cloud.KindOf(err); err != nil && kind != cloud.NotFound && kind != cloud.InUse {
			return err
		}
	}
	return nil
}

func (d networkDriver) findNetworks(ctx context.Context, shoot *infrastructure.Shoot) (*cloudopenstack.Session, []cloudopenstack.Network, error) {
	credentials, err := auth.ParseCredentials(shoot.Credentials)
	if err != nil {
		return nil, nil, err
	}
	profile, err := openstackv1alpha1.DecodeCloudProfileConfig(shoot.Cluster.CloudProfile.Spec.ProviderConfig)
	if err != nil {
		return nil, nil, err
	}
	credentials.AuthURL = profile.KeyStoneURL
	session, err := d.sessions.Get(ctx, credentials, shoot.Infrastructure.Spec.Region)
	if err != nil {
		return nil, nil, err
	}
	found, err := d.find(ctx, session, shoot)
	return session, found, err
}

// findRecorded believes that nothing exists but what is recorded.
func findRecorded(ctx context.Context, session *cloudopenstack.Session, shoot *infrastructure.Shoot) ([]cloudopenstack.Network, error) {
	state := shoot.Infrastructure.Status.State
	if state == nil {
		return nil, nil
	}
	var recorded openstackv1alpha1.InfrastructureState
	if err := json.Unmarshal(state.Raw, &recorded); err != nil {
		return nil, err
	}
	return session.ListNetworks(ctx, cloudopenstack.NetworkFilter{IDs: []string{recorded.Data[openstackv1alpha1.StateKeyNetwork]}})
}

// findByName believes that a name belongs to whoever needs it.
func findByName(ctx context.Context, session *cloudopenstack.Session, shoot *infrastructure.Shoot) ([]cloudopenstack.Network, error) {
	return session.ListNetworks(ctx, cloudopenstack.NetworkFilter{Name: technicalID(shoot)})
}

func technicalID(shoot *infrastructure.Shoot) string { return shoot.TechnicalID }

func anyName(*infrastructure.Shoot) string { return "nodes" }

func stateOf(network string) *openstackv1alpha1.InfrastructureState {
	return &openstackv1alpha1.InfrastructureState{
		TypeMeta: metav1.TypeMeta{APIVersion: openstackv1alpha1.GroupVersion().String(), Kind: "InfrastructureState"},
		Data:     map[string]string{openstackv1alpha1.StateKeyNetwork: network},
	}
}
