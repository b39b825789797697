package openstack_test

import (
	"context"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"

	openstackv1alpha1 "github.com/trellis-garden/trellis/apis/openstack/v1alpha1"
	cloudopenstack "github.com/trellis-garden/trellis/internal/cloud/openstack"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/auth"
	"github.com/trellis-garden/trellis/internal/worker"
	"github.com/trellis-garden/trellis/internal/worker/openstack"
)

// brokenDriver is the driver with access to the cloud.
type brokenDriver struct {
	*openstack.Driver
	sessions *cloudopenstack.Sessions
}

func newBrokenDriver(sessions *cloudopenstack.Sessions) brokenDriver {
	return brokenDriver{Driver: openstack.New(sessions), sessions: sessions}
}

func (b brokenDriver) session(ctx context.Context, shoot *worker.Shoot) (*cloudopenstack.Session, error) {
	profile, err := openstackv1alpha1.DecodeCloudProfileConfig(shoot.Cluster.CloudProfile.Spec.ProviderConfig)
	if err != nil {
		return nil, err
	}
	credentials, err := auth.ParseCredentials(shoot.Credentials)
	if err != nil {
		return nil, err
	}
	return b.sessions.Get(ctx, credentials.WithKeystone(auth.Keystone{URL: profile.KeyStoneURL}), shoot.Worker.Spec.Region)
}

// duplicatingDriver creates a group in each reconciliation.
type duplicatingDriver struct{ brokenDriver }

func (h duplicatingDriver) Prepare(ctx context.Context, shoot *worker.Shoot) (runtime.Object, error) {
	session, err := h.session(ctx, shoot)
	if err != nil {
		return nil, err
	}
	if _, err := session.CreateServerGroup(ctx, shoot.UID[:18]+"-00000000", "affinity"); err != nil {
		return nil, err
	}
	return h.Driver.Prepare(ctx, shoot)
}

// Cleanup keeps duplicates.
func (h duplicatingDriver) Cleanup(ctx context.Context, shoot *worker.Shoot, status runtime.Object) (runtime.Object, error) {
	if !shoot.Deleting {
		return status, nil
	}
	return h.Driver.Cleanup(ctx, shoot, status)
}

// prefixDeletingDriver takes all groups whose names begin with the technical ID for the shoot's.
type prefixDeletingDriver struct{ brokenDriver }

func (g prefixDeletingDriver) Cleanup(ctx context.Context, shoot *worker.Shoot, status runtime.Object) (runtime.Object, error) {
	session, err := g.session(ctx, shoot)
	if err != nil {
		return nil, err
	}
	groups, err := session.ListServerGroups(ctx)
	if err != nil {
		return nil, err
	}
	for _, group := range groups {
		if strings.HasPrefix(group.Name, shoot.TechnicalID) {
			if err := session.DeleteServerGroup(ctx, group.ID); err != nil {
				return nil, err
			}
		}
	}
	return g.Driver.Cleanup(ctx, shoot, status)
}

// leakingDriver deletes nothing.
type leakingDriver struct{ brokenDriver }

func (leakingDriver) Cleanup(_ context.Context, _ *worker.Shoot, status runtime.Object) (runtime.Object, error) {
	return status, nil
}
