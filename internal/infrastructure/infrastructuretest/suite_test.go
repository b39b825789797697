package infrastructuretest_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/internal/contract"
	"github.com/trellis-garden/trellis/internal/contract/contracttest"
	"github.com/trellis-garden/trellis/internal/infrastructure"
	"github.com/trellis-garden/trellis/internal/infrastructure/infrastructuretest"
)

func exampleSubject(changed func(exampleDriver) infrastructure.Driver) infrastructuretest.Subject {
	return infrastructuretest.Subject{
		Type: "example",
		NewCloud: func(shoot infrastructuretest.Identity) (infrastructuretest.Cloud, error) {
			return exampleCloud{exampleAPI: newExampleAPI(shoot), changed: changed}, nil
		},
		ErrorResponses: func(contracttest.Call) []contracttest.ErrorResponse {
			return []contracttest.ErrorResponse{{Error: "503", AfterEffect: true, Response: func(r *http.Request) *http.Response {
				return contracttest.JSONResponse(r, http.StatusServiceUnavailable, 0, nil)
			}}}
		},
		Want: map[string]int{"network": 1, "subnet": 1},
	}
}

// The suite depends on no cloud: it accepts a driver for a cloud whose resources have their owner from their creation on.
func TestRun_Example(t *testing.T) {
	infrastructuretest.Run(t, contracttest.StartAPIServer(t), exampleSubject(nil))
}

// changedDriver is the example driver with another Reconcile.
type changedDriver struct {
	exampleDriver
	reconcile func(context.Context, *infrastructure.Shoot) (*infrastructure.Outcome, error)
}

func (d changedDriver) Reconcile(ctx context.Context, shoot *infrastructure.Shoot, _ contract.StateRecorder) (*infrastructure.Outcome, error) {
	return d.reconcile(ctx, shoot)
}

func TestExplore_RejectsBrokenDrivers(t *testing.T) {
	server := contracttest.StartAPIServer(t)
	for name, test := range map[string]struct {
		changed func(exampleDriver) infrastructure.Driver
		want    string
	}{
		"it adopts by name": {func(d exampleDriver) infrastructure.Driver {
			return changedDriver{d, func(ctx context.Context, shoot *infrastructure.Shoot) (*infrastructure.Outcome, error) {
				var all []exampleResource
				if err := d.client.do(ctx, http.MethodGet, "/networks", nil, &all); err != nil {
					return nil, err
				}
				for _, network := range all {
					if network.Name == shoot.TechnicalID {
						return &infrastructure.Outcome{State: &exampleStatus{Network: network.ID}}, nil
					}
				}
				return nil, d.client.do(ctx, http.MethodPost, "/networks", exampleResource{Name: shoot.TechnicalID, Owner: shoot.UID}, nil)
			}}
		}, "there are 0 of kind network instead of 1"},
		"it creates without an owner": {func(d exampleDriver) infrastructure.Driver {
			return changedDriver{d, func(ctx context.Context, shoot *infrastructure.Shoot) (*infrastructure.Outcome, error) {
				owned, err := d.owned(ctx, "networks", shoot.UID)
				if err != nil || len(owned) > 0 {
					return &infrastructure.Outcome{State: &exampleStatus{Network: idOf(owned)}}, err
				}
				var created exampleResource
				err = d.client.do(ctx, http.MethodPost, "/networks", exampleResource{Name: shoot.TechnicalID}, &created)
				return &infrastructure.Outcome{State: &exampleStatus{Network: created.ID}}, err
			}}
		}, "left behind: network"},
	} {
		t.Run(name, func(t *testing.T) {
			subject := exampleSubject(test.changed)
			subject.Want = map[string]int{"network": 1}
			report, err := infrastructuretest.Explore(t.Context(), server, subject, contracttest.Options{MaxFailures: 1, Deadline: time.Minute})
			require.NoError(t, err)
			require.NotEmpty(t, report.Failures, "%s", report)
			assert.Contains(t, report.Failures[0].String(), test.want)
		})
	}
}
