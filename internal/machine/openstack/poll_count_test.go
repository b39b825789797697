package openstack

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"golang.org/x/sync/errgroup"

	cloudopenstack "github.com/trellis-garden/trellis/internal/cloud/openstack"
)

// TestWaitForServer_PollsOf100Machines counts the polls for a hundred machines, of which machine-controller-manager creates 50 at a time. They depend
// on how long the cloud takes, not on the number of machines.
func TestWaitForServer_PollsOf100Machines(t *testing.T) {
	const (
		machines   = 100
		concurrent = 50
		latency    = 50 * time.Millisecond
		interval   = 3 * time.Second
	)
	for name, test := range map[string]struct {
		build    time.Duration
		maxPolls int
		// maxExtra is by how much the waits together may be longer than the two builds.
		maxExtra time.Duration
	}{
		"servers that are ready at once":    {0, 2, 1 * time.Second},
		"servers that take half a second":   {500 * time.Millisecond, 4, 2 * time.Second},
		"servers that take five seconds":    {5 * time.Second, 9, 2 * interval},
		"servers that take half a minute":   {30 * time.Second, 25, 2 * interval},
		"servers that take several minutes": {4 * time.Minute, 165, 2 * interval},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				polls := 0
				built := map[string]time.Time{}
				a := newAccount(nil)
				a.servers.List = func(_ context.Context, names []string) (found []cloudopenstack.Server, _ error) {
					polls++
					time.Sleep(latency)
					for _, name := range names {
						status := cloudopenstack.ServerBuild
						if !time.Now().Before(built[name]) {
							status = cloudopenstack.ServerActive
						}
						found = append(found, cloudopenstack.Server{ID: name, Name: name, Status: status})
					}
					return found, nil
				}
				for i := range machines {
					built[fmt.Sprint(i)] = time.Now().Add(time.Duration(1+i/concurrent) * time.Hour) // until it is requested
				}
				started := time.Now()
				for wave := range machines / concurrent {
					var group errgroup.Group
					for i := range concurrent {
						name := fmt.Sprint(wave*concurrent + i)
						built[name] = time.Now().Add(test.build)
						m := &machine{account: a, name: name, poll: interval}
						group.Go(func() error {
							_, err := m.waitForServer(t.Context(), name, &a.builds, func(s *cloudopenstack.Server) bool { return s.Status == cloudopenstack.ServerActive })
							return err
						})
					}
					assert.NoError(t, group.Wait())
				}
				extra := time.Since(started) - 2*test.build
				t.Logf("%d polls, %s longer than the builds", polls, extra)
				assert.LessOrEqual(t, polls, test.maxPolls)
				assert.LessOrEqual(t, extra, test.maxExtra)
			})
		})
	}
}
