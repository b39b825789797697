package infrastructuretest_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/trellis-garden/trellis/apis/example/v1alpha1"
	cloudexample "github.com/trellis-garden/trellis/internal/cloud/example"
	"github.com/trellis-garden/trellis/internal/cloud/example/fake"
	"github.com/trellis-garden/trellis/internal/cloud/transport"
	"github.com/trellis-garden/trellis/internal/contract"
	"github.com/trellis-garden/trellis/internal/contract/contracttest"
	"github.com/trellis-garden/trellis/internal/infrastructure"
	"github.com/trellis-garden/trellis/internal/infrastructure/example"
	"github.com/trellis-garden/trellis/internal/infrastructure/infrastructuretest"
)

// exampleCloud is the example cloud with networks of others that are similar to the shoot's. The tests here create no subnets.
type exampleCloud struct {
	*fake.Cloud
	reconcile reconcileFunc
}

// reconcileFunc replaces Driver.Reconcile.
type reconcileFunc func(context.Context, *cloudexample.Session, *infrastructure.Shoot) (*infrastructure.Outcome, error)

// brokenDriver is the example driver with another Reconcile.
type brokenDriver struct {
	*example.Driver
	session   *cloudexample.Session
	reconcile reconcileFunc
}

// Reconcile implements infrastructure.Driver.
func (d brokenDriver) Reconcile(ctx context.Context, shoot *infrastructure.Shoot, _ contract.StateRecorder) (*infrastructure.Outcome, error) {
	return d.reconcile(ctx, d.session, shoot)
}

// Inputs implements infrastructuretest.Cloud.
func (c exampleCloud) Inputs() infrastructuretest.Inputs {
	version := v1alpha1.GroupVersion().String()
	return infrastructuretest.Inputs{
		InfrastructureConfig: &v1alpha1.InfrastructureConfig{
			TypeMeta: metav1.TypeMeta{APIVersion: version, Kind: "InfrastructureConfig"},
			Networks: v1alpha1.Networks{Workers: "10.250.0.0/16"},
		},
		CloudProfileConfig: &v1alpha1.CloudProfileConfig{
			TypeMeta: metav1.TypeMeta{APIVersion: version, Kind: "CloudProfileConfig"}, URL: c.URL(),
		},
		Credentials: map[string][]byte{"key": []byte(fake.Key)},
	}
}

// NewDriver implements infrastructuretest.Cloud.
func (c exampleCloud) NewDriver(wrap contracttest.Transport) (infrastructure.Driver, error) {
	sessions := cloudexample.NewSessions(cloudexample.Options{
		Transport: wrap, Retry: transport.RetryPolicy{FirstPause: 5 * time.Millisecond, LongestPause: 100 * time.Millisecond},
	})
	driver := example.New(sessions)
	if c.reconcile == nil {
		return driver, nil
	}
	session, err := sessions.Get(cloudexample.Credentials{URL: c.URL(), Key: fake.Key})
	return brokenDriver{driver, session, c.reconcile}, err
}

// Resources implements infrastructuretest.Cloud.
func (c exampleCloud) Resources() ([]infrastructuretest.Resource, error) {
	var all []infrastructuretest.Resource
	for _, resource := range c.Cloud.Resources() {
		all = append(all, infrastructuretest.Resource{Kind: resource.Kind, ID: resource.ID, Name: resource.Name, Facts: resource.Owner})
	}
	return all, nil
}

func exampleSubject(reconcile reconcileFunc, want map[string]int) infrastructuretest.Subject {
	return infrastructuretest.Subject{
		Type: example.Type,
		NewCloud: func(shoot infrastructuretest.Identity) (infrastructuretest.Cloud, error) {
			cloud, err := fake.Start(
				fake.Resource{Kind: fake.Networks, ID: "a", Name: shoot.TechnicalID, Owner: "somebody else"},
				fake.Resource{Kind: fake.Networks, ID: "b", Name: shoot.TechnicalID + "-2", Owner: shoot.UID + "-2"},
			)
			return exampleCloud{cloud, reconcile}, err
		},
		ErrorResponses: func(contracttest.Call) []contracttest.ErrorResponse {
			return []contracttest.ErrorResponse{{Error: "503", AfterEffect: true, Response: func(r *http.Request) *http.Response {
				return contracttest.JSONResponse(r, http.StatusServiceUnavailable, 0, nil)
			}}}
		},
		Want: want,
	}
}

// outcomeOf is the outcome with a network.
func outcomeOf(network cloudexample.Network) *infrastructure.Outcome {
	status := v1alpha1.NewInfrastructureStatus()
	status.Network = network.ID
	return &infrastructure.Outcome{State: status}
}

// adoptByName uses any network with the shoot's name.
func adoptByName(ctx context.Context, session *cloudexample.Session, shoot *infrastructure.Shoot) (*infrastructure.Outcome, error) {
	named, err := session.Networks().List(ctx, cloudexample.Filter{Name: shoot.TechnicalID})
	if err != nil {
		return nil, err
	}
	if len(named) > 0 {
		return outcomeOf(named[0]), nil
	}
	created, err := session.Networks().Create(ctx, cloudexample.Network{Name: shoot.TechnicalID, Owner: shoot.UID})
	return outcomeOf(created), err
}

// createWithoutOwner creates a network that Delete does not find.
func createWithoutOwner(ctx context.Context, session *cloudexample.Session, shoot *infrastructure.Shoot) (*infrastructure.Outcome, error) {
	owned, err := session.Networks().List(ctx, cloudexample.Filter{Owner: shoot.UID})
	if err != nil {
		return nil, err
	}
	if len(owned) > 0 {
		return outcomeOf(owned[0]), nil
	}
	created, err := session.Networks().Create(ctx, cloudexample.Network{Name: shoot.TechnicalID})
	return outcomeOf(created), err
}

func TestExplore(t *testing.T) {
	server := contracttest.StartAPIServer(t)
	for sentence, test := range map[string]struct {
		reconcile reconcileFunc
		violation string
	}{
		"rejects a driver that adopts by name":           {adoptByName, "there are 0 of kind networks instead of 1"},
		"rejects a driver that creates without an owner": {createWithoutOwner, "left behind: networks"},
	} {
		t.Run(sentence, func(t *testing.T) {
			subject := exampleSubject(test.reconcile, map[string]int{fake.Networks: 1})
			report, err := infrastructuretest.Explore(t.Context(), server, subject, contracttest.Options{MaxFailures: 1, Deadline: time.Minute})
			require.NoError(t, err)
			require.NotEmpty(t, report.Failures, "%s", report)
			assert.Contains(t, report.Failures[0].String(), test.violation)
		})
	}
	// The package of the driver runs the whole suite.
	t.Run("accepts the unchanged driver", func(t *testing.T) {
		subject := exampleSubject(nil, map[string]int{fake.Networks: 1, fake.Subnets: 1})
		report, err := infrastructuretest.Explore(t.Context(), server, subject, contracttest.Options{
			Phases: []contracttest.Phase{contracttest.Create}, Filter: "POST /networks", Deadline: time.Minute,
		})
		require.NoError(t, err)
		assert.NotZero(t, report.Total())
		assert.Empty(t, report.Failures, "%s", report)
	})
}
